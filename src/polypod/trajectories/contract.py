"""What every trajectory is: a duration, and exact values with two derivatives at any times within it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .checks import Array, inside, same_duration


class Coordinates(NamedTuple):
    """Coordinates x(t), xdot, xddot, each (..., k), or (...) for one coordinate without an axis of its own."""

    x: Array
    xdot: Array
    xddot: Array


class Motion(NamedTuple):
    """Motion of the platform frame {P} in the base frame.

    ``time`` (...) in s; ``pose`` (..., 4, 4); ``twist`` [v; omega] and ``acceleration`` [vdot; omegadot]
    (..., 6) of the origin of {P}, base axes, in m/s, rad/s, m/s^2, rad/s^2.
    """

    time: Array
    pose: Array
    twist: Array
    acceleration: Array


Value = TypeVar("Value", bound=tuple[Array, ...])


class Timed(ABC, Generic[Value]):
    """Something that happens on [0, duration] s.

    A variant defines ``evaluate``. Where a piecewise motion jumps, the value is that of the later piece.
    """

    duration: float

    @abstractmethod
    def evaluate(self, t: Array) -> Value:
        """Values at times (...) known to lie in [0, duration]."""

    def at(self, t: ArrayLike) -> Value:
        """Values at times ``t`` (...) in s; a time outside [0, duration] is an InputError."""
        return self.evaluate(inside(t, self.duration))

    def times(self, count: int) -> Array:
        """``count`` evenly spaced times (count,) from 0 to the duration, both included."""
        if count < 1:
            raise InputError(f"count: must be at least 1, got {count}")
        return np.linspace(0.0, self.duration, count)


class Path(Timed[Coordinates]):
    """Coordinates as functions of time; ``shape`` is (k,), or () for a scalar.

    A time law is a scalar path: the progress s(t), 0 at the start and 1 at the end of what it drives.
    """

    shape: tuple[int, ...]

    def __add__(self, other: Path) -> Path:
        """Sum of two paths of the same shape and duration."""
        if not isinstance(other, Path):
            return NotImplemented
        if self.shape != other.shape:
            raise InputError(f"path sum: shapes must be equal, got {self.shape} and {other.shape}")
        return _Sum(same_duration("path sum", (self.duration, other.duration)), self.shape, self, other)


Law = Callable[[float], Path]
"""Makes the law that goes from 0 to 1 in a given duration, such as ``quintic``."""


class Trajectory(Timed[Motion]):
    """A motion of the platform."""


@dataclass(frozen=True, eq=False)
class _Sum(Path):
    duration: float
    shape: tuple[int, ...]
    first: Path
    second: Path

    def evaluate(self, t: Array) -> Coordinates:
        pairs = zip(self.first.evaluate(t), self.second.evaluate(t), strict=True)
        return Coordinates(*(a + b for a, b in pairs))
