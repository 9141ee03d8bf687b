"""Small dense linear solves in symbols, stable for every matrix of their kind."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Solution:
    """x of A x = b, and how far A is from singular: its smallest pivot over its first."""

    x: ca.SX
    quality: ca.SX


def solve_general(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a square system by Gaussian elimination with row pivoting; rows are exchanged by choices, not jumps."""
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
    smallest = sizes[-1]
    for size in sizes[1:-1]:
        smallest = ca.fmin(smallest, size)
    return Solution(ca.vertcat(*x), smallest / sizes[0])


def solve_symmetric(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a symmetric positive-definite system by L D L^T; only the upper triangle is read."""
    n = matrix.size1()
    diagonal: list[ca.SX] = []
    inverse: list[ca.SX] = []
    lower = [[ca.SX(0)] * n for _ in range(n)]
    y = [right[i] for i in range(n)]
    for j in range(n):
        scaled = [lower[j][k] * diagonal[k] for k in range(j)]
        pivot = matrix[j, j]
        for k in range(j):
            pivot = pivot - lower[j][k] * scaled[k]
        diagonal.append(pivot)
        inverse.append(1 / pivot)
        for i in range(j + 1, n):
            entry = matrix[j, i]
            for k in range(j):
                entry = entry - lower[i][k] * scaled[k]
            lower[i][j] = entry * inverse[j]
        for k in range(j):
            y[j] = y[j] - lower[j][k] * y[k]
    x = [y[j] * inverse[j] for j in range(n)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] = x[i] - lower[j][i] * x[j]
    smallest, largest = diagonal[0], diagonal[0]
    for pivot in diagonal[1:]:
        smallest, largest = ca.fmin(smallest, pivot), ca.fmax(largest, pivot)
    return Solution(ca.vertcat(*x), smallest / largest)
