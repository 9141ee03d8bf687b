"""Motion files: YAML in, with the line of every fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..description.documents import parse, read
from ..description.faults import Location, structure_faults, validation_faults
from ..description.quantities import Data
from ..errors import MotionFileError
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
        raise MotionFileError(origin, validation_faults(error, document, node, _fields_at)) from error


def _fields_at(location: Location, document: dict[str, Any]) -> tuple[str, ...]:
    """Names of the fields a mapping at a place of a motion file may have."""
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
    return tuple(model.model_fields)
