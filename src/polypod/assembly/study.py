"""Six distances between a base and a platform as seven quadrics in Study's coordinates.

With the first joints as origins of base and platform, a quaternion e = (1, e1, e2, e3) and g = (g0, ..., g3), the
platform's turn is that of e and the place of its first joint p = 2 (g e*)/(e.e). Joints A_i and B_i (i = 2..6) at
distances L_i, D = B - A, S = A + B, N = e.e (Husty 1996):

    f_0 = g0 + e.g                                                                          (Study's quadric)
    f_1 = g.g - lambda N                                      lambda = L_1^2/4
    f_i = kappa_i N - A.B + g.D - e.(g0 D + g x S + B x A + (B.e) A)    kappa_i = (L_1^2 - L_i^2 + S.S)/4

Here e and g without index are three numbers, but for N = 1 + e.e and g.g, which counts g0. All lengths enter by the six
numbers kappa_2..6, lambda. Unknowns x in the order g0, g1, g2, g3, e1, e2, e3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from .complexes import Complex, complex_of, dot, total

UNKNOWNS = 7
LENGTHS = 6
JOINTS = 5
"""Joints beside the first, which is the origin."""
Triple = tuple[ca.SX, ca.SX, ca.SX]


def _cross(a: Sequence[ca.SX], b: Sequence[ca.SX]) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True)
class Strut:
    """One joint on base and platform, A and B (3), and what follows from them alone."""

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


class MovingStrut(Strut):
    """What the terms of a strut change by while its base joint moves by ``a``: they are linear in A."""

    @property
    def difference(self) -> Triple:
        """-dA"""
        return -self.a[0], -self.a[1], -self.a[2]

    @property
    def sum(self) -> Triple:
        """dA"""
        return self.a


def struts_of(numbers: ca.SX) -> list[Strut]:
    """Struts from a column (30): A_2, B_2, A_3, ... three numbers each."""
    rows = [(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]) for k in range(2 * JOINTS)]
    return [Strut(rows[2 * k], rows[2 * k + 1]) for k in range(JOINTS)]


@dataclass(frozen=True)
class Coordinates:
    """Study's coordinates, or a coefficient of their series."""

    g0: Complex
    g: tuple[Complex, Complex, Complex]
    e: tuple[Complex, Complex, Complex]

    @staticmethod
    def of(x: Sequence[Complex]) -> Coordinates:
        """From the unknowns in their order."""
        return Coordinates(x[0], (x[1], x[2], x[3]), (x[4], x[5], x[6]))

    def linear(self, strut: Strut) -> tuple[Complex, Complex, Complex]:
        """g0 D + g x S + (B.e) A (3)"""
        d, s, along = strut.difference, strut.sum, dot(self.e, strut.b)
        turned = (
            self.g[1] * s[2] - self.g[2] * s[1],
            self.g[2] * s[0] - self.g[0] * s[2],
            self.g[0] * s[1] - self.g[1] * s[0],
        )
        return (
            self.g0 * d[0] + turned[0] + along * strut.a[0],
            self.g0 * d[1] + turned[1] + along * strut.a[1],
            self.g0 * d[2] + turned[2] + along * strut.a[2],
        )


def residual(x: Sequence[Complex], lengths: Sequence[Complex], struts: Sequence[Strut]) -> list[Complex]:
    """f_0, f_2, ..., f_6, f_1 (7) at unknowns x and kappa_2..6, lambda."""
    at = Coordinates.of(x)
    norm = dot(at.e, at.e) + 1
    rows = [at.g0 + dot(at.e, at.g)]
    for kappa, strut in zip(lengths, struts, strict=False):
        inner = [v + c for v, c in zip(at.linear(strut), strut.normal, strict=True)]
        rows.append(kappa * norm - strut.product + dot(at.g, strut.difference) - dot(at.e, inner))
    return [*rows, at.g0 * at.g0 + dot(at.g, at.g) - lengths[-1] * norm]


