"""First-order models of a function: f = c + sum g_j t_j +- r for all |t_j| <= 1, rounding included.

Every operation of the function's graph becomes operations on such models. What depends on the same t_j cancels as it
should, so that bounds are off by second order only, where plain intervals lose a part of the box's size at each step.

Numbers are symbols, for functions that are compiled, or arrays, for graphs that are evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from ...symbols.graph import Graph
from .intervals import LIBRARY, TINY, UNIT

Number = Any
"""A symbol, a number or an array."""
_ARRAYS = SimpleNamespace(
    fabs=np.abs, sqrt=np.sqrt, sin=np.sin, cos=np.cos, exp=np.exp, atan=np.arctan, asin=np.arcsin, acos=np.arccos,
    atan2=np.arctan2, sign=np.sign, fmax=np.fmax, fmin=np.fmin, logic_and=np.logical_and, logic_or=np.logical_or,
    if_else=np.where,
)  # fmt: skip
"""Functions of arrays by the names that they have for symbols."""


def _of(number: Number) -> Any:
    return ca if isinstance(number, ca.SX) else _ARRAYS


@dataclass(frozen=True)
class Affine:
    """``middle`` c, ``derivatives`` g, ``remainder`` r, and ``radius`` sum |g_j| + r: what the value is off its
    middle."""

    middle: Number
    derivatives: tuple[Number, ...]
    remainder: Number
    radius: Number

    @staticmethod
    def of(middle: Number, derivatives: tuple[Number, ...], rest: Number, unit: float = UNIT) -> Affine:
        """With the rounding of the middle and of the derivatives added to the remainder."""
        size = sum(abs(slope) for slope in derivatives)
        more = (rest + unit * (abs(middle) + size)) * (1 + 8 * UNIT) + TINY
        return Affine(middle, derivatives, more, (size + more) * (1 + 8 * UNIT))

    @staticmethod
    def exact(middle: Number, derivatives: tuple[Number, ...], rest: Number = 0.0) -> Affine:
        """An affine form without a rounding error of its own: middle, derivatives and remainder exactly as given."""
        size = sum(abs(slope) for slope in derivatives)
        return Affine(middle, derivatives, rest, (size + rest) * (1 + 8 * UNIT))


def evaluate_affine(graph: Graph, inputs: list[list[Affine]]) -> list[list[Affine]]:
    """Models of the graph's outputs for models of its inputs, all over the same t; arrays or symbols."""
    first = inputs[0][0]
    number: Callable[[float], Number] = ca.SX if isinstance(first.middle, ca.SX) else np.float64
    still = (number(0.0),) * len(first.derivatives)
    return graph.evaluated(inputs, lambda x: Affine.exact(number(x), still), _RULES, "first-order models")


def _sum(a: Affine, b: Affine) -> Affine:
    derivatives = tuple(p + q for p, q in zip(a.derivatives, b.derivatives, strict=True))
    return Affine.of(a.middle + b.middle, derivatives, a.remainder + b.remainder)


def _scaled(a: Affine, by: float) -> Affine:
    """Times a power of two or its negative, which is exact."""
    size = abs(by)
    return Affine(by * a.middle, tuple(by * g for g in a.derivatives), size * a.remainder, size * a.radius)


def _product(a: Affine, b: Affine) -> Affine:
    derivatives = tuple(a.middle * q + b.middle * p for p, q in zip(a.derivatives, b.derivatives, strict=True))
    # derivatives are sums, whose rounding is relative to their terms
    p, q = a.remainder + UNIT * a.radius, b.remainder + UNIT * b.radius
    return Affine.of(a.middle * b.middle, derivatives, abs(a.middle) * q + abs(b.middle) * p + a.radius * b.radius)


def _square(a: Affine) -> Affine:
    twice = 2 * a.middle
    rest = abs(twice) * a.remainder + a.radius * a.radius
    return Affine.of(a.middle * a.middle, tuple(twice * g for g in a.derivatives), rest)


def _smooth(a: Affine, value: Number, slope: Number, curve: Number, valid: Number = None) -> Affine:
    """f(c) + f'(c) (x - c) and at most ``curve`` more, where that is ``valid``."""
    rest = abs(slope) * a.remainder + curve
    if valid is not None:
        rest = _of(rest).if_else(valid, rest, np.inf)
    return Affine.of(value, tuple(slope * g for g in a.derivatives), rest, LIBRARY)


def _inverse(a: Affine) -> Affine:
    """1/(c + d) = 1/c - d/c^2 + d^2/(c^2 (c + d))."""
    inverse, least = 1 / a.middle, abs(a.middle) * (1 - LIBRARY) - a.radius
    square = inverse * inverse
    return _smooth(a, inverse, -square, a.radius * a.radius * square / least, least > 0)


