"""The force that a drive gives at a speed: its limits as one envelope over the speed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..description import Drive

Array = NDArray[np.float64]


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


def envelope(drive: Drive, top: float, count: int = 200) -> tuple[Array, Array] | None:
    """Speeds (k,) and the largest forces (k,) there; None for a drive without limits of force.

    The envelope ends at the largest speed that is allowed, or at ``top`` where none is.
    """
    ends = [x for x in (drive.max_speed, drive.force_speed[-1][0] if drive.force_speed else None) if x is not None]
    if drive.max_force is None and drive.force_speed is None and drive.max_power is None:
        return None
    corners = [point[0] for point in drive.force_speed or ()]
    end = min(ends, default=top)
    speeds = np.unique(np.concatenate([np.linspace(0.0, end, count), [x for x in corners if x <= end]]))
    forces = np.full(len(speeds), np.inf)
    if drive.max_force is not None:
        forces = np.minimum(forces, drive.max_force)
    if drive.force_speed is not None:
        forces = np.minimum(forces, np.interp(speeds, *np.array(drive.force_speed).T))
    if drive.max_power is not None:
        with np.errstate(divide="ignore"):
            forces = np.minimum(forces, drive.max_power / speeds)
    seen = np.isfinite(forces)
    return speeds[seen], forces[seen]
