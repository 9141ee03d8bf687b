"""What is said of boxes: inside, outside or neither; and whether values are in their ranges for certain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array

Mask = NDArray[np.bool_]


class Verdict(NamedTuple):
    """Of n boxes: every pose is in the workspace (n,), none is (n,); neither is known where both are false.

    ``regular`` (n,): the legs close and det J has the sign that it has at home in every pose, so in every part too.
    """

    inside: Mask
    outside: Mask
    regular: Mask


def in_ranges(low: Array, high: Array, ranges: Array, angles: Mask) -> tuple[Mask, Mask]:
    """Whether all values between ends (n, k) are in ``ranges`` (k, 2), and whether one is out of them, both (n,).

    The cosines of ``angles`` (k,) have no upper end. Ends of ranges that are computed may be off by rounding.
    """
    least, most = ranges[:, 0], np.where(angles, np.inf, ranges[:, 1])
    edge = 4e-16 * np.abs(ranges).max(axis=1, initial=0.0)
    kept = ((low >= least + edge) & (high <= most - edge)).all(axis=1)
    return kept, ((high < least - edge) | (low > most + edge)).any(axis=1)
