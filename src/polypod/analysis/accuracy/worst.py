"""Bounds of the platform's errors that nothing within the tolerances exceeds, for certain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, StateError
from ...model import Model
from ...model.arguments import PoseLike
from ...parameters.paths import matching_paths, value_at
from ..tolerances import Tolerances
from .sources import inverse_jacobian, pose_batch, sources_of

Array = NDArray[np.float64]
_UNITS = 64 * 2.0**-52
"""What a unit vector between two places may be off by, times their distance from the origin over that between them."""
_SLACK = 1e-12
"""What sums of products may have lost."""


class Worst(NamedTuple):
    """Bounds (6) [m, rad] that no error within the tolerances exceeds, rounding included."""

    bound: Array


def worst_case(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Worst:
    """Bounds of the displacement for all errors within the tolerances, second order and beyond counted.

    Of robots on six struts whose lengths are actuated (UPS), for tolerances of their joints' places and coordinates.
    A strut's length changes by n.d + r, 0 <= r <= |d|^2/(2 (l - |d|)), for a displacement d between its ends. If for a
    box |x| <= e the first-order errors and these rests, times |C| of an approximate inverse C of J, and |1 - C J| e
    stay within e, the box holds a pose (Brouwer). The rounding of J, of C and of all sums is counted.
    """
    poses, shape = pose_batch(model, pose)
    if shape:
        raise InputError(f"worst_case: one pose is needed, got a batch of shape {shape}")
    struts = _strut_data(model, tolerances, poses[0])
    solved = inverse_jacobian(model, poses)[0]
    inverse = np.abs(solved)
    # J and dq/dp are unit vectors and their moments, off by the rounding of differences of places
    jacobian = np.asarray(model.jacobian(poses))[0]
    rounded = _UNITS * struts.scale / struts.length
    left = np.abs(np.eye(6) - solved @ jacobian) + inverse @ (rounded[:, None] * (1 + np.abs(jacobian))) + _SLACK
    linear = np.zeros(6)
    for source in sources_of(model, tolerances, poses):
        columns = source.columns[0]
        moved = np.abs(solved @ columns) + inverse @ (rounded[:, None] * (1 + np.abs(columns)))
        linear += moved.sum(axis=1) * source.tolerance.bound * (1 + _SLACK)
    box = 1.01 * linear + 1e-15
    for _ in range(60):
        needed = _needed(linear, left, inverse, struts, box)
        if not np.isfinite(needed).all():
            break
        if (needed <= box).all():
            # the box is sent into the one that is needed, which therefore holds the pose as well
            for _ in range(5):
                needed = _needed(linear, left, inverse, struts, needed)
            return Worst(needed)
        box = 1.05 * np.maximum(box, needed)
    raise StateError("worst_case: no bound was found: the errors are too large for this pose, which may be singular")


def _needed(linear: Array, left: Array, inverse: Array, struts: _Struts, box: Array) -> Array:
    """The box (6) that displacements of a box are sent into."""
    return np.asarray((linear + left @ box + inverse @ struts.rest(box)) * (1 + _SLACK))


class _Struts(NamedTuple):
    """Lengths (6) of the struts, arms (6) of the platform's joints, bounds (6) of errors of both joints [m].

    ``scale`` is the largest distance that places are measured from.
    """

    length: Array
    arm: Array
    base: Array
    platform: Array
    scale: float

    def rest(self, box: Array) -> Array:
        """What the lengths change by beyond first order, at most, for displacements in a box (6)."""
        move, turn = np.linalg.norm(box[:3]), np.linalg.norm(box[3:])
        reach = move + turn * self.arm + self.base + self.platform
        with np.errstate(divide="ignore", invalid="ignore"):
            curved = np.where(reach < self.length, reach**2 / (2 * (self.length - reach)), np.inf)
        return np.asarray((curved + 0.5 * turn**2 * self.arm + turn * self.platform) * (1 + 1e-12))


def _strut_data(model: Model, tolerances: Tolerances, pose: Array) -> _Struts:
    legs = model.robot.legs
    if not model.mobility.full or len(legs) != 6 or any(leg.kind != "UPS" for leg in legs):
        raise InputError(
            f"worst_case: bounds of all orders are known for six UPS legs; {model.robot.name!r} has others. A budget's "
            "bound is of first order"
        )
    wide: dict[str, Array] = {"base": np.zeros((6, 3)), "platform": np.zeros((6, 3))}
    listed = [(pattern, t.bound, False) for pattern, t in tolerances.numbers.items()]
    listed += [(p, g.expansion * g.temperature.bound, True) for g in tolerances.growth for p in g.numbers]
    for pattern, bound, relative in listed:
        for path in matching_paths(model.robot, pattern):
            parts = path.split(".")
            if len(parts) != 3 or parts[2] not in wide:
                raise InputError(f"worst_case: no bound for errors of {path}; only of base and platform joints")
            own = np.abs(np.array(value_at(model.robot, path))) if relative else 1.0
            wide[parts[2]][int(parts[1])] += bound * own
    arm = np.linalg.norm(model.robot.attachments, axis=1)
    q = np.asarray(model.inverse_kinematics(pose))
    base, platform = (np.linalg.norm(wide[name], axis=1) for name in ("base", "platform"))
    scale = float(np.abs([getattr(leg, "base", 0.0) for leg in legs]).max() + arm.max() + np.abs(pose[:3, 3]).max())
    return _Struts(q, arm, base, platform, scale)
