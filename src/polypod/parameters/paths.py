"""Numbers of a robot by path: what a user names, and what the parameter port of the functions needs.

A path is dotted as ``sources`` of robot files write it, ``legs.0.base`` or ``legs.*.upper.mass``; a leg's name may
stand for its number.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..description import Body, Robot
from ..description.quantities import LARGEST_NUMBER, SYMMETRIC, Data, stated_of, unit_of
from ..errors import InputError, UnknownNameError, short_repr
from .moments import central_tensors, moments_of
from .numbers import MOMENTS, Entry, Numbers

BODY_FIELDS = ("mass", "com", "inertia")
_UNIT_TOLERANCE = 1e-3
"""How far the length of a direction may be from 1: digits of a file."""


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
            unit = stated_of(type(value))[part].unit or unit
        value = _member(value, part)
    return unit


_COMPARISONS: dict[str, tuple[str, Callable[[Array, float], NDArray[np.bool_]]]] = {
    "ge": ("at least", np.greater_equal),
    "gt": ("more than", np.greater),
    "le": ("at most", np.less_equal),
    "lt": ("less than", np.less),
}


def _limits_at(robot: Robot, path: str) -> list[tuple[str, float]]:
    """Limits of a number by the schema of files: names of comparisons and what is compared with."""
    owner, _, name = path.rpartition(".")
    kind = type(value_at(robot, owner)) if owner else type(robot)
    asked = kind.model_fields[name].metadata if issubclass(kind, Data) else []
    return [(how, getattr(limit, how)) for limit in asked for how in _COMPARISONS if hasattr(limit, how)]


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
    """Whether a number reaches functions through a flexible platform's modes only: its own, and where legs hold it."""
    own = path.startswith("platform.") or (path.startswith("legs.") and path.split(".")[2:] == ["platform"])
    return robot.flexible and own


def _all_paths(robot: Robot) -> list[str]:
    return [path for path in robot.numbers() if _is_input(robot, path)]


def _is_input(robot: Robot, path: str) -> bool:
    """Whether functions depend on a number directly, as an input.

    Not on points and frames of a body, which only say how its tensor is written; not on integers, which belong to the
    topology; not on ratings, with which results are compared.
    """
    parts = path.split(".")
    if parts[0] not in ("gravity", "platform", "payload", "legs") and path != "home.position":
        return False
    owner: Any = robot
    for part, following in pairwise(parts):
        owner = _member(owner, part)
        if isinstance(owner, Body):
            return following in BODY_FIELDS
        if isinstance(owner, Data) and stated_of(type(owner))[following].rating:
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
    if found:
        return found
    if any(fnmatchcase(path, plain) for path in _all_paths(robot)):
        raise InputError(
            f"parameters: {pattern}: the modes of a flexible platform follow from it; make another robot for another "
            "value"
        )
    if any(fnmatchcase(path, plain) for path in robot.numbers()):
        raise InputError(f"parameters: {pattern}: no function of the robot depends on it; make another robot")
    raise UnknownNameError("number", pattern, known)


def bodies_of(robot: Robot, paths: Iterable[str]) -> list[str]:
    """Paths of the bodies of which a number is at one of ``paths``."""
    owners = dict.fromkeys(path.rpartition(".")[0] for path in paths if "." in path)
    return [path for path in owners if isinstance(value_at(robot, path), Body)]


def source_of(entry: Entry, paths: Container[str], bodies: Container[str]) -> str | None:
    """Which of ``paths`` (of ``bodies`` for a moment) a number of the port is from; None if from none of them."""
    if isinstance(entry.index, str):
        return entry.path if entry.path in bodies else None
    if entry.path in paths:
        return entry.path
    pair = entry.path.rpartition(".")[0]  # of two numbers, such as a range: one path, two numbers of the port
    return pair if pair in paths else None


def parameter_values(robot: Robot, patterns: Sequence[str]) -> dict[str, Array]:
    """Names and values of the numbers that patterns name, or of all numbers."""
    paths = [p for pattern in patterns for p in matching_paths(robot, pattern)] if patterns else known_paths(robot)
    return {path: np.array(value_at(robot, path), dtype=np.float64) for path in dict.fromkeys(paths)}


