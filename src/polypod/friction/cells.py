"""Proofs of none, one or several loads L with L_j = |a_j + B_j L|, by cells of the reactions' directions.

In a cell the part p_j = a_j + B_j L of some joints lies in a cone of three unit rays, p_j = sum_i c_i r_i with c >= 0
(or has given signs, where sizes are summed), so that with L_j >= n.p_j for any unit vector n

    p_j in the cone,   |p_j| <= sum_i c_i   and so   L_j <= sum_i c_i

are linear in L; equality holds on the rays, so that the bounds close as cones become narrow.

- A cell is empty if a linear program over loads and scale (L, s), s a instead of a, on the simplex of sum L + s = 1 has
  weights v >= 0 of its inequalities M (L, s) <= 0 with v^T M > 0 in every column: checked for the weights themselves.
- A cell has at most one solution if all 1 - N B are regular, N any rows in the hull of the cones' unit vectors: those
  about the middle ones differ by balls of radius r, and 1 - (N B) is regular if the largest singular value of
  D B (1 - N_0 B)^-1 r D^-1 is below 1, D > 0 any scales of joints (a small gain).

Cells are halved until each is empty or its only solution is known, or two are known.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import pairwise, product
from typing import Any

import numpy as np

from ..arrays import Array

Groups = list[tuple[int, bool]]
"""Of each load the number of its parts, and whether their sizes are summed; else it is their 2-norm."""
Cells = dict[int, Array]
_EMPTY = 1e-10
"""How far above 0 every column of v^T M must be for weights of sum 1, far above the rounding of the product."""
_SURE = 1e-6
_CLOSED = 1e-7
_NARROWEST = 1e-6


class Count(Enum):
    """What is proven of the number of solutions."""

    NONE = 0
    ONE = 1
    SEVERAL = 2
    OPEN = 3


class CellSearch:
    """The search of one state: a (p) and B (p, k); ``newton`` gives a solution near some loads, or None."""

    def __init__(
        self, constant: Array, derivatives: Array, groups: Groups, newton: Callable[[Array], Array | None]
    ) -> None:
        self.constant, self.derivatives, self.groups, self.newton = constant, derivatives, groups, newton
        ends = np.cumsum([0, *(n for n, _ in groups)]).tolist()
        self.parts = [slice(a, b) for a, b in pairwise(ends)]
        self.acting = [j for j in range(len(groups)) if np.abs(derivatives[:, j]).max(initial=0.0) > 0]
        """Joints whose loads others depend on; the rest follow from these."""
        self.cuts: list[Array] = []
        for j in self.acting:
            n, summed = groups[j]
            for direction in map(np.array, product((1.0, -1.0), repeat=n)):
                self._cut(j, direction if summed else direction / np.sqrt(n))
        self.found: list[Array] = []

    def count(self, cells: int, known: Array | None = None) -> Count:
        """The number of solutions, proven within a number of cells; ``known`` is one of them."""
        if known is not None:
            self.found.append(known)
        open_: list[Cells] = [{}]
        for _ in range(cells):
            if not open_:
                return Count(len(self.found))
            cell = open_.pop()
            point = self._point(cell)
            if point is None:
                continue
            loads, scale = point
            if scale > 1e-9:
                self._near(loads / scale)
            if len(self.found) > 1:
                return Count.SEVERAL
            if self.found and self._inside(self.found[0], cell) and self._gain(cell) < 1 - _SURE:
                continue
            halves = self._halves(cell, loads, scale)
            if not halves:
                return Count.OPEN
            open_ += halves
        return Count.OPEN

    def _cut(self, j: int, direction: Array) -> None:
        """n.p_j - L_j <= 0, valid in every cell."""
        row = direction @ np.c_[self.derivatives, self.constant][self.parts[j]]
        row[j] -= 1
        self.cuts.append(row / np.abs(row).max())

    def _rows(self, j: int, cone: Array) -> Array:
        """What a cell adds: M (L, s) <= 0."""
        part = np.c_[self.derivatives, self.constant][self.parts[j]]
        shares = cone[:, None] * part if self.groups[j][1] else np.linalg.solve(cone.T, part)
        upper = -shares.sum(axis=0)
        upper[j] += 1
        rows = np.vstack([-shares, upper])
        return np.asarray(rows / (np.abs(rows).max(axis=1, keepdims=True) + 1e-300))

    def _point(self, cell: Cells) -> tuple[Array, float] | None:
        """Loads and scale that satisfy a cell's inequalities with the most room; None if the cell is proven empty."""
        from scipy.optimize import linprog

        k, columns = len(self.groups), [*self.acting, len(self.groups)]
        own = [self._rows(j, cone) for j, cone in cell.items()]
        for _ in range(6):
            rows = np.vstack([*self.cuts, *own])[:, columns]
            found = linprog(
                np.r_[np.zeros(len(columns)), 1.0],
                A_ub=np.c_[rows, -np.ones(len(rows))],
                b_ub=np.zeros(len(rows)),
                A_eq=[np.r_[np.ones(len(columns)), 0.0]],
                b_eq=[1.0],
                bounds=[(0.0, None)] * len(columns) + [(None, None)],
                method="highs",
            )
            weights = np.maximum(-found.ineqlin.marginals, 0.0)
            if (weights @ rows).min() > _EMPTY * weights.sum():
                return None
            loads, scale = np.zeros(k), float(found.x[-2])
            loads[self.acting] = found.x[:-2]
            parts, news = self._parts(loads, scale), False
            for j in self.acting:
                size = float(np.linalg.norm(parts[self.parts[j]]))
                if not self.groups[j][1] and size - loads[j] > 1e-3 * max(loads.max(), scale):
                    self._cut(j, parts[self.parts[j]] / size)
                    news = True
            if not news:
                break
        return loads, scale

    def _parts(self, loads: Array, scale: float = 1.0) -> Array:
        return np.asarray(scale * self.constant + self.derivatives @ loads)

    def _near(self, loads: Array) -> None:
        """Keep a solution near some loads if it is a new one."""
        new = self.newton(loads)
        if new is not None and all(np.abs(new - old).max() > 1e-6 * np.abs(old).max() for old in self.found):
            self.found.append(new)

    def _inside(self, loads: Array, cell: Cells) -> bool:
        parts = self._parts(loads)
        for j, cone in cell.items():
            part = parts[self.parts[j]]
            shares = cone * part if self.groups[j][1] else np.linalg.solve(cone.T, part)
            if shares.min() < -1e-9 * np.abs(part).max():
                return False
        return True

    def _gain(self, cell: Cells) -> float:
        """The small gain; below 1 no two solutions are in the cell."""
        act = self.acting
        middle, radius, weight = np.zeros((len(act), len(act))), np.ones(len(act)), np.ones(len(act))
        for i, j in enumerate(act):
            n, summed = self.groups[j]
            weight[i] = np.sqrt(n) if summed else 1.0
            if j in cell:
                centre, radius[i] = (cell[j], 0.0) if summed else _ball(cell[j])
                middle[i] = centre @ self.derivatives[self.parts[j]][:, act]
        matrix = np.eye(len(act)) - middle
        if np.linalg.cond(matrix) > 1e9:
            return float(np.inf)
        gain = np.vstack([w * self.derivatives[self.parts[j]][:, act] for w, j in zip(weight, act, strict=True)])
        gain = gain @ np.linalg.inv(matrix) * radius
        ends = np.cumsum([0, *(self.groups[j][0] for j in act)]).tolist()
        sizes = np.array([np.linalg.norm(gain[a:b], axis=0) for a, b in pairwise(ends)]) + 1e-12
        scales = np.sqrt(_perron_vector(sizes.T) / _perron_vector(sizes))
        rows = np.repeat(scales, [self.groups[j][0] for j in act])
        return float(np.linalg.norm(rows[:, None] * gain / scales, ord=2))

    def _halves(self, cell: Cells, loads: Array, scale: float) -> list[Cells]:
        """Smaller cells of one, at the joint whose bounds are loosest; none if it is as small as numbers allow."""
        parts, act = self._parts(loads, scale), self.acting
        lack = [
            loads[j] - (np.abs(p).sum() if self.groups[j][1] else np.linalg.norm(p))
            for j, p in ((j, parts[self.parts[j]]) for j in act)
        ]
        j = act[int(np.argmax(lack))]
        if max(lack) < _CLOSED * max(loads.max(), scale) or _width(cell, j, self.groups) < _NARROWEST:
            j = max(act, key=lambda i: _width(cell, i, self.groups) * np.linalg.norm(self.derivatives[self.parts[i]]))
        width = _width(cell, j, self.groups)
        if width < _NARROWEST:
            return []
        return [{**cell, j: cone} for cone in _cones(cell.get(j), *self.groups[j])]


