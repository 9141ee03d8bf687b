"""Small dense linear solves in symbols, stable for every matrix of their kind."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Solution:
    """x of A x = b, and how far A is from singular (1 is good, 0 is singular), from its pivots."""

    x: ca.SX
    quality: ca.SX


def solve_general(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a square system by Gaussian elimination with row pivoting; rows are exchanged by choices, not jumps.

    Quality is the smallest pivot over the largest.
    """
    n = matrix.size1()
    rows = [[matrix[i, j] for j in range(n)] + [right[i]] for i in range(n)]
    inverse: list[ca.SX] = []
    sizes: list[ca.SX] = []
    for k in range(n):
        largest = ca.fabs(rows[k][k])
        for i in range(k + 1, n):
            size = ca.fabs(rows[i][k])
            better = size > largest
            largest = ca.if_else(better, size, largest)
            for j in range(k, n + 1):
                upper, lower = rows[k][j], rows[i][j]
                rows[k][j], rows[i][j] = ca.if_else(better, lower, upper), ca.if_else(better, upper, lower)
        sizes.append(largest)
        inverse.append(1 / rows[k][k])
        for i in range(k + 1, n):
            factor = rows[i][k] * inverse[k]
            for j in range(k + 1, n + 1):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    x: list[ca.SX] = [ca.SX(0)] * n
    for i in range(n - 1, -1, -1):
        rest = rows[i][n]
        for j in range(i + 1, n):
            rest = rest - rows[i][j] * x[j]
        x[i] = rest * inverse[i]
    smallest, greatest = sizes[0], sizes[0]
    for size in sizes[1:]:
        smallest, greatest = ca.fmin(smallest, size), ca.fmax(greatest, size)
    return Solution(ca.vertcat(*x), smallest / greatest)


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

    @property
    def quality(self) -> ca.SX:
        """The smallest pivot over the largest; negative or not a number if the matrix is not positive definite."""
        smallest, largest = self.diagonal[0], self.diagonal[0]
        for pivot in self.diagonal[1:]:
            smallest, largest = ca.fmin(smallest, pivot), ca.fmax(largest, pivot)
        return smallest / largest


def solve_symmetric(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a symmetric positive-definite system; quality is the smallest pivot over the largest."""
    factor = SymmetricFactor(matrix)
    return Solution(factor.solve(right), factor.quality)
