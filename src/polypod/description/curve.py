"""The force that a drive gives at a speed, and how much of its force-speed curve a state uses."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .drive import Drive


def curve_use(points: Array, speed: Array, force: Array) -> Array:
    """Use (n,) of a force-speed curve: the factor by which the curve must grow in both axes to pass through a state.

    ``points`` (k, 2) are speeds from 0 upwards and forces that do not grow; the curve drops to zero at the last
    speed. A straight line F0 (1 - v/v0) is used by F/F0 + v/v0, a rectangle by the larger of F/F0 and v/v0.

    >>> line = np.array([[0.0, 100.0], [2.0, 0.0]])
    >>> curve_use(line, np.array([1.0, -1.0, 0.0]), np.array([25.0, 50.0, -100.0]))
    array([0.75, 1.  , 1.  ])
    """
    corners = points if points[-1, 1] == 0.0 else np.concatenate([points, [[points[-1, 0], 0.0]]])
    v, f = np.abs(speed), np.abs(force)
    # The ray from the origin through a state meets the piece between two corners: angles fall along the curve.
    scale = corners[0, 1] / corners[-1, 0]
    angles = np.arctan2(corners[:, 1], scale * corners[:, 0])
    piece = np.clip(np.searchsorted(-angles, -np.arctan2(f, scale * v), side="right") - 1, 0, len(corners) - 2)
    start, end = corners[piece], corners[piece + 1]
    normal = np.stack([start[:, 1] - end[:, 1], end[:, 0] - start[:, 0]], axis=1)
    use: Array = (normal[:, 0] * v + normal[:, 1] * f) / (normal * start).sum(axis=1)
    return use


def force_at(drive: Drive, speed: Array) -> Array:
    """The largest force (n,) that a drive gives at speeds (n,) of either sign; infinite where nothing limits it.

    Beyond the last speed of its curve there is none.
    """
    v = np.abs(speed)
    force = np.full(v.shape, np.inf if drive.max_force is None else drive.max_force)
    if drive.force_speed is not None:
        speeds, forces = np.array(drive.force_speed).T
        force = np.minimum(force, np.interp(v, speeds, forces, right=0.0))
    if drive.max_power is not None:
        with np.errstate(divide="ignore"):
            force = np.minimum(force, drive.max_power / v)
    return force
