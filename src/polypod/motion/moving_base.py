"""The motion of a robot's base in space: a ship, a truck, a centrifuge, a shaking table.

A trajectory of the base is the pose of {B} in a frame that stands still and coincides with {B} where the pose is the
identity; gravity of the robot file is in that frame. A model takes the motion of its base in base axes, and gravity as
its file gives it: what gravity turns against the base comes in as an acceleration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Robot
from .contract import Trajectory
from .trajectories.base import Placed

ROBOTS_PART = "a base moves in space, whatever the robot: use a kind with poses or angles and without 'relative_to'"

_AHEAD = 512
"""Samples of a trajectory that are computed together: one costs as much as hundreds."""
_RESOLUTION = 1e12
"""Times [1/s] that are the same."""


class MovingBase(NamedTuple):
    """Motion of the base at n times.

    Attributes
    ----------
    pose : ndarray, shape (n, 4, 4)
        Pose of {B} in space.
    twist : ndarray, shape (n, 6)
        Its twist, base axes, as ``base_twist`` of a model [m/s, rad/s].
    acceleration : ndarray, shape (n, 6)
        Its acceleration, base axes, with what gravity differs from that of the robot file in them, as
        ``base_acceleration`` of a model [m/s^2, rad/s^2].
    """

    pose: Array
    twist: Array
    acceleration: Array


def moving_base(trajectory: Trajectory, time: Array, gravity: Array) -> MovingBase:
    """Sample the motion of a base.

    Parameters
    ----------
    trajectory : Trajectory
        Motion of {B} in space.
    time : ndarray, shape (n,)
        Times [s].
    gravity : array_like, shape (3,)
        Acceleration of gravity of the robot file [m/s^2], in space.

    Returns
    -------
    MovingBase
        The motion as a model takes it.
    """
    motion, weight = trajectory.at(time), np.asarray(gravity, dtype=float)
    back = np.swapaxes(motion.pose[..., :3, :3], -1, -2)

    def turned(vectors: Array) -> Array:
        return np.asarray(np.einsum("...ij,...j->...i", back, vectors))

    linear = turned(motion.acceleration[..., :3] - weight) + weight
    return MovingBase(
        motion.pose,
        np.concatenate([turned(motion.twist[..., :3]), turned(motion.twist[..., 3:])], axis=-1),
        np.concatenate([linear, turned(motion.acceleration[..., 3:])], axis=-1),
    )


class BaseTrajectory:
    """The motion of a robot's base at any time, as simulations and controllers take it; at its ends outside of them.

    Parameters
    ----------
    trajectory : Trajectory
        Motion of {B} in space.
    robot : Robot
        The robot: its gravity is in space, angles of the trajectory are in its convention.
    """

    def __init__(self, trajectory: Trajectory, robot: Robot) -> None:
        placed = isinstance(trajectory, Placed)
        self.trajectory = trajectory.with_convention(robot.euler) if placed else trajectory  # type: ignore[attr-defined]
        self._gravity = np.array(robot.gravity, dtype=np.float64)
        self._rows: dict[int, Array] = {}
        self._last = (0.0, 0.0)

    def sampled(self, times: Array) -> MovingBase:
        """The motion at times.

        Parameters
        ----------
        times : ndarray, shape (n,)
            Times [s].

        Returns
        -------
        MovingBase
            Pose, twist and acceleration of the base.
        """
        return moving_base(self.trajectory, np.clip(times, 0.0, self.trajectory.duration), self._gravity)

    def at(self, time: float) -> tuple[Array, Array]:
        """``base_twist`` and ``base_acceleration`` of a model, (6,) each.

        Parameters
        ----------
        time : float
            Time [s].

        Returns
        -------
        tuple of ndarray
            Twist and acceleration of the base, base axes.
        """
        last, interval = self._last
        self._last = time, time - last
        regular = abs(time - last - interval) * _RESOLUTION < 1
        row = self._row(time, interval if regular else 0.0)
        return row[:6], row[6:]

    def arguments(self, time: float) -> dict[str, Array]:
        """The same by name.

        Parameters
        ----------
        time : float
            Time [s].

        Returns
        -------
        dict of str to ndarray
            ``base_twist`` and ``base_acceleration``.
        """
        return dict(zip(("base_twist", "base_acceleration"), self.at(time), strict=True))

    def nodes(self, start: float, end: float) -> Array:
        """Twist and acceleration at beginning, middle and end of a step.

        Parameters
        ----------
        start, end : float
            Times [s].

        Returns
        -------
        ndarray, shape (36,)
            Twist and acceleration (12) at each of the three times.
        """
        half = 0.5 * (end - start)
        return np.concatenate([self._row(time, half) for time in (start, start + half, end)])

    def _row(self, time: float, interval: float) -> Array:
        """Twist and acceleration (12,) at a time; those at the next ones, by an interval, are computed with them."""
        key = round(time * _RESOLUTION)
        if key not in self._rows:
            ahead = _AHEAD if interval * _RESOLUTION > 1 else 1
            times: Array = time + interval * np.arange(ahead, dtype=np.float64)
            motion = self.sampled(times)
            rows = np.concatenate([motion.twist, motion.acceleration], axis=1)
            self._rows = dict(zip(np.rint(times * _RESOLUTION).astype(int).tolist(), rows, strict=True))
        return self._rows[key]
