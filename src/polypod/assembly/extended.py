"""The certificate in extended precision, for the few solutions that leave doubt: so near a singularity that double does
not decide, or of a symmetric robot, where elimination without exchanging rows divides by zero.

Written with NumPy's ``clongdouble``: 64 bits of mantissa on x86, no more than double elsewhere, where doubt then
remains. The bounds are those of :mod:`polypod.assembly.certificate` with that precision's rounding; charts are rotated
anew in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .chart import Chart
from .contract import ComplexArray
from .smale import alpha_and_radius, inverses, sizes

Long = NDArray[np.longdouble]
LongComplex = NDArray[np.clongdouble]
_ROUNDINGS = 32 * np.finfo(np.longdouble).eps
_STEPS = 4


class Refined(NamedTuple):
    """Unknowns (n, 7), alpha and radius (n,)."""

    x: ComplexArray
    alpha: Array
    radius: Array


def polished_extended(chart: Chart, x: ComplexArray, squares: Array, base: Array | None = None) -> Refined:
    """Unknowns (n, 7) polished at squared distances (n, 6), and their certificate.

    ``base`` (n, 6, 3) are base joints instead of the chart's own, not rotated. The radius counts the rounding to double
    precision.
    """
    a, b = chart.rotated(base, np.longdouble)
    z, s = x.astype(np.clongdouble), squares.astype(np.longdouble)
    lengths: Any = np.concatenate([s[:, :1] - s[:, 1:] + ((a + b) ** 2).sum(axis=-1)[..., 1:], s[:, :1]], axis=1) / 4
    a, b = a[..., 1:, :], b[1:]
    for _ in range(_STEPS):
        f, matrix = _equations(z, lengths, a, b)
        z = z - _times(inverses(matrix), f)
    f, matrix = _equations(z, lengths, a, b)
    inverse = inverses(matrix)
    value, slope, square = _terms(z, lengths, a, b)
    weights = sizes(inverse)
    beta = _times(weights, sizes(f) + _ROUNDINGS * value).max(axis=1)
    gamma = _times(weights, square).max(axis=1)
    near = np.einsum("nij,njk->nik", inverse, matrix)
    defect = sizes(near - np.eye(7)).sum(axis=2) + 2 * _ROUNDINGS * _times(weights, slope)
    alpha, radius = alpha_and_radius(beta, gamma, defect.max(axis=1))
    with np.errstate(all="ignore"):
        radius = radius + sizes(z).max(axis=1) * np.finfo(float).eps
    return Refined(z.astype(np.complex128), alpha.astype(np.float64), radius.astype(np.float64))


def _times(matrices: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((matrices * vectors[:, None, :]).sum(axis=2))


def _equations(x: LongComplex, lengths: Long, a: Long, b: Long) -> tuple[LongComplex, LongComplex]:
    """f (n, 7) and its derivatives (n, 7, 7), as :mod:`polypod.assembly.distance_equations` has them."""
    g0, g, e = x[:, :1], x[:, 1:4], x[:, 4:]
    d, s, normal, product = b - a, a + b, np.cross(b, a), (a * b).sum(axis=-1)
    kappa, first = lengths[:, :5], lengths[:, 5:]
    norm = 1 + (e * e).sum(axis=1, keepdims=True)
    linear = g0[:, :, None] * d + np.cross(g[:, None], s) + (e @ b.T)[:, :, None] * a
    struts = kappa * norm - product + (g[:, None] * d).sum(axis=2) - (e[:, None] * (linear + normal)).sum(axis=2)
    study, last = g0 + (e * g).sum(axis=1, keepdims=True), g0 * g0 + (g * g).sum(axis=1, keepdims=True) - first * norm
    matrix = np.zeros((len(x), 7, 7), dtype=np.clongdouble)
    matrix[:, 0] = np.concatenate([np.ones_like(g0), e, g], axis=1)
    matrix[:, 1:6, 0] = -(e[:, None] * d).sum(axis=2)
    matrix[:, 1:6, 1:4] = d - np.cross(s, e[:, None])
    matrix[:, 1:6, 4:] = (
        2 * kappa[:, :, None] * e[:, None] - linear - normal - (e[:, None] * a).sum(axis=2)[:, :, None] * b
    )
    matrix[:, 6] = np.concatenate([2 * g0, 2 * g, -2 * first * e], axis=1)
    return np.concatenate([study, struts, last], axis=1), matrix


def _terms(x: LongComplex, lengths: Long, a: Long, b: Long) -> tuple[Long, Long, Long]:
    """Bounds (n, 7) of the sums of sizes of terms, of derivatives' terms and of quadratic coefficients."""
    own = sizes(x)
    g0, g, e = own[:, :1], own[:, 1:4].sum(axis=1)[:, None], own[:, 4:].sum(axis=1)[:, None]
    one, two = np.abs(a).sum(axis=-1), np.abs(b).sum(axis=-1)
    both, product, kappa, first = one + two, one * two, np.abs(lengths[:, :5]), np.abs(lengths[:, 5:])
    norm, kappa_error = 1 + e * e, kappa + 2 * first + both * both
    value = kappa_error * norm + product * (1 + e + e * e) + both * (g + e * g0 + e * g)
    slope = both * (1 + 3 * e + g0 + 2 * g) + 2 * kappa_error * e + 2 * product * (1 + e)
    square = 3 * kappa + 3 * both + product
    rows = (
        (g0 + e * g, value, g0 * g0 + g * g + first * norm),
        (1 + e + g, slope, 2 * (g0 + g + first * e)),
        (3 * np.ones_like(g0), square, 4 + 3 * first),
    )
    values = [np.concatenate(row, axis=1) for row in rows]
    return values[0], values[1], values[2]
