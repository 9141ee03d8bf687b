"""Loads L of joints that depend on each other through friction, L_j = |a_j + B_j L|: one solution, several, none.

Sizes are 2-norms of three parts, or sums of the parts' sizes. What is said of the number of solutions is proven:

- One: sizes differ by no more than their parts do, so L -> |a + B L| is a contraction, and has one fixed point, if the
  spectral radius of the matrix |B| of sizes is below 1, or the largest singular value of B is.
- None: with any unit vectors n_j, L_j >= n_j.a_j + n_j.B_j L. If some v >= 0 has v^T (1 - n.B) <= 0 and v.(n.a) > 0,
  no L >= 0 can be (Farkas); v is found by linear programs, n along the reactions of an iteration that runs away and
  of loads that the inequalities so far leave.
- Several: two are found by Newton's iteration and each repeats to rounding, with a slope that is regular there.

The classical case is that of Painleve (1895): a rod that slides on a rough guide, L = |a + b L| with b > 1.
"""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formulations.at_rest import coupled_loads, load_groups
from ..formulations.dry_friction import check_loads
from ..friction import loaded_joints
from ..mechanism.closing import closed
from .kernels import Kernels

Array = NDArray[np.float64]
Groups = list[tuple[int, bool]]
_SURE = 1e-6
"""How far below 1 a contraction must be, far above the rounding of its computation."""
_REPEATS = 1e-11
_STARTS = 12
_ROUNDS = 60
_RUNS_AWAY = 1e6
_CUTS = 40


class FrictionCode(IntEnum):
    """How many solutions friction and the reactions it depends on have."""

    UNIQUE = 0
    FOUND = 1
    SEVERAL = 2
    NONE = 3
    UNKNOWN = 4

    @property
    def advice(self) -> str:
        """What it means and what to do."""
        return {
            FrictionCode.UNIQUE: "exactly one solution, proven",
            FrictionCode.FOUND: "one solution is found; that it is the only one is not proven",
            FrictionCode.SEVERAL: "several solutions: friction is too strong to say which forces act",
            FrictionCode.NONE: "no forces satisfy the law of friction in this motion, proven: the joints jam",
            FrictionCode.UNKNOWN: "no solution is found, and that there is none is not proven",
        }[self]


class FrictionSolutions(NamedTuple):
    """Code (...) of each state, a solution's loads (..., k) [N] (NaN: none found), and the bound of contraction (...).

    The contraction is a bound of how much a change of loads grows in a round of reactions and friction; one below 1
    proves that there is one solution.
    """

    code: NDArray[np.int64]
    loads: Array
    contraction: Array


def motion_solutions(kernels: Kernels, rows: list[Array], direct: bool = False) -> FrictionSolutions:
    """Solutions at n states: rows of pose, twist, acceleration (``direct``: actuator forces) and wrench."""
    mechanism, dry = kernels.mechanism, kernels.options.dry
    check_loads(mechanism)
    make = partial(coupled_loads, mechanism, dry, direct)
    kernel = kernels.made(f"coupled_loads {direct}", lambda: closed(mechanism, make()))
    constant, slopes, *_ = kernel(*(np.ascontiguousarray(row) for row in rows))
    return solutions(constant, slopes, load_groups(mechanism, loaded_joints(mechanism)))


def solutions(constant: Array, slopes: Array, groups: Groups) -> FrictionSolutions:
    """Of states a (n, p) and B (n, p, k), ``groups`` the number of parts of each load and whether sizes are summed."""
    count, k = len(constant), len(groups)
    bound = contraction(slopes, groups)
    code = np.full(count, int(FrictionCode.UNIQUE))
    rng, scale = np.random.default_rng(0), np.abs(constant).max(axis=1, initial=0.0)[:, None] + 1e-300
    starts = [np.zeros((count, k)), np.repeat(scale, k, axis=1)]
    starts += [scale * 10 ** rng.uniform(-2.0, 2.0, size=(count, k)) for _ in range(_STARTS)]
    first, found = np.full((count, k), np.nan), np.zeros(count, dtype=np.int64)
    for start in starts:
        load, ok = _newton(constant, slopes, groups, start)
        new = ok & (found == 0)
        first[new] = load[new]
        with np.errstate(invalid="ignore"):
            apart = np.abs(load - first).max(axis=1) > 1e-6 * np.abs(first).max(axis=1, initial=0.0)
        found = np.where(new, 1, np.where(ok & (found == 1) & apart, 2, found))
        if (found + (bound < 1 - _SURE) >= 2).all():
            break
    open_ = ~(bound < 1 - _SURE)
    code[open_] = np.choose(found[open_], [FrictionCode.UNKNOWN, FrictionCode.FOUND, FrictionCode.SEVERAL])
    code[~open_ & (found == 0)] = FrictionCode.UNKNOWN
    for state in np.flatnonzero(open_ & (found == 0)).tolist():
        if _none(constant[state], slopes[state], groups):
            code[state] = FrictionCode.NONE
    return FrictionSolutions(code, first, bound)


