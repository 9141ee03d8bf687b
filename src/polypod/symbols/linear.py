"""Small dense linear solves in symbols, stable for every matrix of their kind.

Elimination is a CasADi function of a matrix of symbols, made once for each size and called with the entries: zeros
among them fall away in the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import casadi as ca

from .vectors import cross, dot

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
        *self._parts, self.quality, self.determinant = _general_factor(self.n, _zeros_below(matrix)).call([matrix])

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b for one column b."""
        return _general_solve(self.n)(*self._parts, right)


def _zeros_below(matrix: ca.SX) -> frozenset[int]:
    """Rows of a matrix that have a zero by structure in its first column; none if the first row is among them."""
    rows = frozenset(i for i in range(matrix.size1()) if matrix[i, 0].is_zero())
    return frozenset() if 0 in rows else rows


@lru_cache(_SIZES)
def _general_factor(n: int, zeros: frozenset[int]) -> ca.Function:
    """A -> upper triangle (by rows), 1/pivots, whether rows swap, factors (both by columns), quality, determinant.

    Rows ``zeros`` have no part in the first step: their entries of the first column are zero.
    """
    matrix = ca.SX.sym("matrix", n, n)
    rows = [[matrix[i, j] for j in range(n)] for i in range(n)]
    inverse, swaps, factors, sizes = [], [], [], []
    determinant = ca.SX(1)
    for k in range(n):
        largest = ca.fabs(rows[k][k])
        for i in range(k + 1, n):
            if k == 0 and i in zeros:
                swaps.append(ca.SX(0))
                continue
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
            if k == 0 and i in zeros:
                factors.append(ca.SX(0))
                continue
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


# ----------------------------------------------------------------------------------------------------------------------
# Linear solves that use which entries of a matrix are zero by structure: block after block of a triangular form.

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
        rest = _without_known(matrix, rows, known, x, right)
        for j, value in zip(columns, solve(rest), strict=True):
            x[j] = value
        known += columns
    return ca.vertcat(*x, ca.SX(0, 1))


def _without_known(matrix: ca.SX, rows: list[int], known: list[int], x: list[ca.SX], right: ca.SX) -> list[ca.SX]:
    """Right-hand sides of some rows less what is known of x."""
    rest = []
    for i in rows:
        total = right[i]
        for j in known:
            if not matrix[i, j].is_zero():
                total = total - matrix[i, j] * x[j]
        rest.append(total)
    return rest


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


# ----------------------------------------------------------------------------------------------------------------------
# Elimination that leaves zeros by structure alone.


def solve_sparse(matrix: ca.SX, right: ca.SX) -> Solution:
    """Solve a square system most of whose entries are zero by structure, as stably as with row pivoting.

    Blocks of the triangular form are solved one after the other, each by Gaussian elimination. A pivot is the largest
    entry of its column (rows swap) or of its row (columns swap): either bounds how entries grow. Which of the two, and
    in which column or row, is the choice that takes the fewest operations: a strut's own equations, with two or three
    unknowns each, are eliminated before they fill those of the platform.
    """
    x: list[ca.SX] = [ca.SX(0)] * matrix.size1()
    known: list[int] = []
    sizes: list[ca.SX] = []
    for rows, columns in _blocks(matrix):
        elimination = _SparseElimination([[matrix[i, j] for j in columns] for i in rows])
        rest = _without_known(matrix, rows, known, x, right)
        for j, value in zip(columns, elimination.solve(rest), strict=True):
            x[j] = value
        sizes += elimination.sizes
        known += columns
    smallest, greatest = sizes[0], sizes[0]
    for size in sizes[1:]:
        smallest, greatest = ca.fmin(smallest, size), ca.fmax(greatest, size)
    return Solution(ca.vertcat(*x), smallest / greatest)


class _Step(NamedTuple):
    """One pivot: its row and column, 1/pivot, swaps (whether, with which row or column), factors of rows below it."""

    row: int
    column: int
    inverse: ca.SX
    row_swaps: list[tuple[ca.SX, int]]
    column_swaps: list[tuple[ca.SX, int]]
    factors: list[tuple[int, ca.SX]]


