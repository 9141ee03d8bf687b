"""Forces at the limit of a drive: values that stand still at a channel's largest or smallest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

BAND = 8.0
"""A top within so many times a channel's noise is looked at."""
LONG = 16
"""Samples that a top lasts at least, to count as one and not as a peak."""


def clipped(force: Array) -> NDArray[np.bool_]:
    """Samples (n, a) that have a channel's largest or smallest value itself, three samples or more in a row."""
    found = np.zeros(force.shape, dtype=bool)
    for k, column in enumerate(force.T):
        finite = column[np.isfinite(column)]
        if len(finite) == 0 or np.ptp(finite) == 0:
            continue
        for end in (finite.max(), finite.min()):
            at = column == end
            if (at[2:] & at[1:-1] & at[:-2]).any():
                found[:, k] |= at
    return found


def flat_tops(force: Array) -> NDArray[np.bool_]:
    """Samples (n, a) of flat tops and bottoms under noise: candidates of a drive at its limit.

    Of a peak the middle half of what lies within :data:`BAND` times the noise stands 4 sigma above its outer half, as
    of any parabola; of a flat top both are level.
    """
    found = np.zeros(force.shape, dtype=bool)
    for k, column in enumerate(force.T):
        if len(column) < 4 * LONG:
            continue
        # third differences of a smooth curve are noise: their variance is 20 times its
        noise = float(np.median(np.abs(np.diff(column, 3)))) / 0.6745 / np.sqrt(20)
        if not 0 < BAND * noise < 0.2 * np.ptp(column):
            continue
        for sign in (1.0, -1.0):
            found[:, k] |= _flat(sign * column, noise)
    return found


def _flat(x: Array, noise: float) -> NDArray[np.bool_]:
    """Samples (n,) at the level of a flat top, if the longest top is flat."""
    near = np.concatenate([[False], x > x.max() - BAND * noise, [False]])
    edges = np.flatnonzero(np.diff(near.astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    top = x[starts[longest] : ends[longest]]
    quarter = len(top) // 4
    level = float(top[quarter : len(top) - quarter].mean()) if len(top) >= LONG else np.inf
    outer = float(np.concatenate([top[:quarter], top[len(top) - quarter :]]).mean()) if quarter else -np.inf
    return np.asarray(x > level - 4 * noise) if level - outer < noise else np.zeros(len(x), dtype=bool)