def _root(a: Affine) -> Affine:
    on = _of(a.middle)
    root, least = on.sqrt(a.middle), a.middle * (1 - LIBRARY) - a.radius
    lowest = on.sqrt(on.fmax(least, TINY))
    curve = 0.125 * a.radius * a.radius / (lowest * lowest * lowest) * (1 + LIBRARY)
    return _smooth(a, root, 0.5 / root, curve, least > 0)


def _sine(a: Affine) -> Affine:
    on = _of(a.middle)
    return _smooth(a, on.sin(a.middle), on.cos(a.middle), 0.5 * a.radius * a.radius)


def _cosine(a: Affine) -> Affine:
    on = _of(a.middle)
    return _smooth(a, on.cos(a.middle), -on.sin(a.middle), 0.5 * a.radius * a.radius)


def _exponential(a: Affine) -> Affine:
    """The second derivative grows with x."""
    on = _of(a.middle)
    value = on.exp(a.middle)
    return _smooth(a, value, value, 0.5 * a.radius * a.radius * on.exp(a.middle + a.radius) * (1 + LIBRARY))


def _arc_tangent(a: Affine) -> Affine:
    """The second derivative is at most 3 sqrt(3)/8."""
    return _smooth(a, _of(a.middle).atan(a.middle), 1 / (1 + a.middle * a.middle), 0.33 * a.radius * a.radius)


def _arc_sine(a: Affine) -> Affine:
    """The second derivative x/(1 - x^2)^(3/2) grows with |x|."""
    on = _of(a.middle)
    most = abs(a.middle) + a.radius
    left = 1 - most * most
    curve = 0.5 * a.radius * a.radius * most / (left * on.sqrt(on.fmax(left, TINY))) * (1 + LIBRARY)
    slope = 1 / on.sqrt(1 - a.middle * a.middle)
    return _smooth(a, on.asin(a.middle), slope, curve, left > LIBRARY)


def _arc_cosine(a: Affine) -> Affine:
    sine = _arc_sine(a)
    middle = _of(a.middle).acos(a.middle)
    return Affine.of(middle, tuple(-g for g in sine.derivatives), sine.remainder, LIBRARY)


def _angle(y: Affine, x: Affine) -> Affine:
    """atan2: its second derivatives are at most 1/rho^2, rho the least distance from the origin."""
    square = x.middle * x.middle + y.middle * y.middle
    on = _of(square)
    off = (x.radius * x.radius + y.radius * y.radius) * (1 + LIBRARY)
    least = on.sqrt(square) * (1 - LIBRARY) - on.sqrt(off)
    p, q = x.middle / square, y.middle / square
    derivatives = tuple(p * b - q * a for a, b in zip(x.derivatives, y.derivatives, strict=True))
    rest = abs(p) * (y.remainder + LIBRARY * y.radius) + abs(q) * (x.remainder + LIBRARY * x.radius)
    rest = rest + 0.5 * off / (least * least)
    # a box that meets the negative x axis has angles of both ends
    apart = on.logic_or(x.middle > x.radius, abs(y.middle) > y.radius)
    sure = on.logic_and(least > 0, apart)
    return Affine.of(on.atan2(y.middle, x.middle), derivatives, on.if_else(sure, rest, np.inf), LIBRARY)


def _size(a: Affine) -> Affine:
    """|x|, which is off |c| by no more than x is off c."""
    on = _of(a.middle)
    sure, sign = abs(a.middle) > a.radius, on.sign(a.middle)
    derivatives = tuple(on.if_else(sure, sign * g, 0) for g in a.derivatives)
    return Affine.of(abs(a.middle), derivatives, on.if_else(sure, a.remainder, a.radius))


def _difference(a: Affine, b: Affine) -> Affine:
    derivatives = tuple(p - q for p, q in zip(a.derivatives, b.derivatives, strict=True))
    return Affine.of(a.middle - b.middle, derivatives, a.remainder + b.remainder)


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
    ca.OP_EXP: _exponential,
    ca.OP_FABS: _size,
    ca.OP_ATAN2: _angle,
    ca.OP_ATAN: _arc_tangent,
    ca.OP_ASIN: _arc_sine,
    ca.OP_ACOS: _arc_cosine,
    ca.OP_FMIN: lambda a, b: _scaled(_difference(_sum(a, b), _size(_difference(a, b))), 0.5),
    ca.OP_FMAX: lambda a, b: _scaled(_sum(_sum(a, b), _size(_difference(a, b))), 0.5),
}
"""What an operation does with models."""
