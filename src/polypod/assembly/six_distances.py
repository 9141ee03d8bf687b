"""All poses of a platform held by six struts of known lengths, each proven or said not to be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..lazy import lazy
from .chart import Chart
from .contract import ComplexArray, Flags
from .extended import polished_extended
from .smale import LARGEST_ALPHA
from .start_system import MAX_SOLUTIONS, StartSystem, distance, mirrored, solve_start_system
from .tracking import CAREFUL_STEP_CONTROL, STEP_CONTROL

_CHARTS = 6
"""Charts that are tried: the first for all states, the others, with smaller steps and another path, for those it
left in doubt."""
_NEARLY_REAL = 1e-5
"""Imaginary part, relative to the unknowns, below which a real solution is tried instead of a complex one."""
_REAL = 1e-9
"""The same below which a solution that is not proven counts as real."""
_SAME = 1e-6
"""Difference, relative to the unknowns, below which solutions that are not proven are taken for one."""
_AT_ONCE = 250
"""States whose paths are tracked together: few enough to stay in the processor's cache."""


class PathEnds(NamedTuple):
    """Of m states the ends of n paths each.

    ``pose`` (m, n, 4, 4) of the platform; ``real`` and ``certified`` (m, n): which are poses, and which of them are
    proven. ``lost`` (m,) counts paths without an end. ``complete`` (m,): forty different solutions are proven, so there
    are no others.
    """

    pose: Array
    real: Flags
    certified: Flags
    lost: NDArray[np.int64]
    complete: Flags


class _Task(NamedTuple):
    """What is asked for, in sizes of the robot: squared distances (m, 6), and base joints (m, 6, 3) if they move."""

    squares: Array
    base: Array | None

    def at(self, states: NDArray[np.int64] | slice) -> _Task:
        """The task of some of the states."""
        return _Task(self.squares[states], None if self.base is None else self.base[states])


