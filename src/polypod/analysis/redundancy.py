"""Internal coordinates of redundant robots, chosen by a criterion."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..model import Model
from ..model.arguments import PoseLike, pose_matrix

CRITERIA = ("conditioning", "middle")
_FIRST, _LAST = 0.1, 1e-8
"""First and last step of the search [sizes of the platform, rad]."""
_MOST_ROUNDS = 400


def internal_coordinates(
    model: Model,
    pose: PoseLike,
    criterion: Literal["conditioning", "middle"] = "conditioning",
    start: ArrayLike | None = None,
) -> Array:
    """Internal coordinates of a redundant robot at poses: those that are best by a criterion, within all joint ranges.

    By a compass search from ``start``: steps along every coordinate, halved where none is better. The result is a local
    optimum, the one that ``start`` leads to, within 1e-8 of the platform's size or rad.

    Parameters
    ----------
    model : Model
        Model of a robot with internal coordinates.
    pose : array_like or RigidTransform, shape (..., 4, 4)
        Poses of the platform frame {P} in the base frame {B}.
    criterion : {'conditioning', 'middle'}, optional
        ``conditioning``: smallest condition number of the Jacobian of platform and internal rates. ``middle``: joints
        near the middle of their ranges, the smallest sum of ((q - middle)/(half of the range))^2 over all ranges.
    start : array_like, shape (..., k), optional
        Where the search begins [m, rad]. Default: home.

    Returns
    -------
    ndarray, shape (..., k)
        Internal coordinates [m, rad]; NaN where the legs do not close at ``start``, or joints are out of range there.

    Raises
    ------
    InputError
        If the robot has no internal coordinates, or the criterion needs ranges and it states none.
    """
    if criterion not in CRITERIA:
        raise UnknownNameError("criterion", criterion, CRITERIA)
    if not model.internal:
        raise InputError(
            f"model: {model.robot.name!r} has no internal coordinates to choose; name joints under 'internal' in its "
            "file",
            code="no_internal",
        )
    if criterion == "middle" and not model.kernels.mechanism.limits:
        raise InputError(
            f"criterion: {model.robot.name!r} states no joint ranges, so that joints have no middle; give 'range', or "
            "use 'conditioning'",
            code="no_ranges",
        )
    k = len(model.internal)
    poses = np.asarray(pose_matrix(pose), dtype=np.float64)
    first = np.zeros(k) if start is None else np.asarray(start, dtype=np.float64)
    lead = np.broadcast_shapes(poses.shape[:-2], first.shape[:-1])
    rows = np.ascontiguousarray(np.broadcast_to(poses, (*lead, 4, 4))).reshape(-1, 4, 4)
    s = np.array(np.broadcast_to(first, (*lead, k)), dtype=np.float64).reshape(-1, k)
    scale = np.where(model.mobility.all_turns[-k:], 1.0, model.size)
    value = _value(model, criterion, rows, s)
    s[~np.isfinite(value)] = np.nan
    step = np.where(np.isfinite(value), _FIRST, 0.0)
    ways = np.concatenate([np.eye(k), -np.eye(k)]) * scale
    for _ in range(_MOST_ROUNDS):
        going = np.flatnonzero(step > _LAST)
        if not len(going):
            break
        trial = s[going, None] + step[going, None, None] * ways
        found = _value(model, criterion, np.repeat(rows[going], 2 * k, axis=0), trial.reshape(-1, k)).reshape(-1, 2 * k)
        best = found.argmin(axis=1)
        least = found[np.arange(len(going)), best]
        better = least < value[going]
        moved = going[better]
        s[moved], value[moved] = trial[better, best[better]], least[better]
        step[going[~better]] *= 0.5
    return s.reshape(*lead, k)


def _value(model: Model, criterion: str, poses: Array, s: Array) -> Array:
    """What is to be small (n); infinite where the legs do not close or a joint is out of range."""
    value = np.asarray(model.conditioning(poses, internal=s).condition)
    ranges = model.joint_ranges(poses, internal=s) if model.kernels.mechanism.limits else None
    if ranges is None:
        return np.where(np.isfinite(value), value, np.inf)
    inside = np.isfinite(value) & ranges.inside.all(axis=-1)
    if criterion == "middle":
        half = 0.5 * (ranges.high - ranges.low)
        value = (((ranges.value - 0.5 * (ranges.high + ranges.low)) / half) ** 2).sum(axis=-1)
    return np.where(inside, value, np.inf)
