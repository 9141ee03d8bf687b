"""Arguments of model calls: broadcast and laid out as the kernels want them, and checked: is a pose a pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description import Robot
from ..errors import InputError, short_repr
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Expression, Kernel, Port, port
from ..mechanism.verdict import EXACT
from ..platforms.modes import modes_of
from ..platforms.motion import frame_of, pose_of
from ..symbols.vectors import Frame, orthonormalised

PoseLike = Any
_DOUBLE = np.dtype(np.float64)
OPTIONAL = frozenset(
    {
        "wrench", "elastic", "elastic_rate", "elastic_acceleration", "weights", "preload", "base_twist",
        "base_acceleration",
    }
)  # fmt: skip
"""Inputs that may be left out."""


class Argument(NamedTuple):
    """One argument: its name, its value and its shape for one state."""

    name: str
    value: Any
    shape: tuple[int, ...]


def is_given(name: str, given: Mapping[str, Any]) -> bool:
    """Whether an argument is given; None stands for one that may be left out, and is an error for others."""
    return name in given and (given[name] is not None or name not in OPTIONAL)


@cache
def default_value(name: str, shape: tuple[int, ...]) -> Array:
    """What an argument is that is not given: zero, weights one. Not to be written to."""
    return np.ones(shape) if name == "weights" else np.zeros(shape)


class Batch(NamedTuple):
    """Arguments as rows (n or 1, *shape) and the batch's own shape; () is one state."""

    shape: tuple[int, ...]
    rows: tuple[Array, ...]

    @property
    def size(self) -> int:
        """Number of states."""
        return prod(self.shape)

    def restore(self, result: Array) -> Array:
        """A result's rows with the batch's axes back."""
        return result.reshape(self.shape + result.shape[1:])


def batch(arguments: Sequence[Argument]) -> Batch:
    """Check shapes, broadcast leading axes, and make contiguous rows."""
    arrays = [_array(argument) for argument in arguments]
    leads = [a.shape[: a.ndim - len(argument.shape)] for a, argument in zip(arrays, arguments, strict=True)]
    different = set(leads) - {()}
    try:
        # most calls have one shape of batch, and arguments that all its states share
        shape = different.pop() if len(different) == 1 else np.broadcast_shapes(*different)
    except ValueError as error:
        listed = ", ".join(f"{argument.name} {a.shape}" for a, argument in zip(arrays, arguments, strict=True))
        message = f"batch axes do not fit together: {listed}; give equal leading axes, or one state"
        raise InputError(message, code="batch_axes") from error
    rows = []
    for array, lead, argument in zip(arrays, leads, arguments, strict=True):
        if lead != shape and prod(lead) != 1:
            array = np.broadcast_to(array, shape + argument.shape)
        rows.append(np.ascontiguousarray(array).reshape(-1, *argument.shape))
    return Batch(shape, tuple(rows))


def _array(argument: Argument) -> Array:
    value, core = argument.value, argument.shape
    if type(value) is np.ndarray and value.dtype is _DOUBLE and value.shape[value.ndim - len(core) :] == core:
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise InputError(
            f"{argument.name}: got a masked array with masked numbers; fill them or leave those states out",
            code="masked",
        )
    if core == (4, 4):
        value = pose_matrix(value, argument.name)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{argument.name}: an array of numbers is needed, got {type(value).__name__}") from error
    if array.dtype.kind not in "fiu":  # NumPy would also read texts and drop imaginary parts
        got = short_repr(value) if array.dtype.kind in "US" else f"{type(value).__name__} of {array.dtype}"
        raise InputError(f"{argument.name}: an array of real numbers is needed, got {got}")
    array = array.astype(np.float64, copy=False)
    if array.shape[array.ndim - len(core) :] != core or array.ndim < len(core):
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"{argument.name}: shape ({wanted}) is needed, got {array.shape}")
    return array


def pose_matrix(pose: PoseLike, name: str = "pose") -> ArrayLike:
    """A pose as (..., 4, 4): an array, or a SciPy ``RigidTransform``."""
    matrix = pose.as_matrix() if hasattr(pose, "as_matrix") else pose
    try:
        shape = np.shape(matrix)
    except ValueError as error:
        raise InputError(f"{name}: an array of numbers is needed, got {type(pose).__name__}") from error
    if shape[-2:] != (4, 4) and shape[-1:] in ((6,), (7,), (3,)) and shape[-2:] != (3, 3):
        raise InputError(
            f"{name}: matrices (..., 4, 4) are needed, got shape {shape}; polypod.pose(x, y, z, roll, pitch, yaw) "
            "makes them, and scipy.spatial.transform.RigidTransform is taken too",
            code="not_a_pose",
        )
    if shape[-2:] == (3, 3):
        raise InputError(f"{name}: a 4x4 pose or a RigidTransform is needed, got a 3x3 rotation without position")
    return matrix


def all_finite(array: Array) -> bool:
    """Whether no number is NaN or infinite; for a few numbers twice as fast as ``np.isfinite(array).all()``."""
    return b"\0" not in np.isfinite(array).tobytes()


def check_finite(batch_: Batch, arguments: Sequence[Argument]) -> None:
    """Raise if an argument holds NaN or infinity, naming it, the state and the number."""
    for row, argument in zip(batch_.rows, arguments, strict=True):
        if all_finite(row):
            continue
        bad = np.argwhere(~np.isfinite(row))
        if len(bad):
            state, *element = bad[0].tolist()
            where = f"[{', '.join(map(str, element))}]" + (f" of state {state}" if batch_.shape else "")
            raise InputError(f"{argument.name}: finite numbers are needed, got {row[tuple(bad[0])]} at {where}")


# -- what arguments must be -----------------------------------------------------------------------------------------

ROTATION_TOLERANCE = 1e-6
"""Largest entry of R^T R - 1 that is taken for rounding: matrices printed with seven digits pass, slips do not."""


@cache
def rotation_kernel() -> Kernel:
    """How far each pose of a batch is from a rigid displacement, and the pose made exact (to the square of that)."""
    return Kernel(
        _rotation_defect, CacheKey.of("rotation defect", fingerprint("model/arguments.py", "symbols", "platforms"))
    )


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
