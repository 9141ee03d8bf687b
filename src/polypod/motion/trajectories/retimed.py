"""A motion along the path of another, at speeds of its own."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from ...arrays import Array
from ...description.quantities import Length
from ...errors import InputError
from ...lazy import lazy
from ..arc_length import ArcLengthPath, PathSample
from ..checks import finite, knots
from ..contract import Motion, Peak, Trajectory
from ..fields import MaybeAccelerations, MaybeTimes, Numbers, Velocities
from .base import AnyTrajectory, TrajectoryKind

if TYPE_CHECKING:
    from ...model import Model

_SAME_LENGTH = 1e-6
"""Relative difference of lengths and of speeds that counts as rounding of the numbers in a file."""
_INSIDE = 1e-9
"""Share of an interval next to its ends in which a length says nothing of the side of a corner it is on."""


def interval_of(t: Array, knots: Array) -> NDArray[np.intp]:
    """The intervals (...) between ``knots`` (n,) in which times (...) lie, the later one at a knot."""
    return np.clip(np.searchsorted(knots, t, "right") - 1, 0, len(knots) - 2)


def constant_jerk(
    t: Array, times: Array, lengths: Array, speeds: Array, accelerations: Array
) -> tuple[Array, Array, Array]:
    """Length, speed and acceleration (...) at times (...), the jerk constant between the knots (n,)."""
    i = interval_of(t, times)
    past, a = t - times[i], accelerations[i]
    jerk = (accelerations[i + 1] - a) / (times[i + 1] - times[i])
    length = lengths[i] + past * (speeds[i] + past * (a / 2 + past * jerk / 6))
    return length, speeds[i] + past * (a + past * jerk / 2), a + past * jerk


def _check_constant_jerk(times: Array, lengths: Array, speeds: Array, accelerations: Array) -> None:
    """Raise where accelerations do not lead from one speed and length to the next: the motion would jump there."""
    step, before, after = np.diff(times), accelerations[:-1], accelerations[1:]
    speed = speeds[:-1] + step * (before + after) / 2
    length = lengths[:-1] + step * (speeds[:-1] + step * (2 * before + after) / 6)
    off = np.abs(speed - speeds[1:]) > _SAME_LENGTH * speeds.max()
    off |= np.abs(length - lengths[1:]) > _SAME_LENGTH * lengths[-1]
    if off.any():
        k = int(off.argmax())
        raise InputError(
            f"accelerations: from {times[k]:.6g} to {times[k + 1]:.6g} s they lead to {length[k]:.9g} m at "
            f"{speed[k]:.9g} m/s, not to {lengths[k + 1]:.9g} m at {speeds[k + 1]:.9g} m/s; recompute them with "
            "'polypod fastest'"
        )


class Retimed(TrajectoryKind):
    """Where another trajectory goes, at other speeds: ``polypod fastest`` writes such motions.

    The ``speeds`` w [m/s] stand at ``lengths`` l [m] of the path of ``along``, in which a turn by one radian counts as
    ``turn_length``. Between two lengths w^2 changes evenly: the acceleration along the path is constant. With ``times``
    [s] and ``accelerations`` [m/s^2] at the same lengths the jerk along the path is constant between them instead.
    """

    kind: Literal["retimed"] = "retimed"
    along: AnyTrajectory
    turn_length: Length
    lengths: Numbers
    speeds: Velocities
    times: MaybeTimes = None
    accelerations: MaybeAccelerations = None
    _lengths: Array = PrivateAttr()
    _speeds: Array = PrivateAttr()
    _times: Array = PrivateAttr()
    _accelerations: Array | None = PrivateAttr(None)

    def prepare(self, folder: FilePath) -> None:
        lengths = finite("lengths", self.lengths, None)
        speeds = finite("speeds", self.speeds, len(lengths))
        if len(lengths) < 2 or lengths[0] != 0.0 or not (np.diff(lengths) > 0).all():
            raise InputError("lengths: must be at least two, start at 0 m and increase")
        if (speeds < 0).any():
            raise InputError(f"speeds: must not be negative, got {speeds.min():g} m/s")
        self._lengths, self._speeds = lengths, speeds
        if (self.times is None) != (self.accelerations is None):
            raise InputError("times: times and accelerations must be given together")
        if self.times is not None:
            self._times = knots("times", self.times, len(lengths))
            self._accelerations = finite("accelerations", self.accelerations, len(lengths))
            _check_constant_jerk(self._times, lengths, speeds, self._accelerations)
            return
        both = speeds[1:] + speeds[:-1]
        if not (both > 0).all():
            k = int(np.argmin(both))
            raise InputError(
                f"speeds: must not be zero at two consecutive lengths, got 0 at {lengths[k]:g} m and after"
            )
        self._times = np.concatenate([[0.0], np.cumsum(2 * np.diff(lengths) / both)])

    @property
    def duration(self) -> float:
        return float(self._times[-1])

    @property
    def reached(self) -> Array:
        """When each of the lengths is reached (n,) [s]."""
        return self._times

    @property
    def pieces(self) -> Array:
        return np.column_stack([self._times[:-1], self._times[1:], np.ones(len(self._times) - 1)])

    @property
    def peak(self) -> Peak:
        """A speed along the path is that of the platform and of its turns together."""
        most = np.maximum(self._speeds[1:], self._speeds[:-1])
        if self._accelerations is not None:
            steepest = np.maximum(np.abs(self._accelerations[1:]), np.abs(self._accelerations[:-1]))
            most = most + 0.5 * np.diff(self._times) * steepest
        return Peak(np.full(3, most.max()), float(most.max() / self.turn_length))

    @lazy
    def path(self) -> ArcLengthPath:
        """The way; an error if it is not as long as the speeds say."""
        path = ArcLengthPath(self.along, self.turn_length)
        if abs(path.length - self._lengths[-1]) > _SAME_LENGTH * path.length:
            raise InputError(
                f"lengths: the path of 'along' is {path.length:.9g} m long, the speeds are for "
                f"{self._lengths[-1]:.9g} m; recompute them with 'polypod fastest'"
            )
        return path

    def _interval(self, t: Array) -> NDArray[np.intp]:
        """The intervals (...) between knots in which times (...) lie."""
        return interval_of(t, self._times)

    def progress(self, t: Array) -> tuple[Array, Array, Array]:
        """Arc length along the path and its derivatives.

        Parameters
        ----------
        t : ndarray, shape (...)
            Times [s] in [0, duration].

        Returns
        -------
        length : ndarray, shape (...)
            Arc length [m].
        speed : ndarray, shape (...)
            Speed along the path [m/s].
        acceleration : ndarray, shape (...)
            Acceleration along the path [m/s^2].
        """
        if self._accelerations is not None:
            return constant_jerk(t, self._times, self._lengths, self._speeds, self._accelerations)
        i = self._interval(t)
        past = t - self._times[i]
        acceleration = np.diff(self._speeds**2)[i] / (2 * np.diff(self._lengths)[i])
        length = self._lengths[i] + past * (self._speeds[i] + past * acceleration / 2)
        return length, self._speeds[i] + past * acceleration, acceleration

    def evaluate(self, t: Array) -> Motion:
        length, speed, acceleration = (part[..., None] for part in self.progress(t))
        samples = self._samples(t, length[..., 0])
        twist = speed * samples.tangent
        return Motion(t, samples.pose, twist, acceleration * samples.tangent + speed**2 * samples.curvature)

    def _samples(self, t: Array, length: Array) -> PathSample:
        """Where the platform is; next to a corner on the side of the interval that the time is in.

        A corner is gone by at rest: next to it a length is rounded to the corner's own, of which the time has the side.
        """
        i, path = self._interval(t), self.path
        inside = _INSIDE * (self._lengths[i + 1] - self._lengths[i])
        beside = np.clip(length, self._lengths[i] + inside, self._lengths[i + 1] - inside)
        return path.evaluate_piece(path.piece(beside), length)

    def for_model(self, model: Model) -> Trajectory:
        return self.model_copy(update={"along": self.along.for_model(model)})
