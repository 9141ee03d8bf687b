"""The motion of a robot's base in space: a ship, a truck, a centrifuge, a shaking table.

A trajectory of the base is the pose of {B} in a frame that stands still and coincides with {B} where the pose is the
identity; gravity of the robot file is in that frame. A model takes the motion of its base in base axes, and gravity as
its file gives it: what gravity turns against the base comes in as an acceleration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .contract import Trajectory

ROBOTS_PART = "a base moves in space, whatever the robot: use a kind with poses or angles and without 'relative_to'"


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
