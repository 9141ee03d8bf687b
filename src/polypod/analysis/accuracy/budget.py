"""The error budget: standard deviations and bounds by cause, to first order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model import Model
from ...model.arguments import PoseLike
from ..tolerances import Tolerances
from .sources import inverse_jacobian, pose_batch, sources_of

Array = NDArray[np.float64]


class Budget(NamedTuple):
    """Errors of the platform [m, rad] by cause, to first order.

    ``deviation`` (..., 6) is the standard deviation of each component, ``bound`` (..., 6) the largest possible (of
    normal distributions, at three standard deviations). ``parts`` (..., s, 6) are the standard deviations by source,
    ``share`` (..., s) their part of the variance of the displacement, rotations weighted by the platform's size;
    ``names`` (s). Sources stand in the order of their share at the first pose, largest first.
    """

    deviation: Array
    bound: Array
    parts: Array
    share: Array
    names: tuple[str, ...]


def budget(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Budget:
    """The error budget at poses (..., 4, 4), home unless given: x = J^-1 (dq - (dq/dp) dp)."""
    poses, shape = pose_batch(model, pose)
    sources = sources_of(model, tolerances, poses)
    inverse = inverse_jacobian(model, poses)
    weight = np.r_[np.ones(3), np.full(3, model.size)] ** 2
    parts, bounds = [], []
    for source in sources:
        moved = model.mobility.basis @ inverse @ source.columns
        parts.append(np.sqrt((moved * moved).sum(axis=2)) * source.tolerance.deviation)
        bounds.append(np.abs(moved).sum(axis=2) * source.tolerance.bound)
    listed = np.stack(parts, axis=1)
    variance = (listed * listed * weight).sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = variance / variance.sum(axis=1, keepdims=True)
    order = np.argsort(-share[0], kind="stable") if len(share) else np.arange(len(sources))
    names = tuple(sources[k].name for k in order)
    deviation = np.sqrt((listed * listed).sum(axis=1))
    s = len(sources)
    return Budget(
        deviation.reshape(*shape, 6),
        np.sum(bounds, axis=0).reshape(*shape, 6),
        listed[:, order].reshape(*shape, s, 6),
        share[:, order].reshape(*shape, s),
        names,
    )
