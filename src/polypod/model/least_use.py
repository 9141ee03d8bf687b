"""Forces of more actuators than degrees of freedom that use their limits least: the best distribution, exactly.

Forces that hold a load are f = f_0 + N y with N (n, r) the null space of J^T. The least t with |f_i| <= c_i t for all i
is a Chebyshev approximation: by duality it is the largest of |z.f_0|/sum(c_i |z_i|) over vectors z with z^T N = 0, and
one of r + 1 entries that are not zero attains it. Each choice of r + 1 actuators has one such z; there the forces are
+-c_i t, and y follows.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import Array

_UNLIMITED = 1e6
"""What an actuator without a limit may do, over the largest limit of the others."""
_EXACT = 1e-9
"""How far the largest use may be above the least one; beyond it a choice of actuators was degenerate."""


def least_use(force: Array, free: Array, limits: Array, middle: Array | float = 0.0) -> Array:
    """Forces (k, n) whose largest share of the limits (n,) is least, from any forces (k, n) that hold the same load.

    Limits count from ``middle`` (n,) to both sides. ``free`` (k, n, r) is the null space of J^T, orthonormal. Rows that
    are not numbers stay so.
    """
    count, n, r = free.shape
    if r == 0 or not count:
        return force
    finite = np.isfinite(limits)
    size = np.where(finite, limits, _UNLIMITED * limits[finite].max(initial=1e-300))
    size = np.maximum(size, limits[finite].max(initial=0.0) / _UNLIMITED)  # a given force has a range of zero
    given = np.isfinite(force).all(axis=1) & np.isfinite(free).all(axis=(1, 2))
    result = force.copy()
    start, moves = (force[given] - middle) / size, free[given] / size[:, None]
    best, chosen = np.full(len(start), -1.0), np.zeros((len(start), r + 1), dtype=np.int64)
    signs = np.zeros((len(start), r + 1))
    for numbers in combinations(range(n), r + 1):
        picked = list(numbers)
        z = np.linalg.qr(moves[:, picked], mode="complete")[0][..., -1]
        product = (z * start[:, picked]).sum(axis=1)
        use = np.abs(product) / np.abs(z).sum(axis=1)
        better = use > best
        best[better], chosen[better] = use[better], picked
        signs[better] = (np.sign(product)[:, None] * np.sign(z))[better]
    rows = np.arange(len(start))[:, None]
    wanted = signs * best[:, None] - start[rows, chosen]
    amounts = np.linalg.pinv(moves[rows, chosen]) @ wanted[..., None]
    used = start + (moves @ amounts)[..., 0]
    for k in np.flatnonzero(np.abs(used).max(axis=1, initial=0.0) > best * (1 + _EXACT) + 1e-300).tolist():
        used[k] = _by_programming(start[k], moves[k])
    result[given] = used * size + middle
    return result


def _by_programming(start: Array, moves: Array) -> NDArray[np.float64]:
    """start + moves y (n,) with the least largest size, by linear programming."""
    n, r = moves.shape
    ones = np.ones((n, 1))
    rows = np.block([[moves, -ones], [-moves, -ones]])
    found = scipy.optimize.linprog(
        np.r_[np.zeros(r), 1.0], A_ub=rows, b_ub=np.r_[-start, start], bounds=[(None, None)] * r + [(0, None)]
    )
    return start if found.x is None else np.asarray(start + moves @ found.x[:r])
