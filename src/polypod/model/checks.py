"""Is a pose a pose: one small kernel for all robots."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels import Expression, Kernel, Port, port

Array = NDArray[np.float64]
# Rotation matrices written with nine digits pass; a slip of a sign or a degree does not.
ROTATION_TOLERANCE = 1e-8


@cache
def rotation_kernel() -> Kernel:
    """How far each pose of a batch is from a rigid displacement."""
    return Kernel(_rotation_defect)


def _rotation_defect() -> Expression:
    """Largest entry of R^T R - 1, plus 1 for a negative determinant or an infinite position, plus the last row's."""
    pose = ca.SX.sym("pose", 16)
    axes = ca.vertcat(*[ca.horzcat(*[pose[4 * i + j] for j in range(3)]) for i in range(3)])
    gram = axes.T @ axes - ca.SX.eye(3)
    worst = ca.SX(0)
    for i in range(3):
        for j in range(i, 3):
            worst = ca.fmax(worst, ca.fabs(gram[i, j]))
    row = ca.fabs(pose[12]) + ca.fabs(pose[13]) + ca.fabs(pose[14]) + ca.fabs(pose[15] - 1)
    finite = ca.fmax(ca.fmax(ca.fabs(pose[3]), ca.fabs(pose[7])), ca.fabs(pose[11])) <= np.finfo(float).max
    defect = worst + row + ca.logic_not(finite) + (ca.det(axes) < 0)
    return Expression("rotation_defect", (Port("pose", pose, (4, 4)),), (port("defect", defect, ()),))


def check_poses(poses: Array, name: str, batched: bool) -> None:
    """Raise if a row of (n, 4, 4) is not a rigid displacement."""
    if not len(poses):
        return
    defect = rotation_kernel()(poses)
    good = defect <= ROTATION_TOLERANCE
    if good.all():
        return
    state = int(np.argmin(good))
    where = f" of state {state}" if batched else ""
    matrix = poses[state]
    if not np.isfinite(matrix).all():
        raise InputError(f"{name}: finite numbers are needed, got {matrix.tolist()}{where}")
    if not np.array_equal(matrix[3], [0, 0, 0, 1]):
        raise InputError(f"{name}: the last row must be 0 0 0 1, got {matrix[3].tolist()}{where}")
    rotation = matrix[:3, :3]
    off = np.abs(rotation.T @ rotation - np.eye(3)).max()
    problem = f"R^T R differs from 1 by {off:.3g}" if off > ROTATION_TOLERANCE else "its determinant is -1 (a mirror)"
    raise InputError(
        f"{name}: not a rotation matrix{where}: {problem}; at most {ROTATION_TOLERANCE:g} is allowed "
        "(scipy.spatial.transform.Rotation.from_matrix finds the nearest one)"
    )
