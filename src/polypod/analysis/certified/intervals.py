"""Interval arithmetic of a function in symbols: bounds that hold for every point of a box, rounding included.

Every operation of the function's graph becomes operations on lower and upper ends, each moved outward by more than its
rounding: two units in the last place for arithmetic and roots, eight for functions of the C library. The result is a
function like any other, and compiles to the same vectorised machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...symbols.graph import SELECT, Graph

UNIT = 2.0**-51
"""Twice the distance from 1 to the next double: more than the rounding of an operation, or of a quotient written as a
product with a reciprocal, relative to its result."""
LIBRARY = 8 * UNIT
"""The same of functions of the C library."""
TINY = 1e-300
"""What a result near zero may have lost."""
_AHEAD = 1e-12
"""How much nearer [rad] than they are the extremes of sine and cosine are taken to be."""


class Interval(NamedTuple):
    """Lower and upper end in symbols."""

    low: ca.SX
    high: ca.SX

    @property
    def point(self) -> bool:
        """Whether both ends are one symbol or number."""
        return bool(ca.is_equal(self.low, self.high, 0))


def evaluate_intervals(
    graph: Graph, inputs: list[list[Interval]], under_roots: list[ca.SX] | None = None
) -> list[list[Interval]]:
    """Intervals that hold the graph's outputs for all inputs within intervals.

    The upper ends of what stands under roots are added to ``under_roots``: if one is negative, no point has a value.
    """
    rules = _RULES
    if under_roots is not None:

        def root(a: Interval) -> Interval:
            under_roots.append(a.high)
            return _root(a)

        rules = {**_RULES, ca.OP_SQRT: root}
    return graph.evaluated(inputs, lambda x: Interval(ca.SX(x), ca.SX(x)), rules, "interval arithmetic")


def outward(low: ca.SX, high: ca.SX, unit: float = UNIT) -> Interval:
    """Ends moved outward by a part of their size."""
    return Interval(low - ca.fabs(low) * unit - TINY, high + ca.fabs(high) * unit + TINY)


def mean_value(centre: Interval, derivatives: list[Interval], ways: list[Interval]) -> Interval:
    """f(c) + sum f'_k (x_k - c_k), with derivatives that hold over the whole box: the mean value theorem."""
    total = centre
    for slope, way in zip(derivatives, ways, strict=True):
        step = _product(slope, way)
        total = outward(total.low + step.low, total.high + step.high)
    return total


def within(a: Interval, b: Interval) -> Interval:
    """What two intervals of the same value leave; a without b where b is no number."""
    return Interval(ca.if_else(b.low > a.low, b.low, a.low), ca.if_else(b.high < a.high, b.high, a.high))


def _product(a: Interval, b: Interval) -> Interval:
    if a.point and b.point:
        return outward(a.low * b.low, a.low * b.low)
    if a.point or b.point:
        p, x = (a.low, b) if a.point else (b.low, a)
        if p.is_constant():
            low, high = (x.low, x.high) if float(p) >= 0 else (x.high, x.low)
            return outward(p * low, p * high)
        return outward(ca.fmin(p * x.low, p * x.high), ca.fmax(p * x.low, p * x.high))
    ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]
    low = ca.fmin(ca.fmin(ends[0], ends[1]), ca.fmin(ends[2], ends[3]))
    high = ca.fmax(ca.fmax(ends[0], ends[1]), ca.fmax(ends[2], ends[3]))
    return outward(low, high)


def _square(a: Interval) -> Interval:
    low, high = a.low * a.low, a.high * a.high
    if a.point:
        return outward(low, low)
    across = ca.logic_and(a.low <= 0, a.high >= 0)
    result = outward(ca.fmin(low, high), ca.fmax(low, high))
    return Interval(ca.if_else(across, 0, ca.fmax(result.low, 0)), result.high)


def _inverse(a: Interval) -> Interval:
    """1/a; everything where a may be zero."""
    result = outward(1 / a.high, 1 / a.low)
    across = ca.logic_and(a.low <= 0, a.high >= 0)
    return Interval(ca.if_else(across, -ca.inf, result.low), ca.if_else(across, ca.inf, result.high))


def _root(a: Interval) -> Interval:
    """The square root; a negative part of the argument is left out."""
    result = outward(ca.sqrt(ca.fmax(a.low, 0)), ca.sqrt(ca.fmax(a.high, 0)))
    return Interval(ca.fmax(result.low, 0), result.high)


def _sine(a: Interval) -> Interval:
    """Extremes inside the interval, or its ends."""
    ends = ca.sin(a.low), ca.sin(a.high)
    if a.point:
        return outward(*ends, LIBRARY)
    result = outward(ca.fmin(*ends), ca.fmax(*ends), LIBRARY)

    def holds(extreme: float) -> ca.SX:
        first = ca.ceil((a.low - extreme) / (2 * pi) - _AHEAD)
        return first <= ca.floor((a.high - extreme) / (2 * pi) + _AHEAD)

    return Interval(
        ca.if_else(holds(-pi / 2), -1, ca.fmax(result.low, -1)), ca.if_else(holds(pi / 2), 1, ca.fmin(result.high, 1))
    )


def _cosine(a: Interval) -> Interval:
    half = pi / 2
    return _sine(outward(a.low + half, a.high + half))


