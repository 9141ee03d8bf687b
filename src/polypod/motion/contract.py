"""What every path and every trajectory is: a duration, and exact values with two derivatives at any time within it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from .checks import inside

if TYPE_CHECKING:
    import casadi as ca

    from ..model import Model
    from ..symbols.vectors import Frame
    from .fields import MotionColumn

HigherDerivatives = tuple[Array, Array]
"""The third derivative (n, k) at n times, and bounds (n, k) of the fourth within an interval about each."""

INTERVALS = 16
"""Least number of intervals between samples of a path that is all one curve, and of each period of a harmonic one.

A sample is then at most 1/32 of a period from any peak, which it meets to 1 - cos(pi/16) = 2 %.
"""


class Coordinates(NamedTuple):
    """Coordinates and their time derivatives.

    Attributes
    ----------
    x, xdot, xddot : ndarray, shape (..., k)
        Coordinates, rates and accelerations; (...) for one coordinate without an axis of its own.
    """

    x: Array
    xdot: Array
    xddot: Array


class Motion(NamedTuple):
    """Motion of the platform frame {P} in the base frame {B}.

    Attributes
    ----------
    time : ndarray, shape (...)
        Time [s].
    pose : ndarray, shape (..., 4, 4)
        Pose of {P} in {B}.
    twist : ndarray, shape (..., 6)
        Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
    acceleration : ndarray, shape (..., 6)
        Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
    """

    time: Array
    pose: Array
    twist: Array
    acceleration: Array

    @property
    def internal(self) -> Array | None:
        """Internal coordinates (..., k) of the robot [m, rad]; None without."""
        return None

    @property
    def place(self) -> dict[str, Any]:
        """``internal`` as calls of a model take it; empty without."""
        return {} if self.internal is None else {"internal": self.internal}


class WholeMotion(Motion):
    """Motion of a robot with k internal coordinates: twist and acceleration end with their rates, (..., 6 + k)."""

    _internal: Array

    @staticmethod
    def of(time: Array, pose: Array, twist: Array, acceleration: Array, internal: Array) -> WholeMotion:
        """A motion with internal coordinates (..., k) [m, rad]."""
        motion = WholeMotion(time, pose, twist, acceleration)
        motion._internal = internal
        return motion

    @property
    def internal(self) -> Array:
        """Internal coordinates (..., k) of the robot [m, rad]."""
        return self._internal


class Peak(NamedTuple):
    """Bounds of a motion's speeds at every instant: of the components of v (3,) [m/s], of |omega| [rad/s].

    ``own`` (m,) are those of a robot's generalized coordinates, where the motion is given by them; all are then of
    them.
    """

    velocity: Array
    turning: float
    own: Array | None = None


class MotionExpansion(NamedTuple):
    """A motion over intervals t +- h (n,) as a Taylor expansion, of which bounds can be computed.

    Attributes
    ----------
    derivatives : ndarray, shape (5, n, k)
        Coordinates, their first three derivatives at t, and bounds of the fourth within t +- h.
    constants : ndarray, shape (n, p)
        Values that do not change within an interval.
    pose : callable or None
        Platform frame in symbols, as a function of coordinates (k) and constants (p); None for a robot's generalized
        coordinates, from which the robot knows its pose.
    """

    derivatives: Array
    constants: Array
    pose: Callable[[ca.SX, ca.SX], Frame] | None


Value_co = TypeVar("Value_co", bound=tuple[Array, ...], covariant=True)


class Timed(ABC, Generic[Value_co]):
    """Something that happens on [0, duration] s.

    A variant has a ``duration`` and defines ``evaluate``. Where pieces meet in a jump, the value is the later piece's.
    """

    if TYPE_CHECKING:  # a field or a property of the variant; an annotation here would make it a field of all of them

        @property
        def duration(self) -> float:
            """How long it lasts [s]."""

    @abstractmethod
    def evaluate(self, t: Array) -> Value_co:
        """Values at times known to lie in [0, duration].

        Parameters
        ----------
        t : ndarray, shape (...)
            Times [s] in [0, duration].

        Returns
        -------
        Coordinates or Motion
            Values at these times.
        """

    def at(self, t: ArrayLike) -> Value_co:
        """Values at times.

        Parameters
        ----------
        t : array_like, shape (...)
            Times [s] in [0, duration].

        Returns
        -------
        Coordinates or Motion
            Values at these times.

        Raises
        ------
        InputError
            If a time is outside [0, duration].
        """
        return self.evaluate(inside(t, self.duration))

    def even_times(self, count: int) -> Array:
        """Evenly spaced times from 0 to the duration, both included.

        Parameters
        ----------
        count : int
            Number of times.

        Returns
        -------
        ndarray, shape (count,)
            Times [s].
        """
        if count < 1:
            raise InputError(f"count: must be at least 1, got {count}")
        return np.linspace(0.0, self.duration, count)

    @property
    def pieces(self) -> Array:
        """Rows (m, 3) of start [s], end [s] and the least number of intervals that shows the shape in between.

        Samples of a task include the ends of all pieces (the points of a motion through points), and where they would
        be fewer than this they are made finer. Pieces may overlap. Between all their ends the motion is smooth; one
        that needs 0 intervals is there for its end alone, where no sample is needed.
        """
        return np.array([[0.0, self.duration, INTERVALS]])

    @property
    def clock(self) -> float | None:
        """What the clock of the table shows at its first row [s], which is time 0 here; None without a table."""
        return None


class Path(Timed[Coordinates]):
    """Coordinates as functions of time; ``shape`` is (k,), or () for one coordinate without an axis of its own."""

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]:
            """(k,) or ()."""

    @property
    def count(self) -> int:
        """How many coordinates there are."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def peak(self) -> Array | None:
        """Bounds (k,) of |xdot| of every coordinate at every instant; None where they are not known."""
        return None

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives | None:
        """Third derivative at times, and bounds of the fourth in intervals around them.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times [s].
        half : ndarray, shape (n,)
            Half-widths of the intervals around them [s]; no interval reaches beyond a piece.

        Returns
        -------
        HigherDerivatives or None
            Arrays (n, k); None if they are not known.
        """
        return None

    def expansion(self, t: Array, half: Array) -> Array | None:
        """Taylor expansion of all coordinates: x, xdot, xddot, the third derivative, and bounds of the fourth.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times [s].
        half : ndarray, shape (n,)
            Half-widths of the intervals around them [s]; no interval reaches beyond a piece.

        Returns
        -------
        ndarray, shape (5, n, k), or None
            The terms; None if they are not known.
        """
        higher = self.higher_derivatives(t, half)
        if higher is None:
            return None
        return np.stack([np.reshape(part, (len(t), self.count)) for part in (*self.evaluate(t), *higher)])

    def with_columns(self, columns: tuple[MotionColumn, ...]) -> Self:
        """The path with the named columns of its tables in a given order.

        What does not come from a table has no names and counts by position.

        Parameters
        ----------
        columns : tuple of MotionColumn
            Names and units of the coordinates.

        Returns
        -------
        Path
            The path.

        Raises
        ------
        InputError
            If a column does not fit.
        """
        return self


