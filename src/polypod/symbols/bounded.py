"""Forces within bounds, in closed form: the point nearest to a given one in an intersection of slabs.

With an orthonormal null space N (n, r), the forces f + N y that do the same work are within bounds for y in n slabs
l_i <= c_i + a_i.y <= h_i. The shortest y is found slab by slab (Seidel's incremental algorithm for problems of few
dimensions): if the shortest y of the slabs before violates the next one, the new one lies on that face of it, which
is the same problem in one dimension less. The order of n^r operations, without iteration or branches; the result is
continuous in all inputs, as |y|^2 is strictly convex.

By how much bounds would have to be wider so that there are forces within them is a matter of elementary vectors
(``least_excess``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import casadi as ca

from .linear import Reflection, dot_of

MOST_FREE = 3
"""Most directions r of internal forces: operations grow as n^r."""
UNLIMITED = 1e100
"""A bound that none is."""
_PARALLEL = 1e-10
"""Part of a unit vector below which a slab does not change along a direction."""
_ROUNDING = 1e-11
"""Relative overlap that slabs may lack by rounding."""
_WIDENED = 1e-10
"""Relative width that is left between bounds that are as wide as needed."""
DEPENDENT = 1e-12
"""Sum of the minors of unit vectors below which a choice of actuators has no elementary vector of its own."""
_TINY = 1e-300


class _Slab(NamedTuple):
    """low <= start + normal.y <= high"""

    start: ca.SX
    normal: list[ca.SX]
    low: ca.SX
    high: ca.SX


def null_space(matrix: ca.SX) -> list[list[ca.SX]]:
    """Orthonormal columns N, n - m of them, with A^T N = 0 for A (n, m) of full column rank, by reflections."""
    n, m = matrix.shape
    columns = [[matrix[i, j] for i in range(n)] for j in range(m)]
    reflections = []
    for k in range(m):
        reflect = Reflection(columns[k][k:])
        reflections.append(reflect)
        for column in columns[k + 1 :]:
            column[k:] = reflect(column[k:])
    found = []
    for j in range(m, n):
        vector = [ca.SX(float(i == j)) for i in range(n)]
        for k in range(m - 1, -1, -1):
            vector[k:] = reflections[k](vector[k:])
        found.append(vector)
    return found


def elementary_vectors(free: list[list[ca.SX]], n: int) -> Iterator[tuple[tuple[int, ...], list[ca.SX], ca.SX]]:
    """All z of r + 1 entries that are not zero with z^T N = 0, of N (n, r): which entries, their values, sum |z_i|.

    There is one for each choice of r + 1 rows: their minors with alternating signs (Rockafellar's elementary vectors).
    Where the sum is below ``DEPENDENT`` the chosen rows have none of their own.
    """
    for chosen in combinations(range(n), len(free) + 1):
        z = _minors([[vector[i] for vector in free] for i in chosen])
        yield chosen, z, sum((ca.fabs(value) for value in z), ca.SX(0))


def _minors(rows: list[list[ca.SX]]) -> list[ca.SX]:
    """z (r + 1) with z^T N = 0 for rows N (r + 1, r): their minors with alternating signs."""
    if len(rows) == 1:
        return [ca.SX(1)]
    found = []
    for k in range(len(rows)):
        left = ca.vertcat(*[ca.horzcat(*row) for i, row in enumerate(rows) if i != k])
        found.append((-1) ** k * ca.det(left))
    return found


def least_excess(x: ca.SX, free: list[list[ca.SX]], low: ca.SX, high: ca.SX, size: ca.SX) -> ca.SX:
    """The least t >= 0 with low - t size <= x + N y <= high + t size for some y.

    By Farkas' lemma it is the largest (z.x - sum max(z_i low_i, z_i high_i))/sum |z_i| size_i of elementary vectors z.
    """
    n, worst = x.numel(), ca.SX(0)
    for chosen, z, total in elementary_vectors(free, n):
        some = total > DEPENDENT
        width = sum((ca.fabs(value) * size[i] for value, i in zip(z, chosen, strict=True)), ca.SX(0))
        for s in (1, -1):
            over = ca.SX(0)
            for value, i in zip(z, chosen, strict=True):
                over = over + ca.fmin(s * value * (x[i] - low[i]), s * value * (x[i] - high[i]))
            worst = ca.fmax(worst, ca.if_else(some, over / ca.if_else(some, width, 1), 0))
    return worst


def nearest_within(
    x: ca.SX, matrix: ca.SX, weights: ca.SX, low: ca.SX, high: ca.SX, size: ca.SX | None = None
) -> ca.SX:
    """x' with A^T x' = A^T x and low <= x' <= high, nearest to x in the norm sum w_i (x'_i - x_i)^2.

    A is (n, m) with n > m. Where there is none it is NaN; with ``size`` (n), bounds are wider there by the least
    multiple of it that leaves one: the largest excess over the bounds, in these sizes, is then the least possible.
    """
    n = matrix.size1()
    scale = ca.sqrt(weights)
    free = null_space(matrix / ca.repmat(scale, 1, matrix.size2()))
    if size is not None:
        excess = least_excess(scale * x, free, scale * low, scale * high, scale * size)
        wider = excess * (1 + _WIDENED) * size
        low, high = low - wider, high + wider
    slabs = [
        _Slab(scale[i] * x[i], [vector[i] for vector in free], scale[i] * low[i], scale[i] * high[i]) for i in range(n)
    ]
    shortest, possible = _shortest(slabs, len(free))
    moved = [x[i] + dot_of(slabs[i].normal, shortest) / scale[i] for i in range(n)]
    within = ca.fmin(ca.fmax(ca.vertcat(*moved), low), high)  # what is on a bound is there without rounding
    return ca.if_else(possible, within, ca.SX(float("nan")))


def _shortest(slabs: list[_Slab], size: int) -> tuple[list[ca.SX], ca.SX]:
    """The shortest y (size) within slabs, and whether there is one."""
    if size == 1:
        return _on_line(slabs)
    y, possible = [ca.SX(0)] * size, ca.SX(1)
    for k, slab in enumerate(slabs):
        value = slab.start + dot_of(slab.normal, y)
        low, high = _loosened(slab)
        outside = ca.logic_or(value < low, value > high)
        bound = ca.fmin(ca.fmax(value, slab.low), slab.high)
        square = dot_of(slab.normal, slab.normal)
        fixed = square < _PARALLEL * _PARALLEL
        foot = [a * ((bound - slab.start) / ca.fmax(square, _TINY)) for a in slab.normal]
        reflect = Reflection(slab.normal)
        across = [reflect([ca.SX(float(i == j)) for i in range(size)]) for j in range(1, size)]
        face = [
            _Slab(s.start + dot_of(s.normal, foot), [dot_of(s.normal, one) for one in across], s.low, s.high)
            for s in slabs[:k]
        ]
        along, exists = _shortest(face, size - 1)
        there = [foot[i] + dot_of([one[i] for one in across], along) for i in range(size)]
        y = [ca.if_else(outside, new, old) for new, old in zip(there, y, strict=True)]
        met = ca.logic_and(exists, ca.logic_not(fixed))
        possible = ca.logic_and(possible, ca.logic_or(ca.logic_not(outside), met))
    return y, possible


def _on_line(slabs: list[_Slab]) -> tuple[list[ca.SX], ca.SX]:
    """The same on a line: an interval."""
    first, last = ca.SX(-UNLIMITED), ca.SX(UNLIMITED)
    for slab in slabs:
        a = slab.normal[0]
        fixed = ca.fabs(a) < _PARALLEL
        inverse = 1 / ca.if_else(fixed, 1, a)
        ends = (slab.low - slab.start) * inverse, (slab.high - slab.start) * inverse
        low, high = _loosened(slab)
        lost = ca.logic_or(slab.start < low, slab.start > high)
        none, every = ca.if_else(lost, UNLIMITED, -UNLIMITED), ca.if_else(lost, -UNLIMITED, UNLIMITED)
        first = ca.fmax(first, ca.if_else(fixed, none, ca.fmin(*ends)))
        last = ca.fmin(last, ca.if_else(fixed, every, ca.fmax(*ends)))
    possible = first - last <= _ROUNDING * (ca.fabs(first) + ca.fabs(last))
    return [ca.fmin(ca.fmax(0, first), last)], possible


def _loosened(slab: _Slab) -> tuple[ca.SX, ca.SX]:
    """The bounds of a slab, with what rounding may leave outside of them."""
    size = _ROUNDING * ca.fabs(slab.start)
    return slab.low - size, slab.high + size