def _size(a: Interval) -> Interval:
    low, high = ca.fabs(a.low), ca.fabs(a.high)
    across = ca.logic_and(a.low <= 0, a.high >= 0)
    return Interval(ca.if_else(across, 0, ca.fmin(low, high)), ca.fmax(low, high))


def _angle(y: Interval, x: Interval) -> Interval:
    """atan2: the angles of the corners, or all where the box meets the negative x axis."""
    corners = [ca.atan2(b, a) for b in (y.low, y.high) for a in (x.low, x.high)]
    low = ca.fmin(ca.fmin(corners[0], corners[1]), ca.fmin(corners[2], corners[3]))
    high = ca.fmax(ca.fmax(corners[0], corners[1]), ca.fmax(corners[2], corners[3]))
    result = outward(low, high, LIBRARY)
    cut = ca.logic_and(x.low <= 0, ca.logic_and(y.low <= 0, y.high >= 0))
    return Interval(ca.if_else(cut, -pi - 1e-15, result.low), ca.if_else(cut, pi + 1e-15, result.high))


def _monotone(function: Callable[[ca.SX], ca.SX], falling: bool = False) -> Callable[[Interval], Interval]:
    def rule(a: Interval) -> Interval:
        ends = (function(a.high), function(a.low)) if falling else (function(a.low), function(a.high))
        return outward(*ends, LIBRARY)

    return rule


def _true(sure: ca.SX, possible: ca.SX) -> Interval:
    """Whether something holds: 1, 0, or both ends where a box has points of either kind."""
    return Interval(ca.if_else(sure, 1, 0), ca.if_else(possible, 1, 0))


def _holds(a: Interval) -> tuple[ca.SX, ca.SX]:
    """Whether a number is not zero everywhere in a box, and whether it is so anywhere."""
    return ca.logic_or(a.low > 0, a.high < 0), ca.logic_or(a.low != 0, a.high != 0)


def _negation(a: Interval) -> Interval:
    sure, possible = _holds(a)
    return _true(ca.logic_not(possible), ca.logic_not(sure))


def _joined(both: Callable[[ca.SX, ca.SX], ca.SX]) -> Callable[[Interval, Interval], Interval]:
    def rule(a: Interval, b: Interval) -> Interval:
        return _true(*(both(x, y) for x, y in zip(_holds(a), _holds(b), strict=True)))

    return rule


def _chosen(condition: Interval, a: Interval, b: Interval) -> Interval:
    """The value where a condition holds, else the other; both where a box has points of either kind."""
    sure, possible = _holds(condition)
    low = ca.if_else(sure, a.low, ca.if_else(possible, ca.fmin(a.low, b.low), b.low))
    return Interval(low, ca.if_else(sure, a.high, ca.if_else(possible, ca.fmax(a.high, b.high), b.high)))


_RULES: dict[int, Callable[..., Interval]] = {
    ca.OP_ADD: lambda a, b: outward(a.low + b.low, a.high + b.high),
    ca.OP_SUB: lambda a, b: outward(a.low - b.high, a.high - b.low),
    ca.OP_MUL: _product,
    ca.OP_DIV: lambda a, b: _product(a, _inverse(b)),
    ca.OP_INV: _inverse,
    ca.OP_SQ: _square,
    ca.OP_TWICE: lambda a: Interval(2 * a.low, 2 * a.high),
    ca.OP_NEG: lambda a: Interval(-a.high, -a.low),
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_SQRT: _root,
    ca.OP_SIN: _sine,
    ca.OP_COS: _cosine,
    ca.OP_FABS: _size,
    ca.OP_SIGN: lambda a: Interval(ca.sign(a.low), ca.sign(a.high)),
    ca.OP_ATAN2: _angle,
    ca.OP_ATAN: _monotone(ca.atan),
    ca.OP_ASIN: _monotone(lambda a: ca.asin(ca.fmax(ca.fmin(a, 1), -1))),
    ca.OP_ACOS: _monotone(lambda a: ca.acos(ca.fmax(ca.fmin(a, 1), -1)), falling=True),
    ca.OP_LT: lambda a, b: _true(a.high < b.low, a.low < b.high),
    ca.OP_LE: lambda a, b: _true(a.high <= b.low, a.low <= b.high),
    ca.OP_NOT: _negation,
    ca.OP_AND: _joined(ca.logic_and),
    ca.OP_OR: _joined(ca.logic_or),
    ca.OP_IF_ELSE_ZERO: lambda condition, a: _chosen(condition, a, Interval(ca.SX(0), ca.SX(0))),
    SELECT: _chosen,
    ca.OP_FMIN: lambda a, b: Interval(ca.fmin(a.low, b.low), ca.fmin(a.high, b.high)),
    ca.OP_FMAX: lambda a, b: Interval(ca.fmax(a.low, b.low), ca.fmax(a.high, b.high)),
}
"""What an operation does with intervals."""


# ----------------------------------------------------------------------------------------------------------------------
# Matrices whose numbers are not known exactly: whether all of them are regular.

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


# ----------------------------------------------------------------------------------------------------------------------
# What is said of boxes: inside, outside or neither; and whether values are in their ranges for certain.

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
