"""Numbers of a robot by path, as a user names them.

A path is dotted as ``sources`` of robot files write it, ``legs.0.base`` or ``legs.*.upper.mass``; a leg's name may
stand for its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Body, Robot
from ..description.quantities import Data, field_schemas, unit_of
from ..errors import InputError, UnknownNameError
from ..files.settings import spellings

BODY_FIELDS = ("mass", "com", "inertia")


def value_at(robot: Robot, path: str) -> Any:
    """The value at a dotted path of numbers and names."""
    value: Any = robot
    for part in path.split("."):
        value = _member(value, part)
    return value


def _member(value: Any, name: str) -> Any:
    if isinstance(value, tuple):
        return value[int(name)]
    return value[name] if isinstance(value, dict) else getattr(value, name)


def unit_at(robot: Robot, path: str) -> str:
    """Unit of the number at a path of a robot; empty if its schema states none."""
    value: Any = robot
    unit = ""
    for part in path.split("."):
        if isinstance(value, Data):
            unit = field_schemas(type(value))[part].unit or unit
        value = _member(value, part)
    return unit


_last: list[tuple[Robot, tuple[str, ...]]] = []
"""The last robot and its paths: programs ask again and again for those of one, and to hash a robot takes as long."""


def known_paths(robot: Robot) -> tuple[str, ...]:
    """Paths of the numbers that functions depend on directly."""
    for other, known in tuple(_last):
        if other is robot:
            return known
    known = tuple(path for path in _all_paths(robot) if not _in_modes(robot, path))
    _last[:] = [(robot, known)]
    return known


def _in_modes(robot: Robot, path: str) -> bool:
    """Whether a number reaches functions through a flexible platform's modes: its own, and where legs hold it.

    Legs that are stated at home hold it where their joints on it are, seen from the home position.
    """
    if not robot.flexible:
        return False
    match path.split("."):
        case ["platform", *_] | ["legs", _, "platform"]:
            return True
        case ["legs", leg, "joints", joint, "at"]:
            return "platform" in _member(_member(robot.legs, leg).joints, joint).between
        case ["home", "position"]:
            return any(hasattr(leg, "joints") for leg in robot.legs)
    return False


def _all_paths(robot: Robot) -> list[str]:
    return [path for path in robot.numbers() if _is_input(robot, path)]


def _is_input(robot: Robot, path: str) -> bool:
    """Whether functions depend on a number directly, as an input.

    Not on points and frames of a body, which only say how its tensor is written; not on integers, which belong to the
    topology; not on ratings, with which results are compared.
    """
    parts = path.split(".")
    if parts[0] not in ("gravity", "platform", "payload", "legs", "elements") and path != "home.position":
        return False
    owner: Any = robot
    for part, following in pairwise(parts):
        owner = _member(owner, part)
        if isinstance(owner, Body):
            return following in BODY_FIELDS
        if isinstance(owner, Data) and field_schemas(type(owner))[following].rating:
            return False
    return not isinstance(_member(owner, parts[-1]), int)


def matching_paths(robot: Robot, pattern: str) -> list[str]:
    """The paths that a pattern names; an error with near matches for none."""
    known = known_paths(robot)
    parts = pattern.split(".")
    if parts[0] == "legs" and len(parts) > 1:
        names = [leg.name for leg in robot.legs]
        parts[1] = str(names.index(parts[1])) if parts[1] in names else parts[1]
    plain = ".".join(parts)
    found = [path for path in known if fnmatchcase(path, plain)]
    if not found:  # by names of joints and elements
        found = [path for path in known if any(fnmatchcase(form, pattern) for form in spellings(robot, path))]
    if found:
        return found
    if any(fnmatchcase(path, plain) for path in _all_paths(robot)):
        raise InputError(
            f"parameters: {pattern}: the modes of a flexible platform depend on it; make another robot for "
            "another value",
            code="flexible",
        )
    if any(
        fnmatchcase(f, p) for path in robot.numbers() for f in (path, *spellings(robot, path)) for p in (plain, pattern)
    ):
        raise InputError(f"parameters: {pattern}: no function of the robot depends on it; make another robot")
    raise UnknownNameError("parameter", pattern, known)


def bodies_of(robot: Robot, paths: Iterable[str]) -> list[str]:
    """Paths of the bodies of which a number is at one of ``paths``."""
    owners = dict.fromkeys(path.rpartition(".")[0] for path in paths if "." in path)
    return [path for path in owners if isinstance(value_at(robot, path), Body)]


def parameter_values(robot: Robot, patterns: Sequence[str]) -> dict[str, Array]:
    """Names and values of the numbers that patterns name, or of all numbers."""
    paths = [p for pattern in patterns for p in matching_paths(robot, pattern)] if patterns else known_paths(robot)
    return {path: np.array(value_at(robot, path), dtype=np.float64) for path in dict.fromkeys(paths)}


def is_direction(robot: Robot, path: str) -> bool:
    """Whether the value at a path is a direction, a vector of length 1, or two that are perpendicular to each other."""
    owner = value_at(robot, path.rpartition(".")[0]) if "." in path else robot
    if not isinstance(owner, Data) or np.shape(value_at(robot, path)) not in ((3,), (2, 3)):
        return False
    info = type(owner).model_fields.get(path.rpartition(".")[2])
    return info is not None and unit_of(info) == "1"
