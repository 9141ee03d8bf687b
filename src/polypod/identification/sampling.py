"""Random poses and states around home, within what a robot reaches; samples evenly spread along a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..errors import InputError
from ..limits import judge
from ..model import Model
from .linear_model import MotionRows


def random_poses(model: Model, count: int, seed: int, reach: float = 0.5) -> Array:
    """Poses (count, 4, 4) around home: within the limits of a pose at rest, conditioning at most thrice home's."""
    rng = np.random.default_rng(seed)
    home, size = model.robot.home.matrix, max(model.size, 0.05)
    worst = 3.0 * float(model.conditioning(home).condition)
    own, _ = model.robot_limits.at_rest()
    found: list[Array] = []
    total = 0
    for _ in range(40):
        n = 4 * count
        draw = rng.uniform(-1, 1, (n, 6)) * rng.uniform(0.3, 1, (n, 1))
        if model.mobility.full:
            pose = np.tile(home, (n, 1, 1))
            pose[:, :3, 3] += reach * size * 2 * draw[:, :3]
            pose[:, :3, :3] = Rotation.from_rotvec(reach * draw[:, 3:]).as_matrix() @ home[:3, :3]
        else:
            pose = _own_poses(model, reach * draw, size)
        pose = pose[model.kernel("inverse_kinematics")(np.ascontiguousarray(pose))[1] > 1e-3]
        if own.limits:
            still = np.zeros(6)
            pose = pose[judge(model, pose, still, still, friction=False, limits=own).inside.all(axis=1)]
        pose = pose[model.conditioning(pose).condition <= worst]
        found.append(pose)
        total += len(pose)
        if total >= count:
            return np.concatenate(found)[:count]
        if total < count // 10:
            reach *= 0.8
    raise InputError(f"robot: {model.robot.name!r} reaches only {total} of {count} poses around home within its limits")


def _own_poses(model: Model, draw: Array, size: float) -> Array:
    """Poses of a robot with fewer than six degrees of freedom at coordinates (n, m), in parts of its size and
    radians."""
    scale = np.array([1.0 if f.motion == "rotation" else 2 * size for f in model.robot.dof])
    x = scale * draw[:, : len(scale)]
    pose = model.motion(x, np.zeros_like(x), np.zeros_like(x), errors="nan")[0]
    return np.asarray(pose[np.isfinite(pose).all(axis=(1, 2))])


def random_motion(model: Model, count: int, seed: int = 0, size: float = 0.15) -> MotionRows:
    """States around home with velocities and accelerations of all kinds, within what the robot reaches.

    Poses are up to ``size`` times the robot's own size and radians from home.
    """
    rng = np.random.default_rng(seed)
    home, scale = model.robot.home.matrix, max(model.size, 0.05)
    m = model.mobility.count
    draws = rng.uniform(-1, 1, (3, 2 * count, 6))
    for reach in (size, size / 3, size / 10):
        if model.mobility.full:
            pose = np.tile(home, (2 * count, 1, 1))
            pose[:, :3, 3] += reach * scale * draws[0, :, :3]
            pose[:, :3, :3] = Rotation.from_rotvec(2 * reach * draws[0, :, 3:]).as_matrix() @ home[:3, :3]
            twist, acceleration = draws[1], 5 * draws[2]
        else:
            lengths = np.array([1.0 if f.motion == "rotation" else scale for f in model.robot.dof])
            found: Any = model.motion(
                reach * lengths * draws[0, :, :m], draws[1, :, :m], 5 * draws[2, :, :m], errors="nan"
            )
            pose, twist, acceleration = found
        quality = model.kernel("inverse_kinematics")(np.ascontiguousarray(np.nan_to_num(pose)))[1]
        good = np.flatnonzero((quality > 1e-3) & np.isfinite(pose).all(axis=(1, 2)))[:count]
        if len(good) == count:
            break
    return MotionRows(*(np.ascontiguousarray(a[good]) for a in (pose, twist, acceleration)))


def evenly_spaced(motion: MotionRows, most: int) -> NDArray[np.int64]:
    """At most so many samples, evenly spread."""
    return np.unique(np.linspace(0, len(motion) - 1, min(most, len(motion))).astype(np.int64))


# ----------------------------------------------------------------------------------------------------------------------
# Poses of robots with more actuators than degrees of freedom: measured coordinates agree with one pose by least
# squares only.

_STEPS = 20
_PASSES = 12


def displaced(pose: Array, step: Array) -> Array:
    """Poses (n, 4, 4) displaced and turned by small steps (n, 6), base axes."""
    step = np.nan_to_num(step)
    found = pose.copy()
    found[:, :3, 3] += step[:, :3]
    found[:, :3, :3] = Rotation.from_rotvec(step[:, 3:]).as_matrix() @ pose[:, :3, :3]
    return found


def nearest_poses(model: Model, q: Array, guess: Array) -> Array:
    """Poses (n, 4, 4) whose coordinates are nearest to q (n, a), from ``guess`` (n or 1, 4, 4); NaN where none is.

    By Gauss and Newton; samples that do not settle start again from the pose of a neighbour that does.
    """
    pose = _by_newton(model, q, np.broadcast_to(guess, (len(q), 4, 4)))
    for _ in range(_PASSES):
        lost = np.flatnonzero(np.isnan(pose[:, 0, 0]))
        good = np.flatnonzero(~np.isnan(pose[:, 0, 0]))
        if len(lost) == 0 or len(good) == 0:
            break
        after = np.clip(np.searchsorted(good, lost), 0, len(good) - 1)
        before = np.maximum(after - 1, 0)
        near = np.where(np.abs(good[before] - lost) < np.abs(good[after] - lost), good[before], good[after])
        pose[lost] = _by_newton(model, q[lost], pose[near])
    return pose


def _by_newton(model: Model, q: Array, guess: Array) -> Array:
    pose = np.array(guess)
    size = np.full(len(q), np.inf)
    for _ in range(_STEPS):
        here = model.inverse_kinematics(pose, errors="nan")
        step = np.asarray(model.twist(pose, np.nan_to_num(q - here), errors="nan"))
        step[np.isnan(here).any(axis=1)] = np.nan
        size = np.abs(step).max(axis=1)
        # a step that leaves the surroundings of the guess has lost its way
        move = np.where((size < 1.0)[:, None], step, 0.0)
        pose = displaced(pose, move)
        if not np.nanmax(size, initial=0.0) > 1e-13:
            break
    pose[~(size < 1e-9)] = np.nan
    return pose