class Design:
    """Values of some numbers of a robot for a batch of designs, as rows of the parameter port.

    ``shape`` is the batch's. ``reasons`` says for a design, by its place in the flattened batch, why it cannot be.
    """

    def __init__(self, robot: Robot, given: Mapping[str, ArrayLike]) -> None:
        self.robot = robot
        self.values: dict[str, Array] = {}
        if not (isinstance(given, Mapping) and all(isinstance(path, str) for path in given)):
            example = "{'platform.mass': 2.0}"
            raise InputError(f"parameters: a mapping of names to values is needed, {example}, got {short_repr(given)}")
        for pattern, value in given.items():
            for path in matching_paths(robot, pattern):
                self.values[path] = _checked(path, value, np.shape(value_at(robot, path)))
        shapes = {path: v.shape[: v.ndim - np.ndim(value_at(robot, path))] for path, v in self.values.items()}
        try:
            self.shape: tuple[int, ...] = np.broadcast_shapes(*shapes.values())
        except ValueError as error:
            listed = ", ".join(f"{path} {shape}" for path, shape in shapes.items())
            raise InputError(f"parameters: batch axes of designs do not fit together: {listed}") from error
        self.count = int(np.prod(self.shape, dtype=int))
        self.reasons: dict[int, str] = {}
        with np.errstate(invalid="ignore", over="ignore"):  # numbers that are refused may be anything
            self._moments = {body: self._body(body) for body in bodies_of(robot, self.values)}
            self._check_numbers()

    def flat(self, path: str) -> Array:
        """Values at a path (D, ...), or the robot's own (1, ...)."""
        core = np.shape(value_at(self.robot, path))
        if path not in self.values:
            return np.array(value_at(self.robot, path), dtype=np.float64)[None]
        value = self.values[path]
        return np.broadcast_to(value, (*self.shape, *core)).reshape(self.count, *core)

    def _body(self, path: str) -> Array:
        """Ten moments (D, 10) of a body, from mass, centre of mass and tensor as the file means them."""
        body = value_at(self.robot, path)
        mass, com, tensor = (self.flat(f"{path}.{field}") for field in BODY_FIELDS)
        rows = moments_of(body, mass, com, tensor)
        central = central_tensors(body, mass, com, tensor)
        central = np.where(np.isfinite(central).all(axis=(1, 2), keepdims=True), central, 0.0)  # as LAPACK needs it
        moments = np.broadcast_to(np.linalg.eigvalsh(central), (len(rows), 3))
        slack = 1e-9 * np.abs(moments).max(axis=1)
        broken = (moments[:, 0] < -slack) | (moments[:, 2] > moments[:, 0] + moments[:, 1] + slack)
        # which half of an uneven tensor is meant nobody knows, whatever a body may be
        gap, largest = (np.abs(part).max(axis=(1, 2)) for part in (tensor - tensor.swapaxes(1, 2), tensor))
        for k in np.flatnonzero(np.broadcast_to(gap > SYMMETRIC * largest, (self.count,))).tolist():
            self.reasons.setdefault(k, f"{path}.inertia: an inertia tensor must be symmetric")
        if body.check == "physical":
            for k in np.flatnonzero(broken | (rows[:, 0] < 0)).tolist():
                low, middle, high = moments[k].tolist()
                numbers = f"mass {rows[k, 0]:.6g} kg and principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m^2"
                self.reasons.setdefault(k, f"{path}: no body has {numbers}")
        return np.broadcast_to(rows, (self.count, 10))

    def _check_numbers(self) -> None:
        for path in self.values:
            rows = self.flat(path)
            bad = ~(np.abs(rows) <= LARGEST_NUMBER).all(axis=tuple(range(1, rows.ndim)))
            for k in np.flatnonzero(bad).tolist():
                self.reasons.setdefault(k, f"{path}: finite numbers of at most {LARGEST_NUMBER:g} are needed")
            for how, limit in _limits_at(self.robot, path):
                words, holds = _COMPARISONS[how]
                for k in np.flatnonzero(~holds(rows, limit)).tolist():
                    self.reasons.setdefault(k, f"{path}: {words} {limit:g} is needed, got {rows[k]:.6g}")
            if rows.shape[1:] == (2,):  # a pair of numbers is what a coordinate or length goes from and to
                for k in np.flatnonzero(~(rows[:, 0] < rows[:, 1])).tolist():
                    self.reasons.setdefault(k, f"{path}: limits go from small to large, got {rows[k].tolist()}")
            if is_direction(self.robot, path):
                length = np.linalg.norm(rows, axis=1)
                for k in np.flatnonzero(np.abs(length - 1) > _UNIT_TOLERANCE).tolist():
                    self.reasons.setdefault(k, f"{path}: a direction must have length 1, got {length[k]:.6g}")
                self.values[path] = (rows / length[:, None]).reshape(*self.shape, 3)

    def value_of(self, entry: Entry) -> Array | None:
        """Values (D,) of one number of the port; None if the design leaves it as it is."""
        source = source_of(entry, self.values, self._moments)
        if source is None:
            return None
        if isinstance(entry.index, str):
            return self._moments[source][:, MOMENTS.index(entry.index)]
        index: Any = entry.index if source == entry.path else (int(entry.path.rpartition(".")[2]),)
        return np.asarray(self.flat(source)[(slice(None), *index)])

    def opened(self, entry: Entry) -> bool:
        """Whether a zero or one of the robot's topology takes another value in some design."""
        value = self.value_of(entry)
        return value is not None and bool(np.any(value != entry.value))

    def places(self, numbers: Numbers) -> tuple[int, ...]:
        """Places in the parameter port of the numbers that designs may change."""
        return tuple(k for k, entry in enumerate(numbers.entries) if self.value_of(entry) is not None)

    def rows(self, numbers: Numbers) -> Array:
        """The parameter port (D, k) of every design."""
        rows = np.tile(numbers.values, (self.count, 1))
        for k, entry in enumerate(numbers.entries):
            value = self.value_of(entry)
            if value is not None:
                rows[:, k] = value
        return rows


def is_direction(robot: Robot, path: str) -> bool:
    """Whether the value at a path is a direction, a vector of length 1."""
    owner = value_at(robot, path.rpartition(".")[0]) if "." in path else robot
    if not isinstance(owner, Data) or np.shape(value_at(robot, path)) != (3,):
        return False
    info = type(owner).model_fields.get(path.rpartition(".")[2])
    return info is not None and unit_of(info) == "1"


def _checked(path: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"parameters: {path}: an array of numbers is needed, got {short_repr(value)}") from error
    if array.dtype.kind not in "fiu":  # NumPy would also read texts and truths, and drop imaginary parts
        raise InputError(f"parameters: {path}: an array of numbers is needed, got {short_repr(value)}")
    array = array.astype(np.float64, copy=False)
    if array.ndim < len(core) or array.shape[array.ndim - len(core) :] != core:
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"parameters: {path}: shape ({wanted}) is needed, got {array.shape}")
    return array
