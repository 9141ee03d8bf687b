"""Displacements of poses in numbers: a translation and a rotation vector, base axes."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def displace(pose: Array, step: Array) -> Array:
    """Poses (k, 4, 4), or one (4, 4), displaced by [translation; rotation vector] (k, 6)."""
    from scipy.spatial.transform import Rotation

    displaced = np.broadcast_to(pose, (len(step), 4, 4)).copy()
    displaced[:, :3, 3] += step[:, :3]
    displaced[:, :3, :3] = Rotation.from_rotvec(step[:, 3:]).as_matrix() @ pose[..., :3, :3]
    return displaced


def displacement(first: Array, last: Array) -> Array:
    """Displacements (k, 6) from a pose (4, 4) to others (k, 4, 4)."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(last[:, :3, :3] @ first[:3, :3].T).as_rotvec()
    return np.concatenate([last[:, :3, 3] - first[:3, 3], turn], axis=1)
