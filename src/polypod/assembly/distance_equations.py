"""Six distances between a base and a platform as seven quadrics in Study's coordinates.

With the first joints as origins of base and platform, a quaternion e = (1, e1, e2, e3) and g = (g0, ..., g3), the
platform's rotation is that of e and the position of its first joint p = 2 (g e*)/(e.e). Joints A_i and B_i (i = 2..6)
at distances L_i, D = B - A, S = A + B, N = e.e (Husty 1996):

    f_0 = g0 + e.g                                                                          (Study's quadric)
    f_1 = g.g - lambda N                                      lambda = L_1^2/4
    f_i = kappa_i N - A.B + g.D - e.(g0 D + g x S + B x A + (B.e) A)    kappa_i = (L_1^2 - L_i^2 + S.S)/4

Here e and g without index are three numbers, but for N = 1 + e.e and g.g, which counts g0. All lengths enter by the six
numbers kappa_2..6, lambda. Unknowns x in the order g0, g1, g2, g3, e1, e2, e3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca

# ----------------------------------------------------------------------------------------------------------------------
# Complex numbers in symbols: pairs of real expressions, for functions that are compiled as real ones.

ZERO = ca.SX(0)


@dataclass(frozen=True)
class Complex:
    """re + i im; sums and products with another or with a real expression."""

    re: ca.SX
    im: ca.SX

    def __add__(self, other: Any) -> Complex:
        a = complex_of(other)
        return Complex(self.re + a.re, self.im + a.im)

    def __sub__(self, other: Any) -> Complex:
        a = complex_of(other)
        return Complex(self.re - a.re, self.im - a.im)

    def __mul__(self, other: Any) -> Complex:
        if not isinstance(other, Complex):
            return Complex(self.re * other, self.im * other)
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    @property
    def square(self) -> ca.SX:
        """|z|^2"""
        return self.re * self.re + self.im * self.im

    @property
    def inverse(self) -> Complex:
        """1/z"""
        scale = 1 / self.square
        return Complex(self.re * scale, -self.im * scale)


def complex_of(value: Any) -> Complex:
    """A complex number from one or from a real expression."""
    return value if isinstance(value, Complex) else Complex(ca.SX(value), ZERO)


def from_rows(column: ca.SX) -> list[Complex]:
    """Complex numbers from a column of real and imaginary parts, alternating."""
    return [Complex(column[2 * k], column[2 * k + 1]) for k in range(column.numel() // 2)]


def to_rows(values: Sequence[Complex]) -> ca.SX:
    """The column that ``from_rows`` reads."""
    return ca.vertcat(*(part for z in values for part in (z.re, z.im)))


def total(values: Sequence[Complex]) -> Complex:
    """Sum of one or more complex numbers."""
    result = values[0]
    for z in values[1:]:
        result = result + z
    return result


def dot(a: Sequence[Any], b: Sequence[Any]) -> Complex:
    """Sum of products, none conjugated; the numbers of ``b`` may be real."""
    return total([x * y for x, y in zip(a, b, strict=True)])


def squares(values: Sequence[Complex]) -> ca.SX:
    """Sum of |z|^2."""
    result = ZERO
    for z in values:
        result = result + z.square
    return result


class Factored:
    """A square complex matrix as L U, without exchanging rows: pivots of generic matrices are not small."""

    def __init__(self, matrix: Sequence[Sequence[Complex]]) -> None:
        rows = [list(row) for row in matrix]
        self._n = n = len(rows)
        self._inverse: list[Complex] = []
        for k in range(n):
            self._inverse.append(rows[k][k].inverse)
            for i in range(k + 1, n):
                rows[i][k] = rows[i][k] * self._inverse[k]
                for j in range(k + 1, n):
                    rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]
        self._rows = rows

    def solve(self, right: Sequence[Complex]) -> list[Complex]:
        """x of A x = b."""
        y, rows, n = list(right), self._rows, self._n
        for i in range(n):
            for j in range(i):
                y[i] = y[i] - rows[i][j] * y[j]
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                y[i] = y[i] - rows[i][j] * y[j]
            y[i] = y[i] * self._inverse[i]
        return y


# ----------------------------------------------------------------------------------------------------------------------
# Six distances between a base and a platform as seven quadrics in Study's coordinates.

UNKNOWNS = 7
LENGTHS = 6
JOINTS = 5
"""Joints beside the first, which is the origin."""
Triple = tuple[ca.SX, ca.SX, ca.SX]


def _cross(a: Sequence[ca.SX], b: Sequence[ca.SX]) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True)
class JointPair:
    """A joint on the base and its partner on the platform, A and B (3), and the terms that depend on them alone."""

    a: Triple
    b: Triple

    @property
    def difference(self) -> Triple:
        """D = B - A"""
        return self.b[0] - self.a[0], self.b[1] - self.a[1], self.b[2] - self.a[2]

    @property
    def sum(self) -> Triple:
        """S = A + B"""
        return self.a[0] + self.b[0], self.a[1] + self.b[1], self.a[2] + self.b[2]

    @property
    def normal(self) -> Triple:
        """B x A"""
        return _cross(self.b, self.a)

    @property
    def product(self) -> ca.SX:
        """A.B"""
        return self.a[0] * self.b[0] + self.a[1] * self.b[1] + self.a[2] * self.b[2]


class MovingJointPair(JointPair):
    """How a pair's terms, linear in A, change while its base joint moves by ``a``."""

    @property
    def difference(self) -> Triple:
        """-dA"""
        return -self.a[0], -self.a[1], -self.a[2]

    @property
    def sum(self) -> Triple:
        """dA"""
        return self.a