def jacobian(x: Sequence[Complex], lengths: Sequence[Complex], struts: Sequence[Strut]) -> list[list[Complex]]:
    """Derivatives (7, 7) of :func:`residual` by x."""
    at = Coordinates.of(x)
    e = at.e
    rows: list[list[Complex]] = [[complex_of(1), *e, *at.g]]
    for kappa, strut in zip(lengths, struts, strict=False):
        d, s, linear, along = strut.difference, strut.sum, at.linear(strut), dot(e, strut.a)
        twice = kappa * 2
        rows.append(
            [
                -dot(e, d),
                e[1] * s[2] - e[2] * s[1] + d[0],
                e[2] * s[0] - e[0] * s[2] + d[1],
                e[0] * s[1] - e[1] * s[0] + d[2],
                *(twice * e[k] - linear[k] - strut.normal[k] - along * strut.b[k] for k in range(3)),
            ]
        )
    last = lengths[-1] * 2
    rows.append([at.g0 * 2, *(g * 2 for g in at.g), *(-(last * k) for k in e)])
    return rows


class Moving(NamedTuple):
    """How coefficients change along a way: kappa_2..6 and lambda by ``lengths``, base joints as ``struts`` say."""

    lengths: Sequence[Complex]
    struts: Sequence[MovingStrut] = ()


class Order(NamedTuple):
    """A coefficient of the series x(t): itself, N, and what :meth:`Coordinates.linear` gives, of moving struts too."""

    at: Coordinates
    norm: Complex
    linear: Sequence[Sequence[Complex]]
    moving: Sequence[Sequence[Complex]]

    @staticmethod
    def of(x: Sequence[Complex], norm: Complex, struts: Sequence[Strut], moving: Moving) -> Order:
        """From the coefficient's numbers."""
        at = Coordinates.of(x)
        return Order(at, norm, [at.linear(s) for s in struts], [at.linear(s) for s in moving.struts])


def next_order(series: Sequence[Order], lengths: Sequence[Complex], moving: Moving) -> tuple[list[Complex], Complex]:
    """What J c_j = -(...) holds on its right for the next coefficient c_j of x(t), from all before (c_0 first).

    Also returns the part of N_j that is known so far.
    """
    known, last = series[1:], series[-1]
    pairs = list(zip(known, known[::-1], strict=True))
    norm = _symmetric([(a.at.e, b.at.e) for a, b in pairs])
    zero = complex_of(0)
    rows = [total([dot(a.at.e, b.at.g) for a, b in pairs]) if pairs else zero]
    for i in range(JOINTS):
        row = lengths[i] * norm + moving.lengths[i] * last.norm
        if pairs:
            row = row - total([dot(a.at.e, b.linear[i]) for a, b in pairs])
        if moving.struts:
            row = row + _moving_row(series, moving.struts[i], i)
        rows.append(row)
    square = _symmetric([((a.at.g0, *a.at.g), (b.at.g0, *b.at.g)) for a, b in pairs])
    rows.append(square - lengths[-1] * norm - moving.lengths[-1] * last.norm)
    return rows, norm


def _moving_row(series: Sequence[Order], strut: MovingStrut, number: int) -> Complex:
    """The coefficient before the next of what a moving joint adds to an equation, its length apart."""
    last = series[-1].at
    row = dot(last.g, strut.difference) - dot(last.e, strut.normal)
    row = row - total([dot(a.at.e, b.moving[number]) for a, b in zip(series, series[::-1], strict=True)])
    return row - strut.product if len(series) == 1 else row


def _symmetric(pairs: Sequence[tuple[Sequence[Complex], Sequence[Complex]]]) -> Complex:
    """Sum of the dot products of pairs, where the last is the first the other way round, and so on."""
    half, odd = divmod(len(pairs), 2)
    parts = [dot(a, b) * 2 for a, b in pairs[:half]]
    parts += [dot(*pairs[half])] if odd else []
    return total(parts) if parts else complex_of(0)
