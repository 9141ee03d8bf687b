"""Small dense linear solves in symbols, stable for every matrix of their kind.

Elimination is a CasADi function of a matrix of symbols, made once for each size and called with the entries: zeros
among them fall away in the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import casadi as ca

_SIZES = 64
"""Sizes of matrices that are remembered."""


@dataclass(frozen=True)
class Solution:
    """x of A x = b, and how far A is from singular (1 is good, 0 is singular), from its pivots.

    The sign of ``determinant`` tells one side of a singularity from the other; 1 for matrices that have no sides.
    """

    x: ca.SX
    quality: ca.SX
    determinant: ca.SX = field(default_factory=lambda: ca.SX(1))


class GeneralFactor:
    """A square matrix, factored once by Gaussian elimination with row pivoting, for any number of right-hand sides.

    Rows are swapped by selection, without branches. ``quality`` is the smallest pivot over the largest.
    """

    def __init__(self, matrix: ca.SX) -> None:
        self.n = matrix.size1()
        *self._parts, self.quality, self.determinant = _general_factor(self.n).call([matrix])

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b for one column b."""
        return _general_solve(self.n)(*self._parts, right)


@lru_cache(_SIZES)
def _general_factor(n: int) -> ca.Function:
    """A -> upper triangle (by rows), 1/pivots, whether rows swap, factors (both by columns), quality, determinant."""
    matrix = ca.SX.sym("matrix", n, n)
    rows = [[matrix[i, j] for j in range(n)] for i in range(n)]
    inverse, swaps, factors, sizes = [], [], [], []
    determinant = ca.SX(1)
    for k in range(n):
        largest = ca.fabs(rows[k][k])
        for i in range(k + 1, n):
            size = ca.fabs(rows[i][k])
            better = size > largest
            swaps.append(better)
            largest = ca.if_else(better, size, largest)
            determinant = ca.if_else(better, -determinant, determinant)
            for j in range(k, n):
                rows[k][j], rows[i][j] = _swapped(better, rows[k][j], rows[i][j])
        sizes.append(largest)
        inverse.append(1 / rows[k][k])
        for i in range(k + 1, n):
            factor = _times(rows[i][k], inverse[k])
            factors.append(factor)
            for j in range(k + 1, n):
                rows[i][j] = _minus_product(rows[i][j], factor, rows[k][j])
    smallest, greatest = sizes[0], sizes[0]
    for size in sizes[1:]:
        smallest, greatest = ca.fmin(smallest, size), ca.fmax(greatest, size)
    for k in range(n):
        determinant = determinant * rows[k][k]
    upper = [rows[i][j] for i in range(n) for j in range(i, n)]
    return _function("factor", [matrix], [upper, inverse, swaps, factors, [smallest / greatest], [determinant]])


@lru_cache(_SIZES)
def _general_solve(n: int) -> ca.Function:
    """(Parts of the factored matrix, b) -> x."""
    pairs = n * (n - 1) // 2
    parts = [ca.SX.sym("part", count) for count in (n + pairs, n, pairs, pairs)]
    right = ca.SX.sym("right", n)
    upper, inverse, swaps, factors = (iter(_numbers(part)) for part in parts)
    rows, y = [[next(upper) for _ in range(i, n)] for i in range(n)], _numbers(right)
    for k in range(n):
        for i in range(k + 1, n):
            y[k], y[i] = _swapped(next(swaps), y[k], y[i])
        for i in range(k + 1, n):
            y[i] = _minus_product(y[i], next(factors), y[k])
    pivots, x = list(inverse), [ca.SX(0)] * n
    for i in range(n - 1, -1, -1):
        rest = y[i]
        for j in range(i + 1, n):
            rest = _minus_product(rest, rows[i][j - i], x[j])
        x[i] = _times(rest, pivots[i])
    return _function("solve", [*parts, right], [x])