def joint_pairs_of(numbers: ca.SX) -> list[JointPair]:
    """Pairs from a column (30): A_2, B_2, A_3, ... three numbers each."""
    rows = [(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]) for k in range(2 * JOINTS)]
    return [JointPair(rows[2 * k], rows[2 * k + 1]) for k in range(JOINTS)]


@dataclass(frozen=True)
class StudyCoordinates:
    """Study's coordinates, or a coefficient of their series."""

    g0: Complex
    g: tuple[Complex, Complex, Complex]
    e: tuple[Complex, Complex, Complex]

    @staticmethod
    def of(x: Sequence[Complex]) -> StudyCoordinates:
        """From the unknowns in their order."""
        return StudyCoordinates(x[0], (x[1], x[2], x[3]), (x[4], x[5], x[6]))

    def linear(self, pair: JointPair) -> tuple[Complex, Complex, Complex]:
        """g0 D + g x S + (B.e) A (3)"""
        d, s, along = pair.difference, pair.sum, dot(self.e, pair.b)
        turned = (
            self.g[1] * s[2] - self.g[2] * s[1],
            self.g[2] * s[0] - self.g[0] * s[2],
            self.g[0] * s[1] - self.g[1] * s[0],
        )
        return (
            self.g0 * d[0] + turned[0] + along * pair.a[0],
            self.g0 * d[1] + turned[1] + along * pair.a[1],
            self.g0 * d[2] + turned[2] + along * pair.a[2],
        )


def residual(x: Sequence[Complex], lengths: Sequence[Complex], pairs: Sequence[JointPair]) -> list[Complex]:
    """f_0, f_2, ..., f_6, f_1 (7) at unknowns x and kappa_2..6, lambda."""
    at = StudyCoordinates.of(x)
    norm = dot(at.e, at.e) + 1
    rows = [at.g0 + dot(at.e, at.g)]
    for kappa, pair in zip(lengths, pairs, strict=False):
        inner = [v + c for v, c in zip(at.linear(pair), pair.normal, strict=True)]
        rows.append(kappa * norm - pair.product + dot(at.g, pair.difference) - dot(at.e, inner))
    return [*rows, at.g0 * at.g0 + dot(at.g, at.g) - lengths[-1] * norm]


