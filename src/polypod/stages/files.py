"""Files of machines in stages: ``stages`` from bottom to top, each a robot file or a robot of the library.

The base of each stage is fixed to the platform of the one below, in a ``mount`` of its platform frame.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from ..description import Robot
from ..description.file_names import FileName
from ..description.poses import Pose
from ..description.quantities import Data
from ..errors import Fault, PolypodError, RobotFileError
from ..files import library, load
from ..files.document_kinds import document_kind
from ..files.documents import parse, read
from ..files.faults import line_of, validation_faults

_MACHINES = files(__package__) / "machines"


class Stage(Data):
    """A stage: a ``robot`` of the library or a file beside this one, the ``mount`` of its base in the platform frame
    below (identity unless given; ``angles`` about x, y, z of that frame in turn are roll, pitch, yaw), and its
    ``name`` in the machine if two stages have the same robot."""

    robot: FileName
    mount: Pose | None = None
    name: str = ""


class StagesFile(Data):
    """A machine in stages, bottom to top; gravity is that of the lowest robot."""

    name: str = Field(min_length=1)
    title: str = ""
    reference: str = ""
    stages: tuple[Stage, ...] = Field(min_length=2)

    @model_validator(mode="before")
    @classmethod
    def _plain_names(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("stages"), list):
            whole = [{"robot": one} if isinstance(one, str) else one for one in data["stages"]]
            return {**data, "stages": whole}
        return data

    @model_validator(mode="after")
    def _lowest_stands_still(self) -> StagesFile:
        if self.stages[0].mount is not None:
            raise ValueError("stages.0.mount: the lowest stage stands on the ground; mount the one above it")
        return self


def staged_library() -> tuple[str, ...]:
    """Names of the library's machines in stages.

    Returns
    -------
    tuple of str
        Names that ``pp.series`` takes.
    """
    return tuple(sorted(entry.name[:-5] for entry in _MACHINES.iterdir() if entry.name.endswith(".yaml")))


def is_stages_file(machine: object) -> bool:
    """Whether something names a machine in stages: one of the library, or a file with ``stages``."""
    if not isinstance(machine, (str, Path)):
        return False
    if machine in staged_library():
        return True
    path = Path(machine)
    if str(machine) in library() or not os.path.isfile(path):
        return False
    try:
        document, _ = parse(read(path, RobotFileError), str(path), RobotFileError, "a mapping")
    except PolypodError:
        return False  # whoever reads it says what is wrong
    return document_kind(document) == "machine"


def load_stages(machine: str | Path) -> tuple[StagesFile, list[Robot]]:
    """Read a machine in stages from the library by name, or from a file by path.

    Parameters
    ----------
    machine : str or Path
        Name or path.

    Returns
    -------
    file : StagesFile
        What the file states.
    robots : list of Robot
        Its robots, bottom to top, named as in the machine.

    Raises
    ------
    RobotFileError
        If the file has faults: all of them, with their lines.
    """
    named = machine in staged_library()
    origin = str(machine)
    text = (_MACHINES / f"{machine}.yaml").read_text(encoding="utf-8") if named else read(Path(machine), RobotFileError)
    document, node = parse(text, origin, RobotFileError, "a mapping with name and stages")
    try:
        found = StagesFile.model_validate(document)
    except ValidationError as error:
        raise RobotFileError(origin, validation_faults(error, document, node)) from error
    robots, faults = [], []
    for k, stage in enumerate(found.stages):
        field = f"stages.{k}"
        try:
            robots.append(_robot(stage, _MACHINES if named else Path(machine).parent))
        except PolypodError as error:
            faults.append(Fault(field, f"{stage.robot}: {error}", line_of(field, node)))
    names = [stage.name or robot.name for stage, robot in zip(found.stages, robots, strict=False)]
    for k, name in enumerate(names):
        if name in names[:k]:
            message = f"stages need names of their own, {name!r} occurs more than once; give this one a 'name'"
            faults.append(Fault(f"stages.{k}", message, line_of(f"stages.{k}", node), "repeated"))
    if faults:
        raise RobotFileError(origin, faults)
    named_robots = [robot if robot.name == name else robot.model_copy(update={"name": name})
                    for robot, name in zip(robots, names, strict=True)]  # fmt: skip
    return found, named_robots


def _robot(stage: Stage, folder: Any) -> Robot:
    beside = folder / stage.robot
    if stage.robot not in library() and beside.is_file():
        return load(Path(str(beside)))
    return load(stage.robot)
