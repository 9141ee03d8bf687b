"""Small dense linear solves in symbols, stable without choices that depend on the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Solution:
    """x of A x = b, and how far A is from singular: the smallest over the largest |r_kk| of A = Q R."""

    x: ca.SX
    quality: ca.SX


def solve_general(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a square system by Householder reflections (backward stable, no pivoting needed)."""
    n = matrix.size1()
    columns = [[matrix[i, j] for i in range(n)] for j in range(n)] + [[right[i] for i in range(n)]]
    inverse_diagonal: list[ca.SX] = []
    sizes: list[ca.SX] = []
    for k in range(n):
        head = columns[k][k:]
        square = head[0] * head[0]
        for entry in head[1:]:
            square = square + entry * entry
        length = ca.sqrt(square)
        sizes.append(length)
        if k == n - 1:
            inverse_diagonal.append(1 / columns[k][k])
            continue
        # R's diagonal is -alpha; the reflector is v = x + alpha e_1 with beta = 1/(alpha v_1).
        alpha = ca.copysign(length, head[0])
        first = head[0] + alpha
        beta = 1 / (alpha * first)
        inverse_diagonal.append(-(first * beta))
        reflector = [first, *head[1:]]
        for j in range(k + 1, n + 1):
            product = reflector[0] * columns[j][k]
            for i, entry in enumerate(reflector[1:], k + 1):
                product = product + entry * columns[j][i]
            product = product * beta
            for i, entry in enumerate(reflector, k):
                columns[j][i] = columns[j][i] - product * entry
    x: list[ca.SX] = [ca.SX(0)] * n
    for i in range(n - 1, -1, -1):
        rest = columns[n][i]
        for j in range(i + 1, n):
            rest = rest - columns[j][i] * x[j]
        x[i] = rest * inverse_diagonal[i]
    smallest, largest = sizes[0], sizes[0]
    for size in sizes[1:]:
        smallest, largest = ca.fmin(smallest, size), ca.fmax(largest, size)
    return Solution(ca.vertcat(*x), smallest / largest)


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