class Trajectory(Timed[Motion]):
    """A motion of the platform."""

    def for_model(self, model: Model) -> Trajectory:
        """The motion with what it leaves to the robot (order of angles, home, generalized coordinates) filled in.

        Parameters
        ----------
        model : Model
            Model of the robot.

        Returns
        -------
        Trajectory
            The motion.
        """
        return self

    @property
    def peak(self) -> Peak | None:
        """Bounds of the speeds at every instant; None where they are not known."""
        return None

    def expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        """Taylor expansion of the motion in intervals around times, with bounds.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times [s].
        half : ndarray, shape (n,)
            Half-widths of the intervals around them [s]; no interval reaches beyond a piece.

        Returns
        -------
        MotionExpansion or None
            The expansion; None if no bound is known.
        """
        return None


def path_with_columns(field: str, path: Path, columns: tuple[MotionColumn, ...]) -> Path:
    """``Path.with_columns`` of the path of a field: what does not fit is that field's."""
    try:
        return path.with_columns(columns)
    except InputError as error:
        raise InputError(f"{field}.{error}") from error


def even_pieces(times: Array) -> Array:
    """Pieces between ``times`` (n,), each with its part of the intervals of one curve, one at least."""
    least = max(1, -(-INTERVALS // (len(times) - 1)))
    return np.column_stack([times[:-1], times[1:], np.full(len(times) - 1, least)])
