"""Expressions at many rows of numbers, by CasADi's interpreter."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def mapped(inputs: list[ca.SX], expression: ca.SX, *rows: Array) -> Array:
    """An expression (r, c) of ``inputs`` at n rows (n, k) of each, (n, r, c)."""
    dense = ca.densify(ca.SX(expression))
    function = ca.Function("values", inputs, [dense])
    found = np.array(function(*(np.ascontiguousarray(row.T) for row in rows)))
    # inputs without numbers say nothing of how many rows there are
    count = len(rows[0]) if found.shape[1] == len(rows[0]) * dense.size2() else 1
    stacked = found.reshape(dense.size1(), count, dense.size2()).transpose(1, 0, 2)
    return np.broadcast_to(stacked, (len(rows[0]), *dense.shape))
