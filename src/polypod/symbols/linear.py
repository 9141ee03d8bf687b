"""Small dense linear solves in symbols, stable for every matrix of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Solution:
    """x of A x = b, and how far A is from singular (1 is good, 0 is singular), from its pivots."""

    x: ca.SX
    quality: ca.SX


class GeneralFactor:
    """A square matrix, factored once by Gaussian elimination with row pivoting, for any number of right sides.

    Rows are exchanged by choices, not jumps. Quality is the smallest pivot over the largest.
    """

    def __init__(self, matrix: ca.SX) -> None:
        self.n = n = matrix.size1()
        self._rows = rows = [[matrix[i, j] for j in range(n)] for i in range(n)]
        self._inverse: list[ca.SX] = []
        self._exchanges: list[list[ca.SX]] = []
        self._factors: list[list[ca.SX]] = []
        sizes: list[ca.SX] = []
        for k in range(n):
            largest = ca.fabs(rows[k][k])
            exchanges = []
            for i in range(k + 1, n):
                size = ca.fabs(rows[i][k])
                better = size > largest
                exchanges.append(better)
                largest = ca.if_else(better, size, largest)
                for j in range(k, n):
                    rows[k][j], rows[i][j] = _exchanged(better, rows[k][j], rows[i][j])
            self._exchanges.append(exchanges)
            sizes.append(largest)
            self._inverse.append(1 / rows[k][k])
            self._factors.append([rows[i][k] * self._inverse[k] for i in range(k + 1, n)])
            for i, factor in zip(range(k + 1, n), self._factors[k], strict=True):
                for j in range(k + 1, n):
                    rows[i][j] = rows[i][j] - factor * rows[k][j]
        smallest, greatest = sizes[0], sizes[0]
        for size in sizes[1:]:
            smallest, greatest = ca.fmin(smallest, size), ca.fmax(greatest, size)
        self.quality = smallest / greatest

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b for one column b."""
        y = [right[i] for i in range(self.n)]
        for k in range(self.n):
            for i, better in zip(range(k + 1, self.n), self._exchanges[k], strict=True):
                y[k], y[i] = _exchanged(better, y[k], y[i])
            for i, factor in zip(range(k + 1, self.n), self._factors[k], strict=True):
                y[i] = y[i] - factor * y[k]
        x: list[ca.SX] = [ca.SX(0)] * self.n
        for i in range(self.n - 1, -1, -1):
            rest = y[i]
            for j in range(i + 1, self.n):
                rest = rest - self._rows[i][j] * x[j]
            x[i] = rest * self._inverse[i]
        return ca.vertcat(*x)


def _exchanged(better: ca.SX, upper: ca.SX, lower: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two numbers, exchanged where ``better`` holds."""
    return ca.if_else(better, lower, upper), ca.if_else(better, upper, lower)


def solve_general(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a square system by Gaussian elimination with row pivoting."""
    factor = GeneralFactor(matrix)
    return Solution(factor.solve(right), factor.quality)


class SymmetricFactor:
    """L D L^T of a symmetric positive-definite matrix, of which only the upper triangle is read."""

    def __init__(self, matrix: ca.SX) -> None:
        self.n = n = matrix.size1()
        self.diagonal: list[ca.SX] = []
        self._inverse: list[ca.SX] = []
        self._lower = [[ca.SX(0)] * n for _ in range(n)]
        for j in range(n):
            scaled = [self._lower[j][k] * self.diagonal[k] for k in range(j)]
            pivot = matrix[j, j]
            for k in range(j):
                pivot = pivot - self._lower[j][k] * scaled[k]
            self.diagonal.append(pivot)
            self._inverse.append(1 / pivot)
            for i in range(j + 1, n):
                entry = matrix[j, i]
                for k in range(j):
                    entry = entry - self._lower[i][k] * scaled[k]
                self._lower[i][j] = entry * self._inverse[j]

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b for one column b."""
        y = [right[i] for i in range(self.n)]
        for j in range(self.n):
            for k in range(j):
                y[j] = y[j] - self._lower[j][k] * y[k]
        x = [y[j] * self._inverse[j] for j in range(self.n)]
        for i in range(self.n - 1, -1, -1):
            for j in range(i + 1, self.n):
                x[i] = x[i] - self._lower[j][i] * x[j]
        return ca.vertcat(*x)

    def quality_of(self, rows: Sequence[int]) -> ca.SX:
        """The smallest pivot of some rows over their largest; negative or not a number if not positive definite."""
        smallest, largest = (self.diagonal[rows[0]] for _ in range(2))
        for row in rows[1:]:
            smallest, largest = ca.fmin(smallest, self.diagonal[row]), ca.fmax(largest, self.diagonal[row])
        return smallest / largest

    @property
    def quality(self) -> ca.SX:
        """The smallest pivot over the largest."""
        return self.quality_of(range(self.n))


def solve_symmetric(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a symmetric positive-definite system; quality is the smallest pivot over the largest."""
    factor = SymmetricFactor(matrix)
    return Solution(factor.solve(right), factor.quality)


def solve_least_squares(matrix: ca.SX, right: ca.SX) -> Solution:
    """x of least |A x - b| for a taller matrix of full column rank, by the normal equations; exact if b is in reach."""
    factor = SymmetricFactor(matrix.T @ matrix)
    return Solution(factor.solve(matrix.T @ right), ca.sqrt(factor.quality))


def solve_least_norm(matrix: ca.SX, right: ca.SX, weights: ca.SX, preferred: ca.SX) -> Solution:
    """x of A^T x = b that is nearest to ``preferred`` in the norm sum w_i (x_i - p_i)^2, A taller than wide.

    x = p + W^-1 A y with (A^T W^-1 A) y = b - A^T p.
    """
    lighter = matrix / ca.repmat(weights, 1, matrix.size2())
    factor = SymmetricFactor(matrix.T @ lighter)
    y = factor.solve(right - matrix.T @ preferred)
    return Solution(preferred + lighter @ y, ca.sqrt(factor.quality))