class _SparseElimination:
    """Triangular factors of a square matrix, given by rows, that are zero where structure says so."""

    def __init__(self, entries: list[list[ca.SX]]) -> None:
        self._rows = [{j: e for j, e in enumerate(row) if not e.is_zero()} for row in entries]
        self._left = dict.fromkeys(range(len(entries)))  # rows without a pivot
        self.sizes: list[ca.SX] = []
        self._steps = [self._eliminate(*self._cheapest()) for _ in entries]

    def _column(self, j: int) -> list[int]:
        """Rows left that have an entry in a column."""
        return [i for i in self._left if j in self._rows[i]]

    def _cheapest(self) -> tuple[bool, int]:
        """Whether columns swap, and the row (else the column) of the next pivot."""
        column_of: dict[int, list[int]] = {}
        for i in self._left:
            for j in self._rows[i]:
                column_of.setdefault(j, []).append(i)
        if not column_of:
            raise ValueError("a matrix that is singular by structure has no pivots")
        choices = []
        for j, below in column_of.items():
            filled = len(set().union(*(self._rows[i] for i in below)))
            choices.append(((len(below) - 1) * (8 * filled + 9), False, j))
        for i in self._left:
            filled = len({k for j in self._rows[i] for k in column_of[j]})
            choices.append(((len(self._rows[i]) - 1) * (8 * filled + 7), True, i))
        return min(choices)[1:]

    def _eliminate(self, across: bool, at: int) -> _Step:
        rows, zero = self._rows, ca.SX(0)
        if across:
            row, (column, *others) = at, sorted(rows[at], key=lambda j: (len(self._column(j)), j))
        else:
            column, (row, *others) = at, sorted(self._column(at), key=lambda i: (len(rows[i]), i))
        largest, swaps = ca.fabs(rows[row][column]), []
        for other in others:
            size = ca.fabs(rows[row][other] if across else rows[other][column])
            better = size > largest
            largest = ca.if_else(better, size, largest)
            swaps.append((better, other))
            if across:
                for i in {**dict.fromkeys(self._column(column)), **dict.fromkeys(self._column(other))}:
                    pair = _swapped(better, rows[i].get(column, zero), rows[i].get(other, zero))
                    rows[i][column], rows[i][other] = pair
            else:
                for j in {**rows[row], **rows[other]}:
                    pair = _swapped(better, rows[row].get(j, zero), rows[other].get(j, zero))
                    rows[row][j], rows[other][j] = pair
        self.sizes.append(largest)
        inverse = 1 / rows[row][column]
        del self._left[row]
        factors = []
        for i in self._column(column):
            factor = _times(rows[i].pop(column), inverse)
            factors.append((i, factor))
            for j, entry in rows[row].items():
                if j != column:
                    rows[i][j] = _minus_product(rows[i].get(j, zero), factor, entry)
        return _Step(row, column, inverse, [] if across else swaps, swaps if across else [], factors)

    def solve(self, right: list[ca.SX]) -> list[ca.SX]:
        """x of A x = b for one column b."""
        y, x = list(right), [ca.SX(0)] * len(right)
        for step in self._steps:
            for better, other in step.row_swaps:
                y[step.row], y[other] = _swapped(better, y[step.row], y[other])
            for i, factor in step.factors:
                y[i] = _minus_product(y[i], factor, y[step.row])
        for step in reversed(self._steps):
            rest = y[step.row]
            for j, entry in self._rows[step.row].items():
                if j != step.column:
                    rest = _minus_product(rest, entry, x[j])
            x[step.column] = _times(rest, step.inverse)
            for better, other in reversed(step.column_swaps):
                x[step.column], x[other] = _swapped(better, x[step.column], x[other])
        return x


# ----------------------------------------------------------------------------------------------------------------------
# The largest and the smallest singular value of a small matrix, by a few dozen operations a round.
#
# Householder's reflections make the matrix bidiagonal. The squares of its singular values are the roots of a
# polynomial
# whose values follow from the bidiagonal's numbers by a recurrence without cancellation (that of the matrix [0 B;
# B^T 0],
# of which every singular value is an eigenvalue), so that none is lost in the square of a large one. Laguerre's
# iteration
# finds the outer roots of a polynomial with real roots from outside, without passing one but by rounding.

_TINY = 1e-300
# Laguerre's steps shrink by a factor of 3 or more a round even at a pair of equal roots: enough for 16 digits.
MAX_ITERATIONS = 40
# Single roots are found before this round. From it on the smallest only grows and the largest only shrinks.
_MONOTONIC_FROM = 12
# A step this small, relative to the root, is rounding.
ROUNDING = 1e-15


@dataclass(frozen=True)
class ExtremeSingularValues:
    """An iteration for the squares of the smallest and largest singular value, relative to ``scale``^2.

    ``start`` and ``step`` are columns [smallest, largest, rounds, done] of the iteration; ``scale`` is the matrix's
    Frobenius norm.
    """

    state: ca.SX
    start: ca.SX
    step: ca.SX
    scale: ca.SX

    @property
    def smallest(self) -> ca.SX:
        """The smallest singular value."""
        return self.scale * ca.sqrt(self.state[0])

    @property
    def largest(self) -> ca.SX:
        """The largest singular value."""
        return self.scale * ca.sqrt(self.state[1])