def _swapped(better: ca.SX, upper: ca.SX, lower: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two numbers, swapped where ``better`` holds."""
    worse = ca.SX.unary(ca.OP_NOT, better)
    return _select(better, worse, lower, upper), _select(better, worse, upper, lower)


def _select(yes: ca.SX, no: ca.SX, first: ca.SX, second: ca.SX) -> ca.SX:
    parts = ca.SX.binary(ca.OP_IF_ELSE_ZERO, yes, first), ca.SX.binary(ca.OP_IF_ELSE_ZERO, no, second)
    return ca.SX.binary(ca.OP_ADD, *parts)


# Operations by their numbers: CasADi finds out in a tenth of the time what is meant.


def _times(a: ca.SX, b: ca.SX) -> ca.SX:
    return ca.SX.binary(ca.OP_MUL, a, b)


def _minus_product(a: ca.SX, b: ca.SX, c: ca.SX) -> ca.SX:
    """a - b c"""
    return ca.SX.binary(ca.OP_SUB, a, ca.SX.binary(ca.OP_MUL, b, c))


def _numbers(column: ca.SX) -> list[ca.SX]:
    return [column[i] for i in range(column.numel())]


def _function(name: str, inputs: list[ca.SX], outputs: list[list[ca.SX]]) -> ca.Function:
    return ca.Function(name, inputs, [ca.densify(ca.vertcat(*numbers, ca.SX(0, 1))) for numbers in outputs])


def solve_general(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a square system by Gaussian elimination with row pivoting."""
    factor = GeneralFactor(matrix)
    return Solution(factor.solve(right), factor.quality, factor.determinant)


class SymmetricFactor:
    """L D L^T of a symmetric positive-definite matrix, of which only the upper triangle is read."""

    def __init__(self, matrix: ca.SX) -> None:
        self.n = matrix.size1()
        self._lower, self._inverse, diagonal = _symmetric_factor(self.n).call([matrix])
        self._pivots, self._entries = _numbers(diagonal), [matrix[k, k] for k in range(self.n)]

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b for one column b."""
        return _symmetric_solve(self.n)(self._lower, self._inverse, right)

    def quality_of(self, rows: Sequence[int]) -> ca.SX:
        """The smallest pivot of some rows over its entry of the matrix: what elimination left of its digits.

        1 for a diagonal matrix whatever its units; negative or not a number if not positive definite.
        """
        parts = [self._pivots[row] / self._entries[row] for row in rows]
        smallest = parts[0]
        for part in parts[1:]:
            smallest = ca.fmin(smallest, part)
        return smallest

    @property
    def quality(self) -> ca.SX:
        """The smallest pivot of all rows over its entry of the matrix."""
        return self.quality_of(range(self.n))


@lru_cache(_SIZES)
def _symmetric_factor(n: int) -> ca.Function:
    """A -> L below its diagonal (by columns), 1/pivots, pivots."""
    matrix = ca.SX.sym("matrix", n, n)
    lower = [[ca.SX(0)] * n for _ in range(n)]
    diagonal: list[ca.SX] = []
    inverse: list[ca.SX] = []
    for j in range(n):
        scaled = [_times(lower[j][k], diagonal[k]) for k in range(j)]
        pivot = matrix[j, j]
        for k in range(j):
            pivot = _minus_product(pivot, lower[j][k], scaled[k])
        diagonal.append(pivot)
        inverse.append(1 / pivot)
        for i in range(j + 1, n):
            entry = matrix[j, i]
            for k in range(j):
                entry = _minus_product(entry, lower[i][k], scaled[k])
            lower[i][j] = _times(entry, inverse[j])
    below = [lower[i][j] for j in range(n) for i in range(j + 1, n)]
    return _function("factor", [matrix], [below, inverse, diagonal])


@lru_cache(_SIZES)
def _symmetric_solve(n: int) -> ca.Function:
    """(Parts of the factored matrix, b) -> x."""
    below, inverse, right = (ca.SX.sym("part", count) for count in (n * (n - 1) // 2, n, n))
    rest = iter(_numbers(below))
    lower = {(i, j): next(rest) for j in range(n) for i in range(j + 1, n)}
    y = _numbers(right)
    for j in range(n):
        for k in range(j):
            y[j] = _minus_product(y[j], lower[j, k], y[k])
    x = [_times(y[j], inverse[j]) for j in range(n)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] = _minus_product(x[i], lower[j, i], x[j])
    return _function("solve", [below, inverse, right], [x])


def solve_least_squares(matrix: ca.SX, right: ca.SX) -> Solution:
    """x of least |A x - b| for a taller matrix of full column rank, by the normal equations."""
    factor = SymmetricFactor(matrix.T @ matrix)
    return Solution(factor.solve(matrix.T @ right), factor.quality)


def solve_least_norm(matrix: ca.SX, right: ca.SX, weights: ca.SX, preferred: ca.SX) -> Solution:
    """x of A^T x = b that is nearest to ``preferred`` in the norm sum w_i (x_i - p_i)^2, A taller than wide.

    x = p + W^-1 A y with (A^T W^-1 A) y = b - A^T p.
    """
    lighter = matrix / ca.repmat(weights, 1, matrix.size2())
    factor = SymmetricFactor(matrix.T @ lighter)
    y = factor.solve(right - matrix.T @ preferred)
    return Solution(preferred + lighter @ y, factor.quality)
