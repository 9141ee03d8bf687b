"""Is a pose a pose: one small kernel for all robots."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..kernels import Expression, Kernel, Port, port
from ..mechanism.verdict import EXACT
from ..platforms.modes import modes_of
from ..platforms.motion import frame_of, pose_of
from ..symbols.vectors import Frame, orthonormalised
from .arguments import Argument, batch

ROTATION_TOLERANCE = 1e-6
"""Largest entry of R^T R - 1 that is taken for rounding: matrices printed with seven digits pass, slips do not."""


@cache
def rotation_kernel() -> Kernel:
    """How far each pose of a batch is from a rigid displacement, and the pose made exact (to the square of that)."""
    return Kernel(_rotation_defect)


def _rotation_defect() -> Expression:
    """Largest entry of R^T R - 1, plus 1 for a negative determinant or an infinite position, plus the last row's."""
    pose = ca.SX.sym("pose", 16)
    frame = frame_of(pose)
    axes = frame.axes
    gram = axes.T @ axes - ca.SX.eye(3)
    worst = ca.SX(0)
    for i in range(3):
        for j in range(i, 3):
            worst = ca.fmax(worst, ca.fabs(gram[i, j]))
    row = ca.fabs(pose[12]) + ca.fabs(pose[13]) + ca.fabs(pose[14]) + ca.fabs(pose[15] - 1)
    finite = ca.fmax(ca.fmax(ca.fabs(pose[3]), ca.fabs(pose[7])), ca.fabs(pose[11])) <= np.finfo(float).max
    defect = worst + row + ca.logic_not(finite) + (ca.det(axes) < 0)
    exact = ca.if_else(worst <= EXACT, pose, pose_of(Frame(frame.origin, orthonormalised(axes))))
    outputs = port("exact", exact, (4, 4)), port("defect", defect, ())
    return Expression("rotation_defect", (Port("pose", pose, (4, 4)),), outputs)


def exact_poses(poses: Array, name: str, batched: bool) -> Array:
    """Poses (n, 4, 4) without the rounding of printed digits; an error if a row is no rigid displacement."""
    if not len(poses):
        return poses
    exact, defect = rotation_kernel()(poses)
    good = defect <= ROTATION_TOLERANCE
    if good.all():
        return np.asarray(exact)
    state = int(np.argmin(good))
    where = f" of state {state}" if batched else ""
    matrix = poses[state]
    if not np.isfinite(matrix).all():
        raise InputError(f"{name}: finite numbers are needed, got {matrix.tolist()}{where}")
    if not np.array_equal(matrix[3], [0, 0, 0, 1]):
        raise InputError(f"{name}: the last row must be 0 0 0 1, got {matrix[3].tolist()}{where}", code="not_a_pose")
    rotation = matrix[:3, :3]
    off = np.abs(rotation.T @ rotation - np.eye(3)).max()
    problem = (
        f"R^T R differs from 1 by {off:.3g}" if off > ROTATION_TOLERANCE else "its determinant is -1 (a reflection)"
    )
    raise InputError(
        f"{name}: not a rotation matrix{where}: {problem}; at most {ROTATION_TOLERANCE:g} is allowed "
        "(scipy.spatial.transform.Rotation.from_matrix finds the nearest one)",
        code="not_a_rotation",
    )


def takes_wrench(robot: Robot) -> bool:
    """Whether all external wrenches may act: the modes of a flexible platform have shapes for them at its origin."""
    if not robot.flexible:
        return True
    modes = modes_of(robot)
    return modes.origin_shape is not None and modes.origin_rotation is not None


def check_wrench(robot: Robot, wrench: Any) -> None:
    """Raise for external wrenches (..., 6) that act where the modes of a flexible platform have no shape."""
    if wrench is None or not robot.flexible:
        return
    modes = modes_of(robot)
    values = batch([Argument("wrench", wrench, (6,))]).rows[0]
    for part, field, numbers in (("force", "origin_shape", slice(3)), ("moment", "origin_rotation", slice(3, 6))):
        if getattr(modes, field) is None and np.any(values[:, numbers] != 0):
            raise InputError(
                f"wrench: a {part} acts at the platform's origin, where the modes have no shape for it, so its "
                f"elastic forces are unknown; give {field}"
            )