def jacobian(x: Sequence[Complex], lengths: Sequence[Complex], pairs: Sequence[JointPair]) -> list[list[Complex]]:
    """Derivatives (7, 7) of ``residual`` by x."""
    at = StudyCoordinates.of(x)
    e = at.e
    rows: list[list[Complex]] = [[complex_of(1), *e, *at.g]]
    for kappa, pair in zip(lengths, pairs, strict=False):
        d, s, linear, along = pair.difference, pair.sum, at.linear(pair), dot(e, pair.a)
        twice = kappa * 2
        rows.append(
            [
                -dot(e, d),
                e[1] * s[2] - e[2] * s[1] + d[0],
                e[2] * s[0] - e[0] * s[2] + d[1],
                e[0] * s[1] - e[1] * s[0] + d[2],
                *(twice * e[k] - linear[k] - pair.normal[k] - along * pair.b[k] for k in range(3)),
            ]
        )
    last = lengths[-1] * 2
    rows.append([at.g0 * 2, *(g * 2 for g in at.g), *(-(last * k) for k in e)])
    return rows


class Change(NamedTuple):
    """How coefficients change along a path: kappa_2..6 and lambda by ``lengths``, base joints by ``pairs``."""

    lengths: Sequence[Complex]
    pairs: Sequence[MovingJointPair] = ()


class SeriesTerm(NamedTuple):
    """A coefficient c_j of the series x(t), N_j, and ``StudyCoordinates.linear`` of fixed and of moving pairs."""

    at: StudyCoordinates
    norm: Complex
    linear: Sequence[Sequence[Complex]]
    moving: Sequence[Sequence[Complex]]

    @staticmethod
    def of(x: Sequence[Complex], norm: Complex, pairs: Sequence[JointPair], change: Change) -> SeriesTerm:
        """From the coefficient's numbers."""
        at = StudyCoordinates.of(x)
        return SeriesTerm(at, norm, [at.linear(p) for p in pairs], [at.linear(p) for p in change.pairs])


def right_side(
    series: Sequence[SeriesTerm], lengths: Sequence[Complex], change: Change
) -> tuple[list[Complex], Complex]:
    """r (7) of J c_j = -r for the next coefficient c_j of x(t), from all before it (c_0 first).

    Also returns the part of N_j that does not depend on c_j.
    """
    known, last = series[1:], series[-1]
    products = list(zip(known, known[::-1], strict=True))
    norm = _symmetric([(a.at.e, b.at.e) for a, b in products])
    zero = complex_of(0)
    rows = [total([dot(a.at.e, b.at.g) for a, b in products]) if products else zero]
    for i in range(JOINTS):
        row = lengths[i] * norm + change.lengths[i] * last.norm
        if products:
            row = row - total([dot(a.at.e, b.linear[i]) for a, b in products])
        if change.pairs:
            row = row + _moving_row(series, change.pairs[i], i)
        rows.append(row)
    square = _symmetric([((a.at.g0, *a.at.g), (b.at.g0, *b.at.g)) for a, b in products])
    rows.append(square - lengths[-1] * norm - change.lengths[-1] * last.norm)
    return rows, norm


def _moving_row(series: Sequence[SeriesTerm], pair: MovingJointPair, number: int) -> Complex:
    """What a moving base joint adds to r of one equation, apart from its length."""
    last = series[-1].at
    row = dot(last.g, pair.difference) - dot(last.e, pair.normal)
    row = row - total([dot(a.at.e, b.moving[number]) for a, b in zip(series, series[::-1], strict=True)])
    return row - pair.product if len(series) == 1 else row


def _symmetric(pairs: Sequence[tuple[Sequence[Complex], Sequence[Complex]]]) -> Complex:
    """Sum of the dot products of pairs, where the last is the first the other way round, and so on."""
    half, odd = divmod(len(pairs), 2)
    parts = [dot(a, b) * 2 for a, b in pairs[:half]]
    parts += [dot(*pairs[half])] if odd else []
    return total(parts) if parts else complex_of(0)