def extreme_singular_values(matrix: ca.SX, rounding: float = ROUNDING) -> ExtremeSingularValues:
    """The smallest and largest of a matrix (n, m), n >= m >= 1; accurate to a few roundings of the largest.

    Steps of a part ``rounding`` of a root are its rounding. Where some are equal but for it, Laguerre's steps among
    them are noise: up to 5e-14 of the largest.
    """
    scale = ca.norm_fro(ca.densify(matrix))
    squares = [b * b for b in _bidiagonal(matrix / ca.fmax(scale, _TINY))]
    state = ca.SX.sym("state", 4)
    low, high, iterations = state[0], state[1], state[2]
    # The squares add up to 1, so that the smallest is at most their mean and the largest at least: rounding at equal
    # roots, where both derivatives vanish, leads no farther.
    mean = 1 / matrix.size2()
    # A step back is rounding too, and at six equal roots as long as the next one forth: they would not end.
    slow = iterations >= _MONOTONIC_FROM
    next_low = ca.fmax(ca.if_else(slow, low, 0), ca.fmin(mean, low + _step(squares, low)))
    next_high = ca.fmax(mean, ca.fmin(ca.if_else(slow, high, 2), high + _step(squares, high)))
    up, down = ca.fabs(next_low - low), ca.fabs(next_high - high)
    converged = ca.logic_and(up <= rounding * low, down <= rounding * high)
    # What is not a number settles nowhere and must not keep its neighbours waiting.
    going_on = ca.logic_and(up + down <= 2, iterations + 1 < MAX_ITERATIONS)
    done = ca.logic_or(converged, ca.logic_not(going_on))
    step = ca.vertcat(next_low, next_high, iterations + 1, done)
    return ExtremeSingularValues(state, ca.SX([0.0, 1.0, 0.0, 0.0]), step, scale)


def _bidiagonal(matrix: ca.SX) -> list[ca.SX]:
    """d_1, e_1, d_2, ... d_m (but for signs) of the bidiagonal form with diagonal d and e above it."""
    n, m = matrix.shape
    rows = [[matrix[i, j] for j in range(m)] for i in range(n)]
    numbers = []
    for k in range(m):
        if n - k > 1:
            reflect = Reflection([rows[i][k] for i in range(k, n)])
            numbers.append(reflect.length)
            for j in range(k + 1, m):
                for i, value in zip(range(k, n), reflect([rows[i][j] for i in range(k, n)]), strict=True):
                    rows[i][j] = value
        else:
            numbers.append(rows[k][k])
        if k == m - 1:
            break
        if m - k > 2:
            reflect = Reflection(rows[k][k + 1 :])
            numbers.append(reflect.length)
            for i in range(k + 1, n):
                rows[i][k + 1 :] = reflect(rows[i][k + 1 :])
        else:
            numbers.append(rows[k][k + 1])
    return numbers


class Reflection:
    """Householder's reflection that takes a vector to its length times the first axis, but for the sign."""

    def __init__(self, vector: list[ca.SX]) -> None:
        self.length = ca.sqrt(dot_of(vector, vector))
        self._v = [vector[0] + ca.if_else(vector[0] < 0, -self.length, self.length), *vector[1:]]
        self._factor = 1 / ca.fmax(self.length * (self.length + ca.fabs(vector[0])), _TINY)

    def __call__(self, vector: list[ca.SX]) -> list[ca.SX]:
        """A vector, reflected."""
        along = self._factor * dot_of(self._v, vector)
        return [x - along * v for x, v in zip(vector, self._v, strict=True)]


def dot_of(a: list[ca.SX], b: list[ca.SX]) -> ca.SX:
    """Inner product of two lists of numbers."""
    return sum((x * y for x, y in zip(a, b, strict=True)), ca.SX(0))


def _step(squares: list[ca.SX], root: ca.SX) -> ca.SX:
    """Laguerre's step towards the nearest root: -n p/(p' +- sqrt((n-1)((n-1) p'^2 - n p p'')))."""
    n = (len(squares) + 1) // 2
    odd, even = (ca.SX(0), ca.SX(0), ca.SX(0)), (ca.SX(1), ca.SX(0), ca.SX(0))
    for k in range(n):
        # of values, first and second derivatives by the root
        before = squares[2 * k - 1] if k else ca.SX(0)
        odd = (even[0] - before * odd[0], even[1] - before * odd[1], even[2] - before * odd[2])
        d = squares[2 * k]
        even = (
            root * odd[0] - d * even[0],
            odd[0] + root * odd[1] - d * even[1],
            2 * odd[1] + root * odd[2] - d * even[2],
        )
    p, first, second = even
    radicand = ca.fmax((n - 1) * ((n - 1) * first * first - n * p * second), 0)
    denominator = first + ca.if_else(first < 0, -ca.sqrt(radicand), ca.sqrt(radicand))
    return ca.if_else(ca.logic_or(p == 0, denominator == 0), 0, -n * p / denominator)
