"""The file beside a URDF with what URDF cannot say: loops and motors as in Gepetto's examples, and polypod's own data.

``closed_loop`` are pairs of frames that a loop of ``type`` 3d (a point) or 6d (fixed) closes, ``name_mot`` the actuated
joints, ``joint_name`` and ``joint_type`` joints of another type than URDF has. ``polypod`` is what import needs beyond.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import InputError, RobotFileError, short_repr
from ..files import documents
from ..yaml12 import YamlTextError, read_yaml

SUFFIX = "-loops.yaml"
"""End of the file's name, after that of the URDF itself; ``robot.yaml`` is another."""


class Motor(BaseModel):
    """What a URDF does not say of an actuated joint, with the units of a chain's joint."""

    model_config = ConfigDict(extra="forbid")

    offset: float = 0.0
    ratio: float = 1.0
    rotor: float = 0.0
    max_force: float | None = None
    max_speed: float | None = None


class OwnData(BaseModel):
    """What polypod writes for itself: the name of the platform's frame, gravity [m/s^2], motors by joint."""

    platform: str | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    motors: dict[str, Motor] = {}


class LoopsFile(BaseModel):
    """The whole file; other fields than these are passed over."""

    closed_loop: list[tuple[str, str]] = []
    type: list[str] = []
    name_mot: list[str] = []
    joint_name: list[str] = []
    joint_type: list[str] = []
    polypod: OwnData = OwnData()


def read_mapping(urdf: Path, given: Path | None) -> dict[str, Any]:
    """The mapping in the file beside a URDF, or in the one given; empty where there is none."""
    places = (urdf.with_name(urdf.stem + SUFFIX), urdf.with_name("robot.yaml"))
    path = given or next((one for one in places if one.is_file()), None)
    if path is None:
        return {}
    try:
        data, _ = read_yaml(documents.read(path, RobotFileError))
    except YamlTextError as error:
        raise RobotFileError(str(path), error.faults) from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: a mapping with closed_loop, type and name_mot is needed")
    _checked(data, path)
    return data


def parse_loops(data: dict[str, Any]) -> LoopsFile:
    """The content of a mapping that :func:`read_mapping` gave."""
    return LoopsFile.model_validate({name: value for name, value in data.items() if value is not None})


def _checked(data: dict[str, Any], path: Path) -> None:
    try:
        loops = parse_loops(data)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        message = fault["msg"].replace("Input should be", "must be")
        raise InputError(f"{path}: {field}: {message}, got {short_repr(fault['input'])}") from error
    if len(loops.closed_loop) != len(loops.type):
        raise InputError(
            f"{path}: closed_loop has {len(loops.closed_loop)} pairs and type {len(loops.type)} entries; one for each"
        )
    if len(loops.joint_name) != len(loops.joint_type):
        raise InputError(f"{path}: joint_name and joint_type need the same number of entries")
