"""Loads L of joints that depend on each other through friction, L_j = |a_j + B_j L|: one solution, several, none.

Sizes are 2-norms of three parts, or sums of the parts' sizes. What is said of the number of solutions is proven:

- One: sizes differ by no more than their parts do, so L -> |a + B L| is a contraction, and has one fixed point, if the
  spectral radius of the matrix |B| of sizes is below 1, or the largest singular value of B is.
- Several: two are found by Newton's iteration, each to rounding, with a regular Jacobian.
- None, or one where no contraction shows it: by cells of the reactions' directions (``.cells``).

The classical case is that of Painleve (1895): a rod that slides on a rough guide, L = |a + b L| with b > 1.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .cells import CellSearch, Count, Groups

_SURE = 1e-6
"""How far below 1 a contraction must be, far above the rounding of its computation."""
_CONVERGED = 1e-11
"""Residual of loads, relative to the largest, at which they solve their equations."""
_STARTS = 12
_ITERATIONS = 60
CELLS = 20_000
"""Cells that a state is searched in, some milliseconds each; few need more than a hundred, one of 420 tried 10,225."""
FEW_CELLS = 100
LARGEST_LOAD = 1e75
"""Loads [N] whose squares, and products of these, are still numbers."""


class FrictionStatus(IntEnum):
    """How many solutions friction and the reactions it depends on have."""

    UNIQUE = 0
    FOUND = 1
    SEVERAL = 2
    NONE = 3
    UNKNOWN = 4

    @property
    def message(self) -> str:
        """What it means and what to do."""
        return {
            FrictionStatus.UNIQUE: "exactly one solution, proven",
            FrictionStatus.FOUND: "one solution found, not proven to be the only one",
            FrictionStatus.SEVERAL: "several solutions: friction is so strong that the friction forces are not unique",
            FrictionStatus.NONE: "no solution (proven): no forces satisfy the friction law in this motion, the "
            "joints jam",
            FrictionStatus.UNKNOWN: "no solution found, not proven that there is none",
        }[self]


class FrictionSolutions(NamedTuple):
    """Solutions of friction and the reactions it depends on.

    Attributes
    ----------
    status : ndarray of int, shape (...)
        A ``FrictionStatus``.
    loads : ndarray, shape (..., k)
        Joint loads of one solution [N]; NaN if none was found.
    contraction : ndarray, shape (...)
        Bound of how much a change of loads grows in one pass through reactions and friction; below 1 there is exactly
        one solution.
    """

    status: NDArray[np.int64]
    loads: Array
    contraction: Array


def solutions(constant: Array, derivatives: Array, groups: Groups, cells: int = CELLS) -> FrictionSolutions:
    """Of states a (n, p) and B (n, p, k), ``groups`` the number of parts of each load and whether sizes are summed.

    Each state that no contraction decides is searched in at most so many ``cells``.
    """
    count, k = len(constant), len(groups)
    bound = contraction(derivatives, groups)
    code = np.full(count, int(FrictionStatus.UNIQUE))
    rng, scale = np.random.default_rng(0), np.abs(constant).max(axis=1, initial=0.0)[:, None] + 1e-300
    starts = [np.zeros((count, k)), np.repeat(scale, k, axis=1)]
    # the same for all states, so that what is found does not depend on the batch
    starts += [scale * 10 ** rng.uniform(-2.0, 2.0, size=k) for _ in range(_STARTS)]
    first, found = np.full((count, k), np.nan), np.zeros(count, dtype=np.int64)
    for start in starts:
        load, ok = _newton(constant, derivatives, groups, start)
        new = ok & (found == 0)
        first[new] = load[new]
        with np.errstate(invalid="ignore"):
            apart = np.abs(load - first).max(axis=1) > 1e-6 * np.abs(first).max(axis=1, initial=0.0)
        found = np.where(new, 1, np.where(ok & (found == 1) & apart, 2, found))
        if (found + (bound < 1 - _SURE) >= 2).all():
            break
    undecided = ~(bound < 1 - _SURE)
    code[undecided] = np.choose(
        found[undecided], [FrictionStatus.UNKNOWN, FrictionStatus.FOUND, FrictionStatus.SEVERAL]
    )
    code[~undecided & (found == 0)] = FrictionStatus.UNKNOWN
    for state in np.flatnonzero(undecided & (found < 2)).tolist():
        number, load = _searched(constant[state], derivatives[state], groups, first[state], cells)
        if number is not Count.OPEN:
            code[state] = _CODES[number]
        first[state] = load
    return FrictionSolutions(code, first, bound)


def contraction(derivatives: Array, groups: Groups) -> Array:
    """Bound (n,) of how much a change of loads grows in a round: the smaller of two."""
    if not len(derivatives):
        return np.zeros(0)
    sizes = _sizes(derivatives, groups)
    radius = np.abs(np.linalg.eigvals(sizes)).max(axis=-1, initial=0.0)
    weights = np.concatenate([np.full(n, np.sqrt(n) if summed else 1.0) for n, summed in groups])
    stretch = np.linalg.norm(weights[:, None] * derivatives, ord=2, axis=(-2, -1))
    return np.asarray(np.minimum(radius, stretch))


def _sizes(parts: Array, groups: Groups) -> Array:
    """Sizes (n, k, ...) of the groups of parts (n, p, ...)."""
    found, start = [], 0
    for n, summed in groups:
        part = parts[:, start : start + n]
        found.append(np.abs(part).sum(axis=1) if summed else np.linalg.norm(part, axis=1))
        start += n
    return np.stack(found, axis=1)


def _directions(parts: Array, groups: Groups) -> Array:
    """Unit vectors (signs) (n, p) along the parts of each group."""
    found, start = [], 0
    for n, summed in groups:
        part = parts[:, start : start + n]
        size = np.linalg.norm(part, axis=1, keepdims=True)
        found.append(np.sign(part) if summed else part / np.where(size > 0, size, 1.0))
        start += n
    return np.concatenate(found, axis=1)


def _along(directions: Array, values: Array, groups: Groups) -> Array:
    """Sums (n, k, ...) over each group of directions times values (n, p, ...)."""
    product = directions.reshape(*directions.shape, *(1,) * (values.ndim - 2)) * values
    ends = np.cumsum([0, *(n for n, _ in groups)])
    return np.stack([product[:, a:b].sum(axis=1) for a, b in pairwise(ends.tolist())], axis=1)


def _newton(constant: Array, derivatives: Array, groups: Groups, loads: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Loads (n, k) by Newton's iteration from a start, and where it has converged."""
    unit = np.eye(len(groups))
    ok = np.zeros(len(loads), dtype=bool)
    for _ in range(_ITERATIONS):
        parts = constant + np.einsum("npk,nk->np", derivatives, loads)
        size = _sizes(parts, groups)
        residual = loads - size
        ok = np.abs(residual).max(axis=1, initial=0.0) <= _CONVERGED * np.abs(size).max(axis=1, initial=0.0)
        if ok.all():
            break
        matrix = unit - _along(_directions(parts, groups), derivatives, groups)
        regular = np.linalg.cond(matrix) < 1e12
        step = np.zeros_like(loads)
        step[regular] = np.linalg.solve(matrix[regular], residual[regular][..., None])[..., 0]
        loads = np.where(ok[:, None], loads, np.abs(loads - step))
    return loads, ok


_CODES = {Count.NONE: FrictionStatus.NONE, Count.ONE: FrictionStatus.UNIQUE, Count.SEVERAL: FrictionStatus.SEVERAL}


def _searched(constant: Array, derivatives: Array, groups: Groups, known: Array, cells: int) -> tuple[Count, Array]:
    """What cells prove of one state, and loads (k) of a solution: ``known`` (NaN: none), or one found on the way."""
    base = float(np.abs(constant).max(initial=0.0)) + 1e-300
    scaled = constant / base

    def newton(loads: Array) -> Array | None:
        found, ok = _newton(scaled[None], derivatives[None], groups, loads[None])
        return found[0] if ok[0] else None

    search = CellSearch(scaled, derivatives, groups, newton)
    number = search.count(cells, None if np.isnan(known).any() else known / base)
    return number, base * search.found[0] if search.found else known
