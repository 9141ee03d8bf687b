"""Matrices whose numbers are not known exactly: whether all of them are regular."""

from __future__ import annotations

import numpy as np

from ...arrays import Array

_SLACK = 1e-11
"""What the products of an interval matrix with an inverse may be off by rounding: 6 x 6 of numbers about 1."""


def regular_sign(middle: Array, radius: Array, derivatives: Array | None = None, vague: Array | None = None) -> Array:
    """Sign (n,) of the determinant of every matrix A = M + sum S_k t_k, |t_k| <= 1, within radii; 0 where not known.

    M (n, k, k) +- ``radius``, ``derivatives`` (n, j, k, k) S +- ``vague``. With C = M^-1 all A are regular if the
    matrix G = |1 - C M| + |C| r + sum |C S_k| + |C| v_k has a positive vector with G v < v. Of matrices (n, l, k) with
    more rows than columns, C = M^+, the sign is 1 where all A have full rank.
    """
    n, k = len(middle), middle.shape[2]
    sign = np.zeros(n)
    if not n or middle.shape[1] < k:
        return sign
    total = radius if vague is None else radius + vague.sum(axis=1)
    good = np.isfinite(middle).all(axis=(1, 2)) & np.isfinite(total).all(axis=(1, 2))
    m, r = middle[good], total[good] * (1 + 1e-14)
    tall = middle.shape[1] > k
    det = np.sqrt(np.linalg.det(m.transpose(0, 2, 1) @ m).clip(0.0)) if tall else np.linalg.det(m)
    fine = np.abs(det) > 1e-12 * np.linalg.norm(m, axis=(1, 2)) ** k
    safe = np.where(fine[:, None, None], m, np.eye(middle.shape[1], k))
    inverse = np.linalg.pinv(safe) if tall else np.linalg.inv(safe)
    rest = np.abs(np.eye(k) - inverse @ m) + np.abs(inverse) @ r
    if derivatives is not None:
        rest += np.abs(inverse[:, None] @ derivatives[good]).sum(axis=1)
    size = np.abs(inverse).sum(axis=2).max(axis=1) * (np.abs(m) + r).sum(axis=1).max(axis=1)
    rest = rest * (1 + 1e-13) + (_SLACK * (1 + size))[:, None, None]
    # a vector near Perron's own shows what the sums of rows do not
    with np.errstate(over="ignore", invalid="ignore"):
        v = np.ones((len(m), k))
        for _ in range(6):
            v = (rest @ v[..., None])[..., 0] + 0.05 * v
            v /= v.max(axis=1, keepdims=True)
        regular = fine & ((rest @ v[..., None])[..., 0] * (1 + 1e-13) < v).all(axis=1)
    sign[good] = np.where(regular, np.sign(det), 0.0)
    return sign


def midpoint_radius(low: Array, high: Array) -> tuple[Array, Array]:
    """Middles and radii of intervals, rounding included."""
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (low + high)
        radius = np.maximum(high - middle, middle - low)
    return middle, radius * (1 + 1e-14) + 1e-15 * np.abs(middle)
