"""Parameters of a robot's functions by path, as a user names them: ``legs.0.base`` or ``legs.*.upper.mass``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Body, Robot
from ..description.paths import get, matching, steps
from ..description.quantities import Data, field_schemas, unit_of
from ..errors import InputError, UnknownNameError

BODY_FIELDS = ("mass", "com", "inertia")


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
        case ["legs", _, "joints", _, "at"]:
            return "platform" in get(robot, path.removesuffix(".at")).between
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
    if (
        path.partition(".")[0]
        not in (
            "gravity",
            "platform",
            "payload",
            "legs",
            "elements",
            "internal",
        )
        and path != "home.position"
    ):
        return False
    value: Any = None
    for owner, part, value in steps(robot, path):  # noqa: B007  the last is the number
        if isinstance(owner, Body):
            return part in BODY_FIELDS
        if isinstance(owner, Data) and field_schemas(type(owner))[part].rating:
            return False
    return not isinstance(value, int)


def matching_paths(robot: Robot, pattern: str) -> list[str]:
    """The paths that a pattern names; an error with near matches for none."""
    known = known_paths(robot)
    found = [path for path in known if fnmatchcase(path, pattern)] or matching(robot, known, pattern)
    if found:
        return found
    if matching(robot, _all_paths(robot), pattern):
        raise InputError(
            f"parameters: {pattern}: the modes of a flexible platform depend on it; make another robot for "
            "another value",
            code="flexible",
        )
    if matching(robot, robot.numbers(), pattern):
        raise InputError(f"parameters: {pattern}: no function of the robot depends on it; make another robot")
    raise UnknownNameError("parameter", pattern, known)


def bodies_of(robot: Robot, paths: Iterable[str]) -> list[str]:
    """Paths of the bodies of which a number is at one of ``paths``."""
    owners = dict.fromkeys(path.rpartition(".")[0] for path in paths if "." in path)
    return [path for path in owners if isinstance(get(robot, path), Body)]


def parameter_values(robot: Robot, patterns: Sequence[str]) -> dict[str, Array]:
    """Names and values of the numbers that patterns name, or of all numbers."""
    paths = [p for pattern in patterns for p in matching_paths(robot, pattern)] if patterns else known_paths(robot)
    return {path: np.array(get(robot, path), dtype=np.float64) for path in dict.fromkeys(paths)}


def is_direction(robot: Robot, path: str) -> bool:
    """Whether the value at a path is a direction, a vector of length 1, or two that are perpendicular to each other."""
    owner = get(robot, path.rpartition(".")[0]) if "." in path else robot
    if not isinstance(owner, Data) or np.shape(get(robot, path)) not in ((3,), (2, 3)):
        return False
    info = type(owner).model_fields.get(path.rpartition(".")[2])
    return info is not None and unit_of(info) == "1"
