"""Smale's alpha test for systems of quadrics, by numbers: the same bounds in double and in extended precision.

beta = |J^-1 f| and gamma = |J^-1 f''|/2 (f'' is constant). If alpha = beta gamma < (13 - 3 sqrt 17)/4, Newton's
iteration converges from x to a solution no farther than 2 beta (Blum, Cucker, Shub and Smale 1998, chapter 8; here in
the largest of the components). With Y near J^-1 and E = |1 - Y J| < 1, beta <= |Y f|/(1 - E) and gamma <= |Y
f''|/2/(1 - E).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_ALPHA = (13 - 3 * sqrt(17)) / 4
ROUNDING_UP = 1 + 1e-12
"""What sums of some hundred positive numbers may lose to rounding."""


def sizes(z: NDArray[Any]) -> NDArray[Any]:
    """|re| + |im|, no smaller than |z|."""
    return np.asarray(np.abs(z.real) + np.abs(z.imag))


def inverses(matrices: NDArray[Any]) -> NDArray[Any]:
    """Inverses (m, n, n) in double precision, which is near enough for Y; NaN where there is none."""
    plain = matrices.astype(np.complex128, copy=False)
    good: NDArray[np.bool_] = np.asarray(np.isfinite(plain).all(axis=(1, 2)))
    good[good] = np.abs(np.linalg.det(plain[good])) > 0
    result = np.full(matrices.shape, np.nan, dtype=matrices.dtype)
    result[good] = np.linalg.inv(plain[good])
    return result


def alpha_and_radius(
    beta: NDArray[Any], gamma: NDArray[Any], defect: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bounds (m,) of alpha and of the distance 2 beta to the solution.

    ``beta`` and ``gamma`` (m,) are the bounds |Y f| and |Y f''|/2, ``defect`` (m,) is the bound E, all with roundings.
    """
    left = 1 - defect * ROUNDING_UP
    with np.errstate(all="ignore"):
        alpha = np.where(left > 0, ROUNDING_UP * beta * gamma / left**2, np.inf)
        return alpha, 2 * ROUNDING_UP * beta / left
