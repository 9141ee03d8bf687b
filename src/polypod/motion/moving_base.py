"""The motion of a robot's base in space: a ship, a truck, a centrifuge, a shaking table.

A trajectory of the base is the pose of {B} in a frame that stands still and coincides with {B} where the pose is the
identity; gravity of the robot file is in that frame. A model takes the motion of its base in base axes, and gravity as
its file gives it: what gravity turns against the base comes in as an acceleration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .contract import Trajectory
from .trajectories.base import Placed

if TYPE_CHECKING:
    from ..model import Model

_BEFORE = 1e-9
"""Part of the duration by which a pose is looked at before and after where pieces meet."""
_JUMP = 1e-6
"""Jump [m, and entries of a rotation matrix] above which it is one."""
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


def base_trajectory(trajectory: Trajectory, model: Model) -> Trajectory:
    """The motion of a base, in the robot's order of angles if it states none.

    Parameters
    ----------
    trajectory : Trajectory
        Motion of {B} in space.
    model : Model
        Model of the robot on it.

    Returns
    -------
    Trajectory
        The motion.

    Raises
    ------
    InputError
        If the pose jumps.
    """
    moving = trajectory.with_convention(model.robot.euler) if isinstance(trajectory, Placed) else trajectory
    check_jumps(moving)
    return moving


def check_jumps(trajectory: Trajectory) -> None:
    """Raise where the pose of a base jumps: no force takes it there.

    Parameters
    ----------
    trajectory : Trajectory
        Motion of the base.

    Raises
    ------
    InputError
        If it jumps; names the time and how far.
    """
    duration = trajectory.duration
    ends = np.unique(trajectory.pieces[:, :2])
    ends = ends[(ends > 0.0) & (ends < duration)]
    before, after = (trajectory.at(np.clip(ends + d * duration, 0.0, duration)) for d in (-_BEFORE, _BEFORE))
    off = np.abs(after.pose - before.pose).max(axis=(1, 2))
    passed = 2 * _BEFORE * duration * np.abs(before.twist).max(axis=1, initial=0.0)
    jumps = np.flatnonzero(off > _JUMP + 2 * passed)
    if len(jumps):
        time = float(ends[jumps[0]])
        raise InputError(
            f"base: its pose jumps by {off[jumps[0]]:.4g} (m or rad) at {time:.6g} s, which no force can do; let its "
            "pieces begin where the ones before end",
            code="jump",
        )


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
