"""First-order models of a function in symbols: f = c + sum g_j t_j +- r for all |t_j| <= 1, rounding included.

Every operation of the function's graph becomes operations on such models. What depends on the same t_j cancels as it
should, so that bounds are off by second order only, where plain intervals lose a part of the box's size at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ...symbols.graph import Graph

_UNIT = 2.0**-51
"""Twice the distance from 1 to the next double: more than the rounding of an operation, relative to its result."""
_LIBRARY = 8 * _UNIT
_TINY = 1e-300


@dataclass(frozen=True)
class Affine:
    """``middle`` c, ``slopes`` g, ``rest`` r, and a bound of what the value is off its middle, sum |g_j| + r."""

    middle: ca.SX
    slopes: tuple[ca.SX, ...]
    rest: ca.SX
    spread: ca.SX

    @staticmethod
    def of(middle: ca.SX, slopes: tuple[ca.SX, ...], rest: ca.SX, unit: float = _UNIT) -> Affine:
        """With the rounding of the middle and of the slopes added to the rest."""
        size = sum((ca.fabs(slope) for slope in slopes), ca.SX(0))
        more = (rest + unit * (ca.fabs(middle) + size)) * (1 + 8 * _UNIT) + _TINY
        return Affine(middle, slopes, more, (size + more) * (1 + 8 * _UNIT))

    @staticmethod
    def exact(middle: ca.SX, slopes: tuple[ca.SX, ...], rest: ca.SX | float = 0.0) -> Affine:
        """An affine form without a rounding error of its own: middle, slopes and remainder exactly as given."""
        size = sum((ca.fabs(slope) for slope in slopes), ca.SX(0))
        return Affine(middle, slopes, ca.SX(rest), (size + rest) * (1 + 8 * _UNIT))


def modelled(graph: Graph, inputs: list[list[Affine]]) -> list[list[Affine]]:
    """Models of the graph's outputs for models of its inputs, all over the same t."""
    still = (ca.SX(0),) * len(inputs[0][0].slopes)
    return graph.evaluated(inputs, lambda x: Affine.exact(ca.SX(x), still), _RULES, "first-order models")


def _sum(a: Affine, b: Affine) -> Affine:
    slopes = tuple(p + q for p, q in zip(a.slopes, b.slopes, strict=True))
    return Affine.of(a.middle + b.middle, slopes, a.rest + b.rest)


def _scaled(a: Affine, by: float) -> Affine:
    """Times a power of two or its negative, which is exact."""
    size = abs(by)
    return Affine(by * a.middle, tuple(by * g for g in a.slopes), size * a.rest, size * a.spread)


def _product(a: Affine, b: Affine) -> Affine:
    slopes = tuple(a.middle * q + b.middle * p for p, q in zip(a.slopes, b.slopes, strict=True))
    rest = ca.fabs(a.middle) * b.rest + ca.fabs(b.middle) * a.rest + a.spread * b.spread
    return Affine.of(a.middle * b.middle, slopes, rest)


def _square(a: Affine) -> Affine:
    twice = 2 * a.middle
    rest = ca.fabs(twice) * a.rest + a.spread * a.spread
    return Affine.of(a.middle * a.middle, tuple(twice * g for g in a.slopes), rest)


def _smooth(a: Affine, value: ca.SX, slope: ca.SX, curve: ca.SX, valid: ca.SX | None = None) -> Affine:
    """f(c) + f'(c) (x - c) and at most ``curve`` more, where that is ``valid``."""
    rest = ca.fabs(slope) * a.rest + curve
    if valid is not None:
        rest = ca.if_else(valid, rest, ca.inf)
    return Affine.of(value, tuple(slope * g for g in a.slopes), rest, _LIBRARY)


def _inverse(a: Affine) -> Affine:
    """1/(c + d) = 1/c - d/c^2 + d^2/(c^2 (c + d))."""
    inverse, least = 1 / a.middle, ca.fabs(a.middle) * (1 - _LIBRARY) - a.spread
    square = inverse * inverse
    return _smooth(a, inverse, -square, a.spread * a.spread * square / least, least > 0)


