"""Time laws: progress s from 0 to 1 in a given duration, which drives lines and motions through points.

In a file a law is its name (``quintic``), or a mapping for the trapezoid with its numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from .checks import ROUNDING
from .contract import Coordinates, HigherDerivatives
from .fields import Duration, LargestSpeed
from .kinds import Family, Kind, any_of


class TimeLaw(Kind):
    """Progress s(t) from 0 to 1; a kind defines ``evaluate``."""

    registry: ClassVar[dict[str, type[Any]]] = {}
    what: ClassVar[str] = "time law"

    @abstractmethod
    def evaluate(self, t: Array, duration: Array) -> Coordinates:
        """Progress s and its derivatives at times known to lie in [0, duration].

        Parameters
        ----------
        t : ndarray, shape (...)
            Times [s] in [0, duration].
        duration : ndarray, shape (...)
            Durations of the moves [s], one for each time.

        Returns
        -------
        Coordinates
            s, sdot [1/s], sddot [1/s^2], each (...).
        """

    def at(self, t: ArrayLike, duration: ArrayLike) -> Coordinates:
        """Progress s and its derivatives at times since the start; clipped to [0, duration].

        Parameters
        ----------
        t : array_like, shape (...)
            Times [s].
        duration : array_like, shape (...)
            Durations of the moves [s].

        Returns
        -------
        Coordinates
            s from 0 to 1, sdot [1/s], sddot [1/s^2].
        """
        time, span = np.broadcast_arrays(np.asarray(t, dtype=np.float64), np.asarray(duration, dtype=np.float64))
        return self.evaluate(np.clip(time, 0.0, span), span)

    def peak(self, duration: Array) -> Array | None:
        """Largest sdot of moves, at any instant.

        Parameters
        ----------
        duration : ndarray, shape (...)
            Durations of the moves [s].

        Returns
        -------
        ndarray, shape (...), or None
            Largest rates [1/s]; None if they are not known.
        """
        return None

    def higher_derivatives(self, t: Array, duration: Array, half: Array) -> HigherDerivatives | None:
        """Third derivative of s at times, and bounds of the fourth in intervals around them.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times [s].
        duration : ndarray, shape (n,)
            Durations of the moves [s].
        half : ndarray, shape (n,)
            Half-widths of the intervals [s]; no interval reaches beyond a corner.

        Returns
        -------
        HigherDerivatives or None
            Arrays (n,); None if they are not known.
        """
        return None

    def corners(self, duration: float) -> tuple[float, ...]:
        """Times within a move at which sddot jumps.

        Parameters
        ----------
        duration : float
            Duration of the move [s].

        Returns
        -------
        tuple of float
            Times [s].
        """
        return ()

    def time_for(self, distance: float) -> float | None:
        """How long the law takes over a distance if no duration is given.

        Parameters
        ----------
        distance : float
            Distance [m or rad].

        Returns
        -------
        float or None
            Duration [s]; None if a duration must be given.
        """
        return None

    def fitted(self, distance: float, duration: float) -> TimeLaw:
        """The law with its parameters fixed for a distance and a duration.

        Parameters
        ----------
        distance : float
            Distance [m or rad].
        duration : float
            Duration [s].

        Returns
        -------
        TimeLaw
            The law.

        Raises
        ------
        InputError
            If the law cannot cover the distance in that time.
        """
        return self

    def check_times(self, times: Array) -> None:
        """Check that the law can go from each time to the next.

        Parameters
        ----------
        times : ndarray, shape (n,)
            Times of the points [s].

        Raises
        ------
        InputError
            If it cannot.
        """


class ConstantSpeed(TimeLaw):
    """s = u with u = t/T: no ramps, the motion starts and ends at speed."""

    kind: Literal["constant_speed"] = "constant_speed"

    def evaluate(self, t: Array, duration: Array) -> Coordinates:
        return Coordinates(t / duration, 1 / duration, np.zeros_like(t))

    def higher_derivatives(self, t: Array, duration: Array, half: Array) -> HigherDerivatives:
        return np.zeros_like(t), np.zeros_like(t)

    def peak(self, duration: Array) -> Array:
        return 1 / duration


class Quintic(TimeLaw):
    """s = 10 u^3 - 15 u^4 + 6 u^5 with u = t/T: at rest, without acceleration, at both ends."""

    kind: Literal["quintic"] = "quintic"

    def evaluate(self, t: Array, duration: Array) -> Coordinates:
        u = t / duration
        # from the nearer end: s = 1 - s(1 - u), so that the end is as exact as the start
        near = np.minimum(u, 1 - u)
        part = near**3 * (10 - near * (15 - 6 * near))
        s = np.where(u > 0.5, 1 - part, part)
        return Coordinates(s, 30 * (u * (1 - u)) ** 2 / duration, 60 * u * (1 - u) * (1 - 2 * u) / duration**2)

    def higher_derivatives(self, t: Array, duration: Array, half: Array) -> HigherDerivatives:
        u = t / duration
        third, fourth = 60 * (1 - 6 * u * (1 - u)), 360 * np.abs(2 * u - 1) + 720 * half / duration
        return third / duration**3, fourth / duration**4

    def peak(self, duration: Array) -> Array:
        return 1.875 / duration


class Cosine(TimeLaw):
    """s = (1 - cos(pi u))/2 with u = t/T: at rest at both ends; there and back in turn, smooth for ever."""

    kind: Literal["cosine"] = "cosine"

    def evaluate(self, t: Array, duration: Array) -> Coordinates:
        w = np.pi / duration
        return Coordinates(np.sin(w * t / 2) ** 2, w * np.sin(w * t) / 2, w * w * np.cos(w * t) / 2)

    def higher_derivatives(self, t: Array, duration: Array, half: Array) -> HigherDerivatives:
        w = np.pi / duration
        return -(w**3) * np.sin(w * t) / 2, w**4 / 2

    def peak(self, duration: Array) -> Array:
        return np.pi / (2 * duration)


class Trapezoid(TimeLaw):
    """Constant acceleration for ``ramp`` s, constant ``speed``, constant deceleration for ``ramp`` s.

    ``speed`` is the cruise in units of the path a second. Two of duration, ramp and speed are given, the third follows
    from distance = speed (duration - ramp). Through points, whose times are given, only the ramp is.
    """

    kind: Literal["trapezoid"] = "trapezoid"
    ramp: Duration | None = None
    speed: LargestSpeed | None = None

    def prepare(self, folder: Any) -> None:
        if self.ramp is None and self.speed is None:
            raise InputError("ramp: missing: a trapezoid needs a ramp or a speed")

    def evaluate(self, t: Array, duration: Array) -> Coordinates:
        rise = self._rise(duration)
        top = 1 / (rise * (duration - rise))
        left = duration - t
        parts = [t < rise, t < duration - rise]
        s = np.select(parts, [top * t**2 / 2, top * rise * (t - rise / 2)], 1 - top * left**2 / 2)
        sdot = np.select(parts, [top * t, top * rise], top * left)
        return Coordinates(s, sdot, np.select(parts, [top, 0 * top], -top))

    def _rise(self, duration: Array) -> Array:
        """How long each of the ramps lasts [s]."""
        if self.ramp is None:
            raise InputError("law.ramp: missing: a speed determines a ramp only for a given distance, as in a line")
        rise = np.minimum(self.ramp, duration / 2)
        return np.where(duration - 2 * rise <= ROUNDING * duration, duration / 2, rise)

    def higher_derivatives(self, t: Array, duration: Array, half: Array) -> HigherDerivatives:
        return np.zeros_like(t), np.zeros_like(t)

    def corners(self, duration: float) -> tuple[float, ...]:
        rise = float(self._rise(np.array(duration)))
        return (rise, duration - rise) if 2 * rise < duration * (1 - ROUNDING) else (duration / 2,)

    def peak(self, duration: Array) -> Array:
        return 1 / (duration - self._rise(duration))

    def time_for(self, distance: float) -> float | None:
        if self.ramp is None or self.speed is None:
            return None
        return self.ramp + distance / self.speed

    def fitted(self, distance: float, duration: float) -> TimeLaw:
        if self.speed is None:
            self.check_times(np.array([0.0, duration]))
            return self
        rise = duration - distance / self.speed
        if self.ramp is not None and abs(rise - self.ramp) > ROUNDING * duration:
            got = f"duration={duration:.12g}, ramp={self.ramp:.12g}, speed={self.speed:.12g}"
            raise InputError(f"law: a trapezoid takes exactly two of duration, ramp and speed, got {got}")
        rise = rise if self.ramp is None else self.ramp
        if not 0.0 < rise <= duration * (0.5 + ROUNDING):
            raise InputError(self._no_trapezoid(distance, duration, rise))
        return Trapezoid(ramp=rise)

    def check_times(self, times: Array) -> None:
        if self.speed is not None:
            raise InputError(
                "law.speed: the times of the points determine the speeds; give only the ramp of the trapezoid"
            )
        shortest = float(np.diff(times).min())
        if self.ramp is not None and self.ramp > shortest * (0.5 + ROUNDING):
            raise InputError(f"law.ramp: must be at most half the duration {shortest:.12g} s, got {self.ramp:.12g} s")

    def _no_trapezoid(self, distance: float, duration: float, rise: float) -> str:
        """Why no such trapezoid exists, and what the numbers may be."""
        if self.ramp is not None:
            limit = distance / (self.speed or 1.0)
            text = f"law.ramp: at speed {self.speed:.12g} over {distance:.12g} must be at most {limit:.12g} s"
            return f"{text}, got {rise:.12g} s"
        low, high = distance / duration, 2 * distance / duration
        return (
            f"law.speed: for {distance:.12g} in {duration:.12g} s must be greater than {low:.12g} (constant speed)"
            f" and at most {high:.12g} (no cruise), got {self.speed:.12g}"
        )


def _by_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


AnyLaw = Annotated[TimeLaw, *any_of(Family(TimeLaw, TimeLaw, _by_name))]
QUINTIC = Quintic()
