"""Complex numbers in symbols: pairs of real expressions, for functions that are compiled as real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

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
    """The column that :func:`from_rows` reads."""
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