def _cones(cone: Array | None, n: int, summed: bool) -> list[Array]:
    """All cones of a joint (octants, or signs), or the halves of one."""
    if cone is None:
        signs = [np.array(s) for s in product((1.0, -1.0), repeat=n)]
        return signs if summed else [np.diag(s) for s in signs]
    a, b = max(((0, 1), (0, 2), (1, 2)), key=lambda edge: np.linalg.norm(cone[edge[0]] - cone[edge[1]]))
    between = cone[a] + cone[b]
    halves = [cone.copy(), cone.copy()]
    halves[0][a] = halves[1][b] = between / np.linalg.norm(between)
    return halves


def _ball(cone: Array) -> tuple[Array, float]:
    """Centre and radius of a ball that holds all unit vectors of a cone and what lies between them."""
    middle = cone.sum(axis=0)
    middle /= np.linalg.norm(middle)
    least = float((cone @ middle).min())
    return least * middle, float(np.sqrt(max(1.0 - least**2, (1.0 - least) ** 2)))


def _width(cell: Cells, j: int, groups: Groups) -> float:
    """How far apart the directions of a joint may be in a cell."""
    if j not in cell:
        return 2.0
    return (
        0.0
        if groups[j][1]
        else float(max(np.linalg.norm(cell[j][a] - cell[j][b]) for a, b in ((0, 1), (0, 2), (1, 2))))
    )


def _perron_vector(matrix: Array) -> Array:
    """The positive eigenvector of a positive matrix's largest eigenvalue."""
    values, vectors = np.linalg.eig(matrix)
    leading: Any = np.abs(vectors[:, np.abs(values).argmax()])
    return np.asarray(leading + 1e-12 * leading.max())