class SixDistances:
    """All poses with given distances between joints a and b (6, 3) on base and platform, in their own frames.

    If the base joints move with the coordinates, a are any points: paths start there.
    """

    def __init__(self, a: Array, b: Array) -> None:
        self.size = float(max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max()))
        self._first = a[0], b[0]
        self._a, self._b = (a - a[0]) / self.size, (b - b[0]) / self.size
        self._charts = [Chart.of(self._a, self._b, number) for number in range(_CHARTS)]

    @lazy
    def start(self) -> StartSystem:
        """All solutions at generic lengths."""
        return solve_start_system(self._a, self._b, self._charts[0])

    def poses(self, lengths: Array, base: Array | None = None) -> PathEnds:
        """All poses with distances (m, 6) from the base joints, or from others (m, 6, 3)."""
        moved = None if base is None else (base - base[:, :1]) / self.size
        task = _Task((lengths / self.size) ** 2, moved)
        steps = range(0, max(len(lengths), 1), _AT_ONCE)
        parts = [self._solve(task.at(slice(k, k + _AT_ONCE))) for k in steps]
        found = _Found(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        pose = np.zeros((*found.real.shape, 4, 4))
        pose[..., 3, 3], pose[..., :3, :3] = 1.0, found.rotation
        origin = self._first[0] if base is None else base[:, None, 0]
        pose[..., :3, 3] = origin + self.size * found.position - found.rotation @ self._first[1]
        full = self.start.count == MAX_SOLUTIONS
        return PathEnds(pose, found.real, found.certified & found.real, found.lost, found.sure & full)

    def _solve(self, task: _Task) -> _Found:
        found = self._attempt(self._charts[0], task, STEP_CONTROL)
        for chart in self._charts[1:]:
            doubtful = np.flatnonzero((found.lost > 0) | ~found.sure)
            if not len(doubtful):
                break
            again = self._attempt(chart, task.at(doubtful), CAREFUL_STEP_CONTROL)
            better = again.merit > found.merit[doubtful]
            for old, new in zip(found, again, strict=True):
                old[doubtful[better]] = new[better]
        return found

    def _attempt(self, chart: Chart, task: _Task, control: tuple[float, float]) -> _Found:
        """All paths of states in one chart."""
        start, m = self.start, len(task.squares)
        x = start.in_chart(chart)
        begin, arrived = chart.lengths(start.squares)[None], np.ones(len(x), dtype=bool)
        if chart.number:
            # lengths on the straight path that are near singular stay so in every chart: go round them
            via = chart.lengths(start.via(chart.number))[None]
            x, arrived = chart.track(x, begin, via, control)
            begin = via
        goal = None if task.base is None else task.base @ chart.base.T
        last = np.repeat(chart.lengths(task.squares, goal), len(x), axis=0)
        goals = None if goal is None else np.repeat(goal, len(x), axis=0)
        arrived, n = np.tile(arrived, m), len(x)
        x, came = chart.track(np.tile(x, (m, 1)), begin, last, control, goals)
        arrived &= came
        if start.mirror and task.base is None:
            # a solution and its image, alternating
            x = np.stack([x, mirrored(chart, x, start.mirror)], axis=1).reshape(-1, 7)
            arrived, last, n = np.repeat(arrived, 2), np.repeat(last, 2, axis=0), 2 * n
        ends = _Ends(chart, last, goals, np.repeat(task.squares, n, axis=0), _repeated(task.base, n))
        polished, alpha, radius = chart.certify(x, last, goals)
        x = np.where(np.isfinite(polished), polished, x)
        real, certified = _real_and_certified(ends, x, arrived, alpha, radius)
        there, proven = arrived.reshape(m, n).copy(), certified.reshape(m, n)
        x, radius, sure = x.reshape(m, n, 7), radius.reshape(m, n), np.asarray(proven.all(axis=1))
        sure[sure] = _disjoint(x[sure], radius[sure])
        poses = (real & arrived).reshape(m, n)
        for k in np.flatnonzero(~sure):
            # where paths meet one counts; at a proven solution, a simple one, they cannot: one has left its own
            again = np.tril(distance(x[k], x[k]) < _SAME, -1).any(axis=1)
            poses[k] &= ~again
            there[k] &= ~(again & proven[k])
        position, rotation = np.zeros((m, n, 3)), np.zeros((m, n, 3, 3))
        position[poses], rotation[poses] = (part.real for part in chart.pose(x[poses]))
        merit = there.sum(axis=1) + (there & proven).sum(axis=1)
        return _Found(position, rotation, poses, proven, (~there).sum(axis=1), sure, merit)


class _Ends(NamedTuple):
    """Where k paths end: the chart, lengths (k, 6) and base joints (k, 6, 3) in it; squares and joints as given."""

    chart: Chart
    last: ComplexArray
    goal: Array | None
    squares: Array
    base: Array | None


def _repeated(values: Array | None, n: int) -> Array | None:
    return None if values is None else np.repeat(values, n, axis=0)


def _some_of(values: Array | None, rows: NDArray[np.int64]) -> Array | None:
    return None if values is None else values[rows]


def _real_and_certified(
    ends: _Ends, x: ComplexArray, arrived: Flags, alpha: Array, radius: Array
) -> tuple[Flags, Flags]:
    """Which solutions are real and which proven, (k,) each; x, alpha and radius become those of the real solutions."""
    everything = np.flatnonzero(arrived)
    _refine(ends, everything[~(alpha[everything] < LARGEST_ALPHA)], x, alpha, radius)
    size = 1 + np.abs(x).max(axis=1)
    imaginary = np.abs(x.imag).max(axis=1)
    try_real = np.flatnonzero(arrived & (imaginary <= _NEARLY_REAL * size))
    real = np.zeros(len(x), dtype=bool)
    if len(try_real):
        y, own, reach = x.copy(), alpha.copy(), radius.copy()
        start = x[try_real].real.astype(np.complex128)
        y[try_real], own[try_real], reach[try_real] = ends.chart.certify(
            start, ends.last[try_real], _some_of(ends.goal, try_real)
        )
        poor = try_real[~(own[try_real] < LARGEST_ALPHA)]
        y[poor] = x[poor].real
        _refine(ends, poor, y, own, reach)
        stayed = np.abs(y - x).max(axis=1) <= 10 * _NEARLY_REAL * size
        kept = try_real[(stayed & ((own < LARGEST_ALPHA) | (imaginary <= _REAL * size)))[try_real]]
        x[kept], alpha[kept], radius[kept], real[kept] = y[kept], own[kept], reach[kept], True
    # a complex solution is proven not to be real where no real point is as near
    certified = arrived & (alpha < LARGEST_ALPHA) & (real | (imaginary > radius))
    return real, certified


def _refine(ends: _Ends, rows: NDArray[np.int64], x: ComplexArray, alpha: Array, radius: Array) -> None:
    """Polish and certify some solutions in extended precision, in place, where the result is finite."""
    if not len(rows):
        return
    found = polished_extended(ends.chart, x[rows], ends.squares[rows], _some_of(ends.base, rows))
    good = np.isfinite(found.x).all(axis=1) & np.isfinite(found.alpha)
    x[rows[good]], alpha[rows[good]], radius[rows[good]] = (part[good] for part in found)


def _disjoint(x: ComplexArray, radius: Array) -> Flags:
    """Whether the balls of radius (m, n) about all solutions (m, n, 7) of a state are disjoint, (m,).

    They are if weighted sums of the components, weights at most 1, are farther apart than the largest balls allow; the
    few states that this leaves undecided are looked at pair by pair.
    """
    weights = np.cos(np.arange(1.0, 8.0))
    gaps = np.diff(np.sort(x.real @ weights + x.imag @ weights[::-1], axis=1), axis=1)
    apart = gaps.min(axis=1) > 2 * 2 * np.abs(weights).sum() * radius.max(axis=1) * (1 + 1e-9)
    for k in np.flatnonzero(~apart):
        difference = np.abs(x[k][:, None] - x[k]).max(axis=2)
        reach = radius[k][:, None] + radius[k]
        apart[k] = bool((difference > reach)[~np.eye(len(reach), dtype=bool)].all())
    return np.asarray(apart)


class _Found(NamedTuple):
    """Ends of the paths of m states as in :class:`PathEnds`, and whether all are ``sure``: proven and different."""

    position: Array
    rotation: Array
    real: Flags
    certified: Flags
    lost: NDArray[np.int64]
    sure: Flags
    merit: NDArray[np.int64]
