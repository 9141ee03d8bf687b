"""Bounds of piecewise polynomials: of their rates everywhere, and of their fourth derivatives near a time."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from ..arrays import Array
from .contract import HigherDerivatives

_CELLS = 256
"""Cells of a piece: a rate is bounded to the change of it within half a cell."""


def polynomial_peak(curve: Any, breaks: Array, degree: int) -> Array:
    """Bounds (k,) of |xdot| of a SciPy piecewise polynomial of a ``degree`` whose pieces meet at ``breaks`` (m + 1,).

    No instant is farther than h/2 from the middle of a cell of length h, so that |x^(n)| is at most its largest value
    at middles plus h/2 times a bound of |x^(n+1)|; the last derivative is constant within a piece.
    """
    span = np.diff(breaks)
    middles = breaks[:-1, None] + span[:, None] * (np.arange(_CELLS) + 0.5) / _CELLS
    reach = (0.5 * span / _CELLS)[:, None]
    bound: Array = np.zeros((len(span), np.size(curve(breaks[0]))))
    for order in range(degree, 0, -1):
        values = np.abs(curve(middles, order)).reshape(len(span), _CELLS, -1).max(axis=1)
        bound = values + reach * bound
    return np.asarray(bound.max(axis=0))


def polynomial_higher_derivatives(curve: Any, degree: int, t: Array, half: Array) -> HigherDerivatives:
    """The third derivative at times t (n,), and bounds of the fourth within t +- half: sum |x^(4+j)| h^j/j!."""
    third = np.asarray(curve(t, 3))
    shape = (-1,) + (1,) * (third.ndim - 1)
    orders = range(4, degree + 1)
    parts = [np.abs(curve(t, order)) * (half ** (order - 4) / factorial(order - 4)).reshape(shape) for order in orders]
    return third, np.asarray(sum(parts, np.zeros_like(third)))
