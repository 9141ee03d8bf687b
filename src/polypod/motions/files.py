"""Motion files: YAML in, with the line of every fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..description.quantities import Data
from ..errors import Fault, InputError, MotionFileError, StateError
from ..files.documents import parse, read
from ..files.faults import Location, line_of, structure_faults, validation_faults
from .laws import LawData
from .motion import MotionData
from .parts import Part
from .paths import PathData
from .platform import PlatformData, Waypoint
from .wrench import WrenchData

_NESTED: dict[str, type[Data]] = {"law": LawData, "wrench": WrenchData}


def load_motion(path: str | Path) -> MotionData:
    """Read a motion file; raises :class:`~polypod.errors.MotionFileError` with every fault and its line."""
    path = Path(path)
    return loads_motion(read(path, MotionFileError), str(path), path.parent)


def loads_motion(text: str, origin: str = "text", folder: str | Path = ".") -> MotionData:
    """Read a motion from YAML text; relative names of CSV files start from ``folder``.

    >>> text = "{name: up, trajectory: {kind: coordinates, path: {kind: line, start: 0, end: 0.1, duration: 2}}}"
    >>> loads_motion(text).trajectory.path.path.at([0.0, 1.0, 2.0]).x
    array([0.  , 0.05, 0.1 ])
    """
    document, node = parse(text, origin, MotionFileError, "a mapping with name, trajectory and more")
    faults = structure_faults(document, node)
    if faults:
        raise MotionFileError(origin, faults)
    try:
        return MotionData.model_validate(document, context={"folder": folder})
    except ValidationError as error:
        raise MotionFileError(origin, validation_faults(error, document, node, _model_at)) from error


@contextmanager
def located_motion(motion: str | Path | None) -> Iterator[None]:
    """Faults that are found when a motion meets a robot are told with its file and their line, if it is a file."""
    try:
        yield
    except (InputError, StateError) as error:
        if not isinstance(motion, (str, Path)) or not Path(motion).is_file():
            raise
        fault = motion_fault(motion, error)
        if isinstance(error, StateError):  # the file is in order, this robot cannot follow it
            place = f"{motion}, line {fault.line}: {fault.field}"
            raise StateError(f"{error} ({place})", error.index, error.reasons, error.result, error.time) from error
        raise MotionFileError(str(motion), [fault]) from error


def motion_fault(path: str | Path, error: InputError | StateError) -> Fault:
    """What a robot cannot do of a motion file, at its line: the pose it is on its way to, or the field named."""
    document, node = parse(read(Path(path), MotionFileError), str(path), MotionFileError, "a mapping")
    named, _, message = str(error).partition(": ")
    field = "trajectory"
    if isinstance(error, StateError):
        poses = document["trajectory"].get("poses") or []
        late = (k for k, pose in enumerate(poses) if error.time is not None and float(pose["time"]) >= error.time)
        k = next(late, None)
        field, message = field if k is None else f"trajectory.poses.{k}", str(error)
        if error.time == 0.0 and document["trajectory"].get("relative_to", "base") == "base":
            message += "; positions count from the base frame here, 'relative_to: home' counts them from home"
    elif named.partition(".")[0] in document:
        field = named
    else:
        message = str(error)
    return Fault(field, message, line_of(field, node))


def _model_at(location: Location, document: dict[str, Any]) -> type[Data]:
    """The data class of a mapping at a place of a motion file."""
    value: Any = document
    for part in location:
        value = value[part]
    model: type[Data] = MotionData
    if location:
        last = location[-1]
        named = _NESTED.get(str(last))
        if named is not None:
            model = named
        elif len(location) > 1 and location[-2] == "poses":
            model = Waypoint
        else:
            base: type[Part[Any]] = PlatformData if location == ("trajectory",) else PathData
            model = base.registry.get(str(value.get("kind")), model)
    return model
