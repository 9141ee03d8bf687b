"""A small linear system in symbols solved block by block, for columns of rates and, transposed, of forces."""

from __future__ import annotations

import casadi as ca


class Elimination:
    """A x = b with A square or taller (then consistent), of full column rank.

    A square matrix is brought to block lower triangular form by its zeros; every block is factored by Householder's
    reflections, Q R. A taller one is a single block.
    """

    def __init__(self, matrix: ca.SX) -> None:
        self._matrix = matrix
        height, self._width = matrix.shape
        self._blocks: list[tuple[list[int], list[int], _Reflections]] = []
        parts = [(list(range(height)), list(range(self._width)))]
        if height == self._width:
            count, rows, columns, row_cuts, column_cuts, _, _ = ca.sparsify(matrix).sparsity().btf()
            cuts = [(row_cuts[k], row_cuts[k + 1], column_cuts[k], column_cuts[k + 1]) for k in range(count)]
            parts = [(list(rows[a:b]), list(columns[c:d])) for a, b, c, d in cuts]
        for chosen_rows, chosen_columns in parts:
            block = _Reflections(matrix[chosen_rows, chosen_columns])
            self._blocks.append((chosen_rows, chosen_columns, block))

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b."""
        x = ca.SX.zeros(self._width)
        known: list[int] = []
        for rows, columns, block in self._blocks:
            rest = right[rows] - (self._matrix[rows, known] @ x[known] if known else 0)
            x[columns] = block.solve(rest)
            known += columns
        return x

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """The smallest y of A^T y = b."""
        y = ca.SX.zeros(self._matrix.size1())
        known: list[int] = []
        for rows, columns, block in reversed(self._blocks):
            rest = right[columns] - (self._matrix[known, columns].T @ y[known] if known else 0)
            y[rows] = block.solve_transposed(rest)
            known += rows
        return y


class _Reflections:
    """A = Q R by Householder; a single number is only inverted."""

    def __init__(self, matrix: ca.SX) -> None:
        self._height, self._width = matrix.shape
        columns = [[matrix[i, j] for i in range(self._height)] for j in range(self._width)]
        self._reflectors: list[tuple[list[ca.SX], ca.SX]] = []
        self._inverse: list[ca.SX] = []
        for k in range(self._width):
            head = columns[k][k:]
            if len(head) == 1:
                self._inverse.append(1 / head[0])
                continue
            alpha = ca.copysign(ca.sqrt(sum((entry * entry for entry in head), ca.SX(0))), head[0])
            # The reflector is v = x + alpha e_1 with beta = 1/(alpha v_1); R's diagonal is -alpha.
            reflector = [head[0] + alpha, *head[1:]]
            beta = 1 / (alpha * reflector[0])
            self._reflectors.append((reflector, beta))
            self._inverse.append(-(reflector[0] * beta))
            for column in columns[k + 1 :]:
                self._reflect(k, column)
        self._upper = columns

    def _reflect(self, k: int, column: list[ca.SX]) -> None:
        reflector, beta = self._reflectors[k]
        product = sum((v * x for v, x in zip(reflector, column[k:], strict=True)), ca.SX(0)) * beta
        for i, v in enumerate(reflector, k):
            column[i] = column[i] - product * v

    def solve(self, right: ca.SX) -> ca.SX:
        """x of R x = Q^T b."""
        column = [right[i] for i in range(self._height)]
        for k in range(len(self._reflectors)):
            self._reflect(k, column)
        x: list[ca.SX] = [ca.SX(0)] * self._width
        for i in range(self._width - 1, -1, -1):
            rest = column[i]
            for j in range(i + 1, self._width):
                rest = rest - self._upper[j][i] * x[j]
            x[i] = rest * self._inverse[i]
        return ca.vertcat(*x)

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """y = Q z with R^T z = b."""
        z: list[ca.SX] = []
        for i in range(self._width):
            rest = right[i]
            for j in range(i):
                rest = rest - self._upper[i][j] * z[j]
            z.append(rest * self._inverse[i])
        column = z + [ca.SX(0)] * (self._height - self._width)
        for k in range(len(self._reflectors) - 1, -1, -1):
            self._reflect(k, column)
        return ca.vertcat(*column)
