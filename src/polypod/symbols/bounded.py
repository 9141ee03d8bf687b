"""Forces within bounds, in closed form: the point nearest to a given one in an intersection of slabs.

With an orthonormal null space N (n, r), the forces f + N y that do the same work are within bounds for y in n slabs
l_i <= c_i + a_i.y <= h_i. The shortest y is found slab by slab (Seidel's incremental algorithm for problems of few
dimensions): if the shortest y of the slabs before violates the next one, the new one lies on that face of it, which
is the same problem in one dimension less. The order of n^r operations, without iteration or branches; the result is
continuous in all inputs, as |y|^2 is strictly convex.
"""

from __future__ import annotations

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


def nearest_within(x: ca.SX, matrix: ca.SX, weights: ca.SX, low: ca.SX, high: ca.SX) -> ca.SX:
    """x' with A^T x' = A^T x and low <= x' <= high, nearest to x in the norm sum w_i (x'_i - x_i)^2; else NaN.

    A is (n, m) with n > m.
    """
    n = matrix.size1()
    scale = ca.sqrt(weights)
    free = null_space(matrix / ca.repmat(scale, 1, matrix.size2()))
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
