"""Linear solves that use which entries of a matrix are zero by structure: block after block of a triangular form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from .linear import GeneralFactor
from .vectors import cross, dot

Solve = Callable[[list[ca.SX]], list[ca.SX]]


class BlockFactor:
    """A square matrix A, factored for solves with A and with A^T.

    Rows and columns are ordered so that blocks on the diagonal can be solved one after the other (block triangular
    form: the strongly connected components of its graph). ``quality`` is the smallest of the blocks', at most 1 and 0
    for a singular one: of one row its size, of two or three the volume that its columns span over the product of their
    lengths, of more the smallest pivot over the largest. ``determinants`` are the blocks'.
    """

    def __init__(self, matrix: ca.SX) -> None:
        self.n = matrix.size1()
        self._matrix = matrix
        self.quality = ca.SX(1)
        self.determinants: list[ca.SX] = []
        self._blocks: list[tuple[list[int], list[int], _Block]] = []
        for rows, columns in _blocks(matrix):
            block = _Block(ca.densify(matrix[rows, columns]))
            self._blocks.append((rows, columns, block))
            self.determinants.append(block.determinant)
            self.quality = ca.fmin(self.quality, block.quality)

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b for one column b."""
        steps = [(rows, columns, block.solve) for rows, columns, block in self._blocks]
        return _substituted(self._matrix, steps, right)

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """y of A^T y = b for one column b."""
        steps = [(columns, rows, block.solve_transposed) for rows, columns, block in reversed(self._blocks)]
        return _substituted(self._matrix.T, steps, right)


def _substituted(matrix: ca.SX, steps: Sequence[tuple[list[int], list[int], Solve]], right: ca.SX) -> ca.SX:
    """x of A x = b, block by block (rows, columns, solve): each with what is known already on its right-hand side."""
    x: list[ca.SX] = [ca.SX(0)] * matrix.size1()
    known: list[int] = []
    for rows, columns, solve in steps:
        rest = []
        for i in rows:
            total = right[i]
            for j in known:
                if not matrix[i, j].is_zero():
                    total = total - matrix[i, j] * x[j]
            rest.append(total)
        for j, value in zip(columns, solve(rest), strict=True):
            x[j] = value
        known += columns
    return ca.vertcat(*x, ca.SX(0, 1))


class _Block:
    """A dense block: by its adjugate up to three rows, by elimination with pivots beyond."""

    def __init__(self, matrix: ca.SX) -> None:
        self._n = n = matrix.size1()
        columns = [matrix[:, j] for j in range(n)]
        if n == 1:
            size = ca.fabs(matrix[0, 0])
            self.determinant = matrix[0, 0]
            self._inverse = [[1 / matrix[0, 0]]]
            self.quality = ca.fmin(1, size)
        elif n == 2:
            self.determinant = determinant = matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0]
            scale = 1 / determinant
            self._inverse = [
                [matrix[1, 1] * scale, -matrix[0, 1] * scale],
                [-matrix[1, 0] * scale, matrix[0, 0] * scale],
            ]
            sizes = [ca.sqrt(ca.dot(c, c)) for c in columns]
            self.quality = ca.fabs(determinant) / (sizes[0] * sizes[1])
        elif n == 3:
            a, b, c = columns
            rows = [cross(b, c), cross(c, a), cross(a, b)]
            self.determinant = determinant = dot(a, rows[0])
            scale = 1 / determinant
            self._inverse = [[row[j] * scale for j in range(3)] for row in rows]
            sizes = [ca.sqrt(dot(v, v)) for v in columns]
            self.quality = ca.fabs(determinant) / (sizes[0] * sizes[1] * sizes[2])
        else:
            self._factor = GeneralFactor(matrix)
            self._transposed = GeneralFactor(matrix.T)
            self.determinant, self.quality = self._factor.determinant, self._factor.quality

    def solve(self, right: list[ca.SX]) -> list[ca.SX]:
        if self._n > 3:
            solved = self._factor.solve(ca.vertcat(*right))
            return [solved[i] for i in range(self._n)]
        return [_sum([self._inverse[i][j] * right[j] for j in range(self._n)]) for i in range(self._n)]

    def solve_transposed(self, right: list[ca.SX]) -> list[ca.SX]:
        if self._n > 3:
            solved = self._transposed.solve(ca.vertcat(*right))
            return [solved[i] for i in range(self._n)]
        return [_sum([self._inverse[j][i] * right[j] for j in range(self._n)]) for i in range(self._n)]


def _sum(terms: list[ca.SX]) -> ca.SX:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _blocks(matrix: ca.SX) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the diagonal blocks, in the order in which they can be solved (lower triangular form)."""
    n = matrix.size1()
    if n == 0:
        return []
    pattern = ca.sparsify(matrix)
    if ca.sprank(pattern) < n:  # singular by structure
        return [(list(range(n)), list(range(n)))]
    count, rows, columns, row_start, column_start, *_ = pattern.sparsity().btf()
    return [
        (list(rows[row_start[k] : row_start[k + 1]]), list(columns[column_start[k] : column_start[k + 1]]))
        for k in range(count)
    ]
