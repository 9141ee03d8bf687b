"""The largest and the smallest singular value of a small matrix, by a few dozen operations a round.

Householder's reflections make the matrix bidiagonal. The squares of its singular values are the roots of a polynomial
whose values follow from the bidiagonal's numbers by a recurrence without cancellation (that of the matrix [0 B; B^T 0],
of which every singular value is an eigenvalue), so that none is lost in the square of a large one. Laguerre's iteration
finds the outer roots of a polynomial with real roots from outside, without passing one but by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

_TINY = 1e-300
# Laguerre's steps shrink by a factor of 3 or more a round even at a pair of equal roots: enough for 16 digits.
MAX_ITERATIONS = 40
# Single roots are found before this round. From it on the smallest only grows and the largest only shrinks.
_MONOTONIC_FROM = 12
# A step this small, relative to the root, is rounding.
_ROUNDING = 1e-15


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


def extreme_singular_values(matrix: ca.SX) -> ExtremeSingularValues:
    """The smallest and largest of a matrix (n, m), n >= m >= 1; accurate to a few roundings of the largest.

    Where some are equal but for rounding, Laguerre's steps among them are noise: up to 5e-14 of the largest.
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
    converged = ca.logic_and(up <= _ROUNDING * low, down <= _ROUNDING * high)
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
            reflect = _Reflection([rows[i][k] for i in range(k, n)])
            numbers.append(reflect.length)
            for j in range(k + 1, m):
                for i, value in zip(range(k, n), reflect([rows[i][j] for i in range(k, n)]), strict=True):
                    rows[i][j] = value
        else:
            numbers.append(rows[k][k])
        if k == m - 1:
            break
        if m - k > 2:
            reflect = _Reflection(rows[k][k + 1 :])
            numbers.append(reflect.length)
            for i in range(k + 1, n):
                rows[i][k + 1 :] = reflect(rows[i][k + 1 :])
        else:
            numbers.append(rows[k][k + 1])
    return numbers


class _Reflection:
    """Householder's reflection that takes a vector to its length times the first axis, but for the sign."""

    def __init__(self, vector: list[ca.SX]) -> None:
        self.length = ca.sqrt(_dot(vector, vector))
        self._v = [vector[0] + ca.if_else(vector[0] < 0, -self.length, self.length), *vector[1:]]
        self._factor = 1 / ca.fmax(self.length * (self.length + ca.fabs(vector[0])), _TINY)

    def __call__(self, vector: list[ca.SX]) -> list[ca.SX]:
        along = self._factor * _dot(self._v, vector)
        return [x - along * v for x, v in zip(vector, self._v, strict=True)]


def _dot(a: list[ca.SX], b: list[ca.SX]) -> ca.SX:
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
