"""All solutions of a geometry at generic lengths, found once: the start system of paths to its real lengths.

A random complex pose has its lengths; loops through other lengths and back permute the solutions there, so every loop
brings new ones until there are no more (monodromy). None is out of reach: poses with their lengths are one irreducible
set. Forty are all there can be (Ronga and Vust 1995); fewer are taken for all when loops bring no more. They are then
tracked to lengths nearer to those that poses have: paths from there are a fifth shorter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..lazy import lazy
from .chart import Chart, product
from .contract import ComplexArray
from .tracking import CAREFUL_STEP_CONTROL

MAX_SOLUTIONS = 40
"""Solutions of six distance equations at most."""
_MAX_IDLE_LOOPS = 12
"""Loops without new solutions after which there are no more: one that missed some would bring none at most every other
time, if the rest were a block that loops exchange as a whole."""
_MAX_LOOPS = 200
_SAME = 1e-6
"""Difference, relative to the unknowns, below which two solutions are one."""
_PROVEN = 0.1
"""Smale's alpha below which a solution is near."""
_FLAT = 1e-9
"""Distance from a plane, relative to the size, within which joints are in it."""


@dataclass(frozen=True)
class StartSystem:
    """Solutions (n, 7) in one chart at squared distances (6); of flat robots one of each mirrored pair.

    ``mirror`` are unit normals of the joints' planes on base and platform; None if one is not flat.
    """

    chart: Chart
    squares: ComplexArray
    solutions: ComplexArray
    mirror: tuple[Array, Array] | None

    @property
    def count(self) -> int:
        """Solutions in all, mirrored ones included."""
        return len(self.solutions) * (2 if self.mirror else 1)

    @lazy
    def poses(self) -> tuple[ComplexArray, ComplexArray]:
        """Positions (n, 3) and quaternions (n, 4) of the solutions, for other charts."""
        return self.chart.pose(self.solutions)[0], self.chart.quaternion(self.solutions)

    def via(self, number: int) -> ComplexArray:
        """Other generic squared distances (6), for paths that avoid the straight one."""
        draw = np.random.default_rng(60_000 + number)
        return np.abs(self.squares).mean() * (draw.normal(size=6) + 1j * draw.normal(size=6))

    def in_chart(self, chart: Chart) -> ComplexArray:
        """The solutions (n, 7) in another chart."""
        return self.solutions if chart is self.chart else chart.unknowns(*self.poses)


def solve_start_system(a: Array, b: Array, chart: Chart) -> StartSystem:
    """Solutions for joints a, b (6, 3) relative to the first ones, sizes about 1."""
    draw = np.random.default_rng(40)
    normals = _normal(a), _normal(b)
    mirror = None if normals[0] is None or normals[1] is None else (normals[0], normals[1])
    e, g = (draw.normal(size=3) + 1j * draw.normal(size=3) for _ in range(2))
    found = np.concatenate([[-(e * g).sum()], g, e])[None]
    squares = chart.squares(found)[0]
    typical = np.abs(squares).mean()
    home = chart.lengths(squares)[None]
    if mirror:
        found = _distinct(np.concatenate([found, mirrored(chart, found, mirror)]))
    idle = 0
    for _ in range(_MAX_LOOPS):
        if idle == _MAX_IDLE_LOOPS or len(found) >= MAX_SOLUTIONS:
            break
        via = [chart.lengths(typical * (draw.normal(size=6) + 1j * draw.normal(size=6)))[None] for _ in range(2)]
        x = found
        for begin, end in ((home, via[0]), (via[0], via[1]), (via[1], home)):
            x, arrived = chart.track(x, begin, end)
            x = x[arrived]
        x, alpha, _ = chart.certify(x, home)
        x = x[alpha < _PROVEN]
        if mirror and len(x):
            x = np.concatenate([x, mirrored(chart, x, mirror)])
        every = _distinct(np.concatenate([found, x]))
        idle = idle + 1 if len(every) == len(found) else 0
        found = every
    if mirror:
        found = _one_of_each_pair(chart, found, mirror)
    near = ((a * a).sum(axis=1) + (b * b).sum(axis=1)).mean() + 1
    typical_squares = near * (1 + 0.2 * draw.normal(size=6) + 0.5j * draw.normal(size=6))
    x, arrived = chart.track(found, home, chart.lengths(typical_squares)[None], CAREFUL_STEP_CONTROL)
    x, alpha, _ = chart.certify(x, chart.lengths(typical_squares)[None])
    if (arrived & (alpha < _PROVEN)).all() and len(_distinct(x)) == len(found):
        squares, found = typical_squares, x
    return StartSystem(chart, squares, found, mirror)


def mirrored(chart: Chart, x: ComplexArray, mirror: tuple[Array, Array]) -> ComplexArray:
    """The mirror images (n, 7) in the base's plane of solutions (n, 7) of a flat robot: R becomes M R M', p M p.

    As quaternions with normals n, n' of the planes: e becomes n e n', g = p e/2 becomes -n g n'.
    """
    n, m = (np.r_[0.0, axes @ normal][None] for axes, normal in zip((chart.base, chart.platform), mirror, strict=True))
    map_ = product(product(n, np.eye(4)), m)
    e, g = map_[0] + x[:, 4:] @ map_[1:], -(x[:, :4] @ map_)
    return np.asarray(np.concatenate([g, e[:, 1:]], axis=1) / e[:, :1])


def _normal(points: Array) -> Array | None:
    """Unit normal of the plane of points (6, 3) through the first; None if they are not in one plane, or in a line."""
    sizes, axes = np.linalg.svd(points)[1:]
    return axes[2] if sizes[2] <= _FLAT * sizes[0] and sizes[1] > _FLAT * sizes[0] else None


def distance(x: ComplexArray, y: ComplexArray) -> Array:
    """Differences (..., n, m) of unknowns (..., n, 7) and (..., m, 7) relative to their size."""
    size = 1 + np.abs(x).max(axis=-1)
    return np.asarray(np.abs(x[..., :, None, :] - y[..., None, :, :]).max(axis=-1) / size[..., :, None])


def _distinct(x: ComplexArray) -> ComplexArray:
    """Solutions without repetitions, in their order."""
    same = distance(x, x) < _SAME
    return x[~np.tril(same, -1).any(axis=1)]


def _one_of_each_pair(chart: Chart, x: ComplexArray, mirror: tuple[Array, Array]) -> ComplexArray:
    """One solution of each mirrored pair."""
    pair = distance(x, mirrored(chart, x, mirror)).argmin(axis=1)
    return x[np.arange(len(x)) <= pair]