def _root(a: Affine) -> Affine:
    root, least = ca.sqrt(a.middle), a.middle * (1 - _LIBRARY) - a.spread
    lowest = ca.sqrt(ca.fmax(least, _TINY))
    curve = 0.125 * a.spread * a.spread / (lowest * lowest * lowest) * (1 + _LIBRARY)
    return _smooth(a, root, 0.5 / root, curve, least > 0)


def _sine(a: Affine) -> Affine:
    return _smooth(a, ca.sin(a.middle), ca.cos(a.middle), 0.5 * a.spread * a.spread)


def _cosine(a: Affine) -> Affine:
    return _smooth(a, ca.cos(a.middle), -ca.sin(a.middle), 0.5 * a.spread * a.spread)


def _arc_tangent(a: Affine) -> Affine:
    """The second derivative is at most 3 sqrt(3)/8."""
    return _smooth(a, ca.atan(a.middle), 1 / (1 + a.middle * a.middle), 0.33 * a.spread * a.spread)


def _arc_sine(a: Affine) -> Affine:
    """The second derivative x/(1 - x^2)^(3/2) grows with |x|."""
    most = ca.fabs(a.middle) + a.spread
    left = 1 - most * most
    curve = 0.5 * a.spread * a.spread * most / (left * ca.sqrt(ca.fmax(left, _TINY))) * (1 + _LIBRARY)
    slope = 1 / ca.sqrt(1 - a.middle * a.middle)
    return _smooth(a, ca.asin(a.middle), slope, curve, left > _LIBRARY)


def _arc_cosine(a: Affine) -> Affine:
    sine = _arc_sine(a)
    middle = ca.acos(a.middle)
    return Affine.of(middle, tuple(-g for g in sine.slopes), sine.rest, _LIBRARY)


def _angle(y: Affine, x: Affine) -> Affine:
    """atan2: its second derivatives are at most 1/rho^2, rho the least distance from the origin."""
    square = x.middle * x.middle + y.middle * y.middle
    off = (x.spread * x.spread + y.spread * y.spread) * (1 + _LIBRARY)
    least = ca.sqrt(square) * (1 - _LIBRARY) - ca.sqrt(off)
    p, q = x.middle / square, y.middle / square
    slopes = tuple(p * b - q * a for a, b in zip(x.slopes, y.slopes, strict=True))
    rest = ca.fabs(p) * y.rest + ca.fabs(q) * x.rest + 0.5 * off / (least * least)
    # a box that meets the negative x axis has angles of both ends
    apart = ca.logic_or(x.middle > x.spread, ca.fabs(y.middle) > y.spread)
    sure = ca.logic_and(least > 0, apart)
    return Affine.of(ca.atan2(y.middle, x.middle), slopes, ca.if_else(sure, rest, ca.inf), _LIBRARY)


def _size(a: Affine) -> Affine:
    """|x|, which is off |c| by no more than x is off c."""
    sure, sign = ca.fabs(a.middle) > a.spread, ca.sign(a.middle)
    slopes = tuple(ca.if_else(sure, sign * g, 0) for g in a.slopes)
    return Affine.of(ca.fabs(a.middle), slopes, ca.if_else(sure, a.rest, a.spread))


def _difference(a: Affine, b: Affine) -> Affine:
    return _sum(a, _scaled(b, -1.0))


_RULES: dict[int, Callable[..., Affine]] = {
    ca.OP_ADD: _sum,
    ca.OP_SUB: _difference,
    ca.OP_MUL: _product,
    ca.OP_DIV: lambda a, b: _product(a, _inverse(b)),
    ca.OP_INV: _inverse,
    ca.OP_SQ: _square,
    ca.OP_TWICE: lambda a: _scaled(a, 2.0),
    ca.OP_NEG: lambda a: _scaled(a, -1.0),
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_SQRT: _root,
    ca.OP_SIN: _sine,
    ca.OP_COS: _cosine,
    ca.OP_FABS: _size,
    ca.OP_ATAN2: _angle,
    ca.OP_ATAN: _arc_tangent,
    ca.OP_ASIN: _arc_sine,
    ca.OP_ACOS: _arc_cosine,
    ca.OP_FMIN: lambda a, b: _scaled(_difference(_sum(a, b), _size(_difference(a, b))), 0.5),
    ca.OP_FMAX: lambda a, b: _scaled(_sum(_sum(a, b), _size(_difference(a, b))), 0.5),
}
"""What an operation does with models."""
