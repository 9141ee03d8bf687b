"""Designs: other values for some numbers of a robot, checked, as rows of the parameter port of its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..description import Robot
from ..description.quantities import LARGEST_NUMBER, SQUARE, SYMMETRIC, Data
from ..errors import InputError, short_repr
from .paths import BODY_FIELDS, bodies_of, index_in, is_direction, matching_paths, source_of, unit_at, value_at
from .vector import MOMENTS, Parameter, ParameterVector, central_tensors, moments_of

_UNIT_TOLERANCE = 1e-3
"""How far the length of a direction may be from 1: digits of a file."""
_COMPARISONS: dict[str, tuple[str, Callable[[Array, float], NDArray[np.bool_]]]] = {
    "ge": ("at least", np.greater_equal),
    "gt": ("more than", np.greater),
    "le": ("at most", np.less_equal),
    "lt": ("less than", np.less),
}


class Design:
    """Values of some numbers of a robot for a batch of designs, as rows of the parameter port.

    ``shape`` is the batch's. ``reasons`` says for a design, by its place in the flattened batch, why it cannot be.
    """

    def __init__(self, robot: Robot, given: Mapping[str, ArrayLike]) -> None:
        self.robot = robot
        self.values: dict[str, Array] = {}
        if not (isinstance(given, Mapping) and all(isinstance(path, str) for path in given)):
            example = "{'platform.mass': 2.0}"
            raise InputError(f"parameters: must be a mapping of names to values, {example}, got {short_repr(given)}")
        for pattern, value in given.items():
            for path in matching_paths(robot, pattern):
                self.values[path] = _checked(path, value, np.shape(value_at(robot, path)))
        shapes = {path: v.shape[: v.ndim - np.ndim(value_at(robot, path))] for path, v in self.values.items()}
        try:
            self.shape: tuple[int, ...] = np.broadcast_shapes(*shapes.values())
        except ValueError as error:
            listed = ", ".join(f"{path} {shape}" for path, shape in shapes.items())
            raise InputError(f"parameters: batch axes of designs do not broadcast: {listed}") from error
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
                self.reasons.setdefault(k, f"{path}: no body can have {numbers}")
        return np.broadcast_to(rows, (self.count, 10))

    def _check_numbers(self) -> None:
        for path in self.values:
            rows = self.flat(path)
            bad = ~(np.abs(rows) <= LARGEST_NUMBER).all(axis=tuple(range(1, rows.ndim)))
            for k in np.flatnonzero(bad).tolist():
                self.reasons.setdefault(k, f"{path}: must be finite and at most {LARGEST_NUMBER:g}")
            for how, limit in _limits_at(self.robot, path):
                words, holds = _COMPARISONS[how]
                for k in np.flatnonzero(~holds(rows, limit)).tolist():
                    self.reasons.setdefault(k, f"{path}: {words} {limit:g} is needed, got {rows[k]:.6g}")
            # a pair of numbers is what a coordinate or length goes from and to, unless it is two masses
            is_range = not path.startswith("elements.") or path.endswith(".range")
            if rows.shape[1:] == (2,) and is_range and unit_at(self.robot, path) != "kg":
                for k in np.flatnonzero(~(rows[:, 0] < rows[:, 1])).tolist():
                    self.reasons.setdefault(k, f"{path}: the lower limit must come first, got {rows[k].tolist()}")
            if is_direction(self.robot, path):
                self.values[path] = self._directions(path, rows).reshape(*self.shape, *rows.shape[1:])

    def _directions(self, path: str, rows: Array) -> Array:
        """Directions (D, 3) of length 1, or pairs of them (D, 2, 3), the second turned perpendicular to the first."""
        length = np.linalg.norm(rows, axis=-1, keepdims=True)
        off = np.abs(length - 1).reshape(len(rows), -1)
        for k in np.flatnonzero((off > _UNIT_TOLERANCE).any(axis=1)).tolist():
            got = ", ".join(f"{one:.6g}" for one in length[k].ravel())
            self.reasons.setdefault(k, f"{path}: a direction must have length 1, got {got}")
        units = np.asarray(rows / length)
        if units.ndim == 2:
            return units
        first, second = units[:, 0], units[:, 1]
        cosine = (first * second).sum(axis=1, keepdims=True)
        for k in np.flatnonzero(np.abs(cosine) > SQUARE).tolist():
            text = f"{path}: the axes must be perpendicular to each other, got a cosine of {cosine[k, 0]:.4g}"
            self.reasons.setdefault(k, text)
        across = second - cosine * first
        return np.stack([first, across / np.linalg.norm(across, axis=1, keepdims=True)], axis=1)

    def value_of(self, entry: Parameter) -> Array | None:
        """Values (D,) of one number of the port; None if the design leaves it as it is."""
        source = source_of(entry, self.values, self._moments)
        if source is None:
            return None
        if isinstance(entry.index, str):
            return self._moments[source][:, MOMENTS.index(entry.index)]
        index: Any = (slice(None), *index_in(entry, source))
        return np.asarray(self.flat(source)[index])

    def is_free(self, entry: Parameter) -> bool:
        """Whether a zero or one of the robot's topology takes another value in some design."""
        value = self.value_of(entry)
        return value is not None and bool(np.any(value != entry.value))

    def places(self, numbers: ParameterVector) -> tuple[int, ...]:
        """Places in the parameter port of the numbers that designs may change."""
        return tuple(k for k, entry in enumerate(numbers.entries) if self.value_of(entry) is not None)

    def rows(self, numbers: ParameterVector) -> Array:
        """The parameter port (D, k) of every design."""
        rows = np.tile(numbers.values, (self.count, 1))
        for k, entry in enumerate(numbers.entries):
            value = self.value_of(entry)
            if value is not None:
                rows[:, k] = value
        return rows


def _limits_at(robot: Robot, path: str) -> list[tuple[str, float]]:
    """Limits of a number by the schema of files: names of comparisons and what is compared with."""
    owner, _, name = path.rpartition(".")
    kind = type(value_at(robot, owner)) if owner else type(robot)
    asked = kind.model_fields[name].metadata if issubclass(kind, Data) else []
    return [(how, getattr(limit, how)) for limit in asked for how in _COMPARISONS if hasattr(limit, how)]


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
