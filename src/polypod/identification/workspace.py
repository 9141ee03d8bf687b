"""Poses of the workspace around home."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..errors import InputError
from ..model import Model


def random_poses(model: Model, count: int, seed: int, reach: float = 0.5) -> Array:
    """Poses (count, 4, 4) spread over the workspace around home: limits kept, conditioning at most thrice home's."""
    rng = np.random.default_rng(seed)
    home, size = model.robot.home.matrix, max(model.size, 0.05)
    worst = 3.0 * float(model.conditioning(home).condition)
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
        report = model.limits(pose)
        if report.names:
            pose = pose[report.inside.all(axis=1)]
        pose = pose[model.conditioning(pose).condition <= worst]
        found.append(pose)
        total += len(pose)
        if total >= count:
            return np.concatenate(found)[:count]
        if total < count // 10:
            reach *= 0.8
    raise InputError(f"robot: {model.robot.name!r} reaches only {total} of {count} poses around home within its limits")


def _own_poses(model: Model, draw: Array, size: float) -> Array:
    """Poses of a robot with fewer than six freedoms at coordinates (n, m), in parts of its size and radians."""
    scale = np.array([1.0 if f.motion == "rotation" else 2 * size for f in model.robot.freedoms])
    x = scale * draw[:, : len(scale)]
    pose = model.motion(x, np.zeros_like(x), np.zeros_like(x), errors="nan")[0]
    return np.asarray(pose[np.isfinite(pose).all(axis=(1, 2))])
