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

from ...symbols.graph import Graph

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
    ca.OP_FMIN: lambda a, b: Interval(ca.fmin(a.low, b.low), ca.fmin(a.high, b.high)),
    ca.OP_FMAX: lambda a, b: Interval(ca.fmax(a.low, b.low), ca.fmax(a.high, b.high)),
}
"""What an operation does with intervals."""