def contraction(slopes: Array, groups: Groups) -> Array:
    """Bound (n,) of how much a change of loads grows in a round: the smaller of two."""
    if not len(slopes):
        return np.zeros(0)
    sizes = _sizes(slopes, groups)
    radius = np.abs(np.linalg.eigvals(sizes)).max(axis=-1, initial=0.0)
    weights = np.concatenate([np.full(n, np.sqrt(n) if flat else 1.0) for n, flat in groups])
    stretch = np.linalg.norm(weights[:, None] * slopes, ord=2, axis=(-2, -1))
    return np.asarray(np.minimum(radius, stretch))


def _sizes(parts: Array, groups: Groups) -> Array:
    """Sizes (n, k, ...) of the groups of parts (n, p, ...)."""
    found, start = [], 0
    for n, flat in groups:
        part = parts[:, start : start + n]
        found.append(np.abs(part).sum(axis=1) if flat else np.linalg.norm(part, axis=1))
        start += n
    return np.stack(found, axis=1)


def _directions(parts: Array, groups: Groups) -> Array:
    """Unit vectors (signs) (n, p) along the parts of each group."""
    found, start = [], 0
    for n, flat in groups:
        part = parts[:, start : start + n]
        size = np.linalg.norm(part, axis=1, keepdims=True)
        found.append(np.sign(part) if flat else part / np.where(size > 0, size, 1.0))
        start += n
    return np.concatenate(found, axis=1)


def _along(directions: Array, values: Array, groups: Groups) -> Array:
    """Sums (n, k, ...) over each group of directions times values (n, p, ...)."""
    product = directions.reshape(*directions.shape, *(1,) * (values.ndim - 2)) * values
    ends = np.cumsum([0, *(n for n, _ in groups)])
    return np.stack([product[:, a:b].sum(axis=1) for a, b in pairwise(ends.tolist())], axis=1)


def _newton(constant: Array, slopes: Array, groups: Groups, loads: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Loads (n, k) that repeat, and where they do, from a start."""
    unit = np.eye(len(groups))
    ok = np.zeros(len(loads), dtype=bool)
    for _ in range(_ROUNDS):
        parts = constant + np.einsum("npk,nk->np", slopes, loads)
        size = _sizes(parts, groups)
        residual = loads - size
        ok = np.abs(residual).max(axis=1, initial=0.0) <= _REPEATS * np.abs(size).max(axis=1, initial=0.0)
        if ok.all():
            break
        matrix = unit - _along(_directions(parts, groups), slopes, groups)
        regular = np.linalg.cond(matrix) < 1e12
        step = np.zeros_like(loads)
        step[regular] = np.linalg.solve(matrix[regular], residual[regular][..., None])[..., 0]
        loads = np.where(ok[:, None], loads, np.abs(loads - step))
    return loads, ok


def _none(constant: Array, slopes: Array, groups: Groups) -> bool:
    """Whether there is a proof that one state has no solution.

    Directions n are added along a + B L at the loads L that the inequalities so far leave (the prices of the linear
    program that has no v yet), until v is found or the loads satisfy all inequalities: then no such proof exists.
    """
    from scipy.optimize import linprog

    k, base = len(groups), float(np.abs(constant).max(initial=0.0)) + 1e-300
    own = constant[None] / base
    loads = _sizes(own, groups)
    for _ in range(_ROUNDS):
        parts = own + loads @ slopes.T
        loads = np.minimum(_sizes(parts, groups), 10 * _RUNS_AWAY)
    gains, rows = np.empty(0), np.empty((0, k))
    for directions in (_directions(own, groups), _directions(parts, groups)):
        gains, rows = _with(gains, rows, directions, own, slopes, groups)
    for _ in range(_CUTS):
        # strictly, by more than rounding
        proof = linprog(-gains, A_ub=-rows.T, b_ub=np.full(k, -1e-9), bounds=(0.0, 1e6), method="highs")
        if proof.status == 0 and -proof.fun > 1e-9:
            return True
        lacking = linprog(
            np.r_[np.zeros(len(gains)), np.ones(k)],
            A_ub=np.vstack([np.c_[-rows.T, -np.eye(k)], np.r_[-gains, np.zeros(k)]]),
            b_ub=np.r_[np.full(k, -1e-9), -1.0],
            method="highs",
        )
        prices = np.zeros(k + 1) if lacking.status else -lacking.ineqlin.marginals
        if prices[k] < 1e-12:
            return False
        loads = prices[None, :k] / prices[k]
        parts = own + loads @ slopes.T
        if (_sizes(parts, groups) - loads).max() <= 1e-9 * (1 + loads.max()):
            return False
        gains, rows = _with(gains, rows, _directions(parts, groups), own, slopes, groups)
    return False


def _with(
    gains: Array, rows: Array, directions: Array, own: Array, slopes: Array, groups: Groups
) -> tuple[Array, Array]:
    """n.a and n.B - 1 with those of further directions (1, p)."""
    row = _along(directions, slopes[None], groups)[0] - np.eye(len(groups))
    return np.r_[gains, _along(directions, own, groups)[0]], np.r_[rows, row]
