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
from numpy.typing import NDArray

from ...arrays import Array
from ...symbols.graph import SELECT, Graph
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


def _true(like: Affine, sure: Number, never: Number) -> Affine:
    """Whether something holds: 1, 0, or a half with a remainder where a box has points of either kind."""
    on = _of(like.middle)
    still = tuple(0 * g for g in like.derivatives)
    return Affine.exact(
        on.if_else(sure, 1.0, on.if_else(never, 0.0, 0.5)), still, on.if_else(on.logic_or(sure, never), 0.0, 0.5)
    )


def _below(a: Affine, b: Affine) -> Affine:
    """a <= b, or a < b: where the two may be equal it is open."""
    off = _difference(b, a)
    return _true(off, off.middle > off.radius, off.middle < -off.radius)


def _holds(a: Affine) -> tuple[Number, Number]:
    """Whether a number is nowhere zero in a box, and whether it is zero everywhere."""
    on = _of(a.middle)
    return abs(a.middle) > a.radius, on.logic_and(a.middle == 0, a.radius == 0)


def _negation(a: Affine) -> Affine:
    sure, never = _holds(a)
    return _true(a, never, sure)


def _both(a: Affine, b: Affine) -> Affine:
    (first, not_first), (second, not_second) = _holds(a), _holds(b)
    on = _of(a.middle)
    return _true(a, on.logic_and(first, second), on.logic_or(not_first, not_second))


def _either(a: Affine, b: Affine) -> Affine:
    (first, not_first), (second, not_second) = _holds(a), _holds(b)
    on = _of(a.middle)
    return _true(a, on.logic_or(first, second), on.logic_and(not_first, not_second))


def _chosen(condition: Affine, a: Affine, b: Affine) -> Affine:
    """The value where a condition holds, else the other; where that is open their mean, give or take half of what they
    differ."""
    (sure, never), on = _holds(condition), _of(a.middle)
    off, mean = _difference(a, b), _scaled(_sum(a, b), 0.5)

    def pick(one: Number, other: Number, both: Number) -> Number:
        return on.if_else(sure, one, on.if_else(never, other, both))

    half = (mean.remainder + 0.5 * (abs(off.middle) + off.radius)) * (1 + 8 * UNIT)
    slopes = zip(a.derivatives, b.derivatives, mean.derivatives, strict=True)
    return Affine.exact(
        pick(a.middle, b.middle, mean.middle), tuple(pick(*g) for g in slopes), pick(a.remainder, b.remainder, half)
    )


def _chosen_or_zero(condition: Affine, a: Affine) -> Affine:
    zero: Number = ca.SX(0.0) if isinstance(a.middle, ca.SX) else np.float64(0.0)
    return _chosen(condition, a, Affine.exact(zero, (zero,) * len(a.derivatives)))


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
    ca.OP_LT: _below,
    ca.OP_LE: _below,
    ca.OP_NOT: _negation,
    ca.OP_AND: _both,
    ca.OP_OR: _either,
    ca.OP_IF_ELSE_ZERO: _chosen_or_zero,
    SELECT: _chosen,
    ca.OP_FMIN: lambda a, b: _scaled(_difference(_sum(a, b), _size(_difference(a, b))), 0.5),
    ca.OP_FMAX: lambda a, b: _scaled(_sum(_sum(a, b), _size(_difference(a, b))), 0.5),
}
"""What an operation does with models."""


# ----------------------------------------------------------------------------------------------------------------------
# Arrays of first-order models of one variable, c + g s +- r for |s| <= 1, and linear systems of them.

_SUM = 1e-14
"""More than what a sum of some dozens of products may have lost, relative to the sizes of its terms."""


