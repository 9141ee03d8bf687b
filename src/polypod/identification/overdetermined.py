"""Poses of robots with more actuators than degrees of freedom: measured coordinates agree with one pose by least
squares only."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..model import Model

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
