"""Rounding in results: what is negligible beside the largest value of its kind."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

ROUNDING = 1e-9
"""Relative to the largest value that a quantity has or could have; less is rounding."""


def without_rounding(values: Array, largest: float) -> Array:
    """Values with those that are rounding beside the largest as zeros.

    >>> without_rounding(np.array([-2e-15, 0.0, 30.0]), 30.0)
    array([ 0.,  0., 30.])
    """
    return np.where(np.abs(values) > ROUNDING * largest, values, 0.0)