@dataclass(frozen=True)
class LinearModels:
    """Models (n, ...) of arrays: ``middle`` c, ``slope`` g, ``remainder`` r."""

    middle: Array
    slope: Array
    remainder: Array

    @staticmethod
    def stacked(parts: list[Affine]) -> LinearModels:
        """Models (n, k) of k numbers."""
        count = max((np.size(part.remainder) for part in parts), default=1)
        shape = count, len(parts)
        found = np.empty(shape), np.empty(shape), np.empty(shape)
        for k, part in enumerate(parts):
            found[0][:, k], found[1][:, k], found[2][:, k] = part.middle, part.derivatives[0], part.remainder
        return LinearModels(*found)

    @property
    def upper_bound(self) -> Array:
        """Upper bounds of the absolute values."""
        return (np.abs(self.middle) + np.abs(self.slope) + self.remainder) * (1 + _SUM)

    @property
    def ends(self) -> tuple[Array, Array]:
        """Lower and upper ends of the values over each interval."""
        off = (np.abs(self.slope) + self.remainder) * (1 + _SUM) + _SUM * np.abs(self.middle)
        return self.middle - off, self.middle + off

    def __getitem__(self, key: Any) -> LinearModels:
        return LinearModels(self.middle[key], self.slope[key], self.remainder[key])

    def reshape(self, *shape: int) -> LinearModels:
        """The same numbers of each interval in another shape."""
        whole = (len(self.middle), *shape)
        return LinearModels(self.middle.reshape(whole), self.slope.reshape(whole), self.remainder.reshape(whole))

    def repeated(self, n: int) -> LinearModels:
        """Broadcast to n intervals."""
        parts = self.middle, self.slope, self.remainder
        return LinearModels(*(np.broadcast_to(part, (n, *part.shape[1:])) for part in parts))

    def transposed(self) -> LinearModels:
        """Matrices with rows and columns exchanged."""
        return LinearModels(*(part.swapaxes(-1, -2) for part in (self.middle, self.slope, self.remainder)))

    @property
    def affine(self) -> list[Affine]:
        """The numbers (k) of (n, k) one by one."""
        return [Affine.exact(c, (g,), r) for c, g, r in zip(self.middle.T, self.slope.T, self.remainder.T, strict=True)]

    def __neg__(self) -> LinearModels:
        return LinearModels(-self.middle, -self.slope, self.remainder)

    def __add__(self, other: LinearModels) -> LinearModels:
        middle, slope = self.middle + other.middle, self.slope + other.slope
        size = np.abs(middle) + np.abs(slope)
        return LinearModels(middle, slope, (self.remainder + other.remainder) * (1 + _SUM) + _SUM * size)

    def __mul__(self, other: LinearModels) -> LinearModels:
        middle = self.middle * other.middle
        slope = self.middle * other.slope + self.slope * other.middle
        off = (np.abs(self.slope) + self.remainder) * (np.abs(other.slope) + other.remainder)
        rest = np.abs(self.middle) * other.remainder + np.abs(other.middle) * self.remainder + off
        size = np.abs(middle) + np.abs(self.middle * other.slope) + np.abs(self.slope * other.middle)
        return LinearModels(middle, slope, rest * (1 + _SUM) + _SUM * size)

    def __matmul__(self, other: LinearModels) -> LinearModels:
        """Products of matrices (n, i, j) and (n, j, k)."""
        a, b = (LinearModels(*(np.abs(part) for part in (x.middle, x.slope, x.remainder))) for x in (self, other))
        middle = self.middle @ other.middle
        slope = self.middle @ other.slope + self.slope @ other.middle
        rest = a.middle @ b.remainder + a.remainder @ b.middle + (a.slope + a.remainder) @ (b.slope + b.remainder)
        size = a.middle @ (b.middle + b.slope) + a.slope @ b.middle
        return LinearModels(middle, slope, rest * (1 + _SUM) + _SUM * size)

    def times(self, vector: LinearModels) -> LinearModels:
        """Products of matrices (n, i, j) and vectors (n, j)."""
        product = self @ LinearModels(vector.middle[..., None], vector.slope[..., None], vector.remainder[..., None])
        return product[..., 0]


def constant(values: Array) -> LinearModels:
    """Numbers that do not depend on s and are exact."""
    return LinearModels(values, np.zeros_like(values), np.zeros_like(values))


def solve(matrix: LinearModels, right: LinearModels) -> tuple[LinearModels, Array]:
    """x of A x = b, A (n, k, k) and b (n, k) or (n, k, r), and the sign (n,) of det A everywhere, 0 if not known.

    With C near the middle of A^-1, E = C A - 1 and x0 = C b,

        x = x0 - E x0 + e,   (1 + E) e = E E x0,

    and any u > 0 with |E| u + |E| |E x0| < u proves that A is regular and that |e| < u: what is not known is of second
    order.
    """
    if right.middle.ndim == 2:
        x, sign = solve(matrix, right[..., None])
        return x[..., 0], sign
    k = matrix.middle.shape[-1]
    good = np.asarray(np.isfinite(matrix.middle + matrix.remainder).all(axis=(1, 2)))
    safe = np.where(good[:, None, None], matrix.middle, np.eye(k))
    # rows of one size: coordinates have different units
    scale = 1 / np.maximum(np.abs(safe).max(axis=2, keepdims=True), 1e-300)
    good &= np.linalg.cond(safe * scale) < 1e12
    safe = np.where(good[:, None, None], safe, np.eye(k))
    inverse = np.linalg.inv(safe)
    first = constant(inverse) @ right
    off = constant(inverse) @ matrix + constant(np.broadcast_to(-np.eye(k), safe.shape))
    change = off @ first
    left = (off.upper_bound @ change.upper_bound) * (1 + _SUM) + 1e-15 * first.upper_bound + 1e-300
    most, sure = majorant(off.upper_bound, left)
    sure &= good
    x = first + -change
    sign = np.where(sure, np.sign(np.linalg.det(safe)), 0.0)
    return LinearModels(x.middle, x.slope, x.remainder + np.where(sure[:, None, None], most, np.inf)), sign


def majorant(size: Array, base: Array) -> tuple[Array, NDArray[np.bool_]]:
    """u (n, k, r) > 0 with G u + b < u for G (n, k, k) and b (n, k, r), not negative, and where (n,) there is one.

    Where there is, G has a spectral radius below 1, and whatever is at most G times itself and b more is below u.
    (1 - G) u = b (1 + 1e-9) has solutions for larger G too: these have negative components and prove nothing.
    """
    eye = np.eye(size.shape[1])
    sure = np.asarray(np.isfinite(size).all(axis=(1, 2)) & np.isfinite(base).all(axis=(1, 2)))
    left = np.where(sure[:, None, None], eye - size, eye)
    left = np.where((np.abs(np.linalg.det(left)) > 1e-9)[:, None, None], left, eye)
    most = np.linalg.solve(left, base) * (1 + 1e-9)
    sure &= (most > 0).all(axis=(1, 2)) & ((size @ most + base) * (1 + _SUM) < most).all(axis=(1, 2))
    return np.asarray(most), sure
