"""Robot files: YAML in and out, with the line of every fault.

``leg_defaults`` in a file holds what the legs share; each leg overrides it field by field.
"""

from __future__ import annotations

import warnings
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ..errors import Fault, ImplausibleWarning, InputError, RobotFileError, UnknownNameError, UnphysicalWarning
from .documents import parse, read
from .faults import structure_faults, validation_faults
from .robot import Robot

# No parallel robot built is larger [m].
_PLAUSIBLE = 50.0
_LIBRARY = resources.files(__package__) / "robots"


def library() -> tuple[str, ...]:
    """Names of the robots that come with polypod."""
    return tuple(sorted(entry.name[:-5] for entry in _LIBRARY.iterdir() if entry.name.endswith(".yaml")))


def load(robot: str | Path) -> Robot:
    """Read a robot from the library by name, or from a file by path.

    What has a suffix or a folder in it, or is a file and no library robot, is a path. Raises
    :class:`~polypod.errors.RobotFileError` with every fault and its line,
    :class:`~polypod.errors.UnknownNameError` with near matches.
    """
    if not isinstance(robot, (str, Path)):
        raise InputError(f"robot: a library robot's name or a file's path is needed, got {robot!r}")
    path, known = Path(robot), library()
    is_path = isinstance(robot, Path) or path.suffix or path.name != robot
    if is_path or (robot not in known and path.is_file()):
        return loads(read(path, RobotFileError), str(path))
    if robot not in known:
        beside = [str(robot) + end for end in (".yaml", ".yml") if Path(str(robot) + end).is_file()]
        raise UnknownNameError("robot", str(robot), (*beside, *known))
    return loads((_LIBRARY / f"{robot}.yaml").read_text(encoding="utf-8"), f"library robot {robot!r}")


def loads(text: str, origin: str = "text") -> Robot:
    """Read a robot from YAML text; ``origin`` is what messages call it."""
    document, node = parse(text, origin, RobotFileError, "a mapping with name, platform, legs and more")
    if "trajectory" in document and "legs" not in document:
        wanted = "this is a motion file; a robot file has platform and legs (commands take ROBOT before MOTION)"
        raise RobotFileError(origin, [Fault("", wanted)])
    faults = structure_faults(document, node)
    if faults:
        raise RobotFileError(origin, faults)
    document = _spread_defaults(document)
    try:
        robot = Robot.model_validate(document)
    except ValidationError as error:
        raise RobotFileError(origin, validation_faults(error, document, node)) from error
    far = robot.farthest
    if far > _PLAUSIBLE:
        warnings.warn(
            f"robot {robot.name!r} reaches {far:.4g} m from an origin; numbers are in metres: are these millimetres?",
            ImplausibleWarning,
            stacklevel=3,
        )
    if robot.unphysical:
        listed = "; ".join(f"{path}.inertia {problem}" for path, problem in list(robot.unphysical.items())[:3])
        warnings.warn(
            f"robot {robot.name!r} has {len(robot.unphysical)} bodies whose inertia no real body can have, and its "
            f"file opts out of the check ('check: none'): {listed}",
            UnphysicalWarning,
            stacklevel=3,
        )
    return robot


def dumps(robot: Robot) -> str:
    """A robot as YAML text; what all legs share goes to ``leg_defaults``."""
    data = robot.model_dump(mode="json", exclude_defaults=True)
    legs = [{"kind": leg.kind, **leg.model_dump(mode="json", exclude_defaults=True)} for leg in robot.legs]
    shared = {key: value for key, value in legs[0].items() if all(key in leg and leg[key] == value for leg in legs)}
    data["legs"] = [{key: value for key, value in leg.items() if key not in shared} for leg in legs]
    order = ["name", "title", "reference", "gravity", "euler", "home", "freedoms", "platform"]
    document = {key: data[key] for key in order if key in data}
    document |= {"leg_defaults": shared, "legs": data["legs"]}
    if "sources" in data:
        document["sources"] = data["sources"]
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def save(robot: Robot, path: str | Path) -> None:
    """Write a robot file that :func:`load` reads back to the same robot; whole or not at all."""
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(dumps(robot), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _vector(dumper: Any, value: list[Any]) -> Any:
    """Vectors on one line, mappings as blocks."""
    flow = not any(isinstance(item, dict) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)


_Dumper: Any = type("_Dumper", (yaml.SafeDumper,), {})
_Dumper.add_representer(list, _vector)


def _spread_defaults(document: dict[str, Any]) -> dict[str, Any]:
    defaults, legs = document.get("leg_defaults") or {}, document.get("legs")
    rest = {key: value for key, value in document.items() if key != "leg_defaults"}
    if isinstance(legs, list):
        rest["legs"] = [{**defaults, **leg} if isinstance(leg, dict) else leg for leg in legs]
    return rest
