"""The motion a controller follows: tabulated where samples fall, exact elsewhere, at rest after its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..motion import Motion, MotionFile, Task, Trajectory, make_task
from ..motion.contract import WholeMotion
from ..motion.sampling import MAX_SAMPLES


class Target(NamedTuple):
    """Desired motion at a time.

    Attributes
    ----------
    pose : ndarray, shape (4, 4)
        Pose of {P} in {B}.
    twist : ndarray, shape (6,)
        Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
    acceleration : ndarray, shape (6,)
        Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
    internal : ndarray, shape (k,)
        Internal coordinates of a robot that has such; twist and acceleration end with their rates then, (6 + k,).
    """

    pose: Array
    twist: Array
    acceleration: Array
    internal: Array = np.zeros(0)


def _target(motion: Motion, row: Any = ()) -> Target:
    """One state of a motion."""
    inner = {} if motion.internal is None else {"internal": motion.internal[row]}
    return Target(motion.pose[row], motion.twist[row], motion.acceleration[row], **inner)


class Reference:
    """A trajectory as a function of time; it rests at its start before 0 s and at its end afterwards.

    Parameters
    ----------
    trajectory : Trajectory
        Desired motion.
    rate : float, optional
        Rate [Hz] of a table that makes control at that rate fast; other times are evaluated exactly.
    """

    def __init__(self, trajectory: Trajectory, rate: float = 1000.0) -> None:
        if not (np.isfinite(rate) and rate > 0):
            raise InputError(f"rate: must be greater than 0 samples per second, got {rate}")
        if trajectory.duration * rate > MAX_SAMPLES:
            asked = f"{rate:g}/s for {trajectory.duration:g} s give {trajectory.duration * rate:.3g} samples"
            raise InputError(f"rate: {asked}; the limit is {MAX_SAMPLES}")
        self.trajectory, self.rate = trajectory, float(rate)
        count = int(np.floor(trajectory.duration * rate * (1 + 1e-12))) + 1
        self.times: Array = np.minimum(np.arange(count) / rate, trajectory.duration)
        self.motion = trajectory.at(self.times)
        self._ends = [self._at_rest(end) for end in (0.0, trajectory.duration)]

    def _at_rest(self, time: float) -> Target:
        there = _target(self.trajectory.at(time))
        return there._replace(twist=0 * there.twist, acceleration=0 * there.acceleration)

    def row(self, time: float) -> int | None:
        """Row of the table for a time.

        Parameters
        ----------
        time : float
            Time [s].

        Returns
        -------
        int or None
            The row; None if the time is not in the table.
        """
        k = round(time * self.rate)
        return k if 0 <= k < len(self.times) and self.times[k] == time else None

    def at(self, time: float) -> Target:
        """Desired motion at a time.

        Parameters
        ----------
        time : float
            Time [s].

        Returns
        -------
        Target
            Desired pose, twist and acceleration.
        """
        k = self.row(time)
        if k is not None:
            return _target(self.motion, k)
        if time < 0 or time > self.trajectory.duration:
            return self._ends[int(time > 0)]
        return _target(self.trajectory.at(time))

    def sampled(self, times: Array) -> Motion:
        """Desired motion at many times.

        Parameters
        ----------
        times : ndarray, shape (n,)
            Times [s].

        Returns
        -------
        Motion
            Times, poses, twists and accelerations.
        """
        end = self.trajectory.duration
        motion = self.trajectory.at(np.clip(times, 0.0, end))
        outside = (times < 0.0) | (times > end)
        twist, acceleration = (np.where(outside[:, None], 0.0, part) for part in motion[2:])
        if motion.internal is not None:
            return WholeMotion.of(times, motion.pose, twist, acceleration, motion.internal)
        return Motion(times, motion.pose, twist, acceleration)


class Tabulated:
    """A function of the desired motion (a batch of it), from the table where a time has a row, else computed.

    Of a robot with internal coordinates it gets them by name, ``internal``.
    """

    def __init__(self, reference: Reference, function: Callable[..., tuple[Array, ...]]) -> None:
        self._reference, self._function = reference, function
        motion = reference.motion
        self._rows = function(motion.pose, motion.twist, motion.acceleration, **motion.place)

    def at(self, time: float) -> tuple[Array, ...]:
        """The function's results at a time."""
        k = self._reference.row(time)
        if k is not None:
            return tuple(part[k] for part in self._rows)
        *motion, internal = self._reference.at(time)
        place = {"internal": internal[None]} if internal.size else {}
        return tuple(part[0] for part in self._function(*(part[None] for part in motion), **place))


Followed = Reference | Trajectory | MotionFile | Task | str | Path
"""What a controller follows: a reference, or what ``polypod.simulate`` takes as a motion."""


def reference_of(motion: Followed, rate: float = 1000.0, model: Any = None) -> Reference:
    """A reference from a motion, or the reference itself; the ``model`` puts a motion where its robot is."""
    if isinstance(motion, Reference):
        return motion
    if model is not None:
        motion = motion if isinstance(motion, Task) else make_task(model, motion)
    trajectory = motion.trajectory if isinstance(motion, Task) else motion
    if not isinstance(trajectory, Trajectory):
        raise InputError("motion: a motion that is known between its samples is needed: a file, a name or a trajectory")
    return Reference(trajectory, rate)
