"""All poses of a platform held by six struts of known lengths, each proven or said not to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..lazy import lazy
from .chart import Chart, product
from .contract import ComplexArray, Flags
from .smale import LARGEST_ALPHA, alpha_and_radius, inverses, sizes
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
    """Ends of the paths of m states as in ``PathEnds``, and whether all are ``sure``: proven and different."""

    position: Array
    rotation: Array
    real: Flags
    certified: Flags
    lost: NDArray[np.int64]
    sure: Flags
    merit: NDArray[np.int64]


# ----------------------------------------------------------------------------------------------------------------------
# All solutions of a geometry at generic lengths, found once: the start system of paths to its real lengths.
#
# A random complex pose has its lengths; loops through other lengths and back permute the solutions there, so every
# loop
# brings new ones until there are no more (monodromy). None is out of reach: poses with their lengths are one
# irreducible
# set. Forty are all there can be (Ronga and Vust 1995); fewer are taken for all when loops bring no more. They are
# then
# tracked to lengths nearer to those that poses have: paths from there are a fifth shorter.

MAX_SOLUTIONS = 40
"""Solutions of six distance equations at most."""
_MAX_IDLE_LOOPS = 12
"""Loops without new solutions after which there are no more: one that missed some would bring none at most every other
time, if the rest were a block that loops exchange as a whole."""
_MAX_LOOPS = 200
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


# ----------------------------------------------------------------------------------------------------------------------
# The certificate in extended precision, for the few solutions that leave doubt: so near a singularity that double does
# not decide, or of a symmetric robot, where elimination without exchanging rows divides by zero.
#
# Written with NumPy's ``clongdouble``: 64 bits of mantissa on x86, no more than double elsewhere, where doubt then
# remains. The bounds are those of ``polypod.assembly.chart`` with that precision's rounding; charts are rotated
# anew in it.

Long = NDArray[np.longdouble]
LongComplex = NDArray[np.clongdouble]
_ROUNDINGS = 32 * np.finfo(np.longdouble).eps
_STEPS = 4


class Refined(NamedTuple):
    """Unknowns (n, 7), alpha and radius (n,)."""

    x: ComplexArray
    alpha: Array
    radius: Array


def polished_extended(chart: Chart, x: ComplexArray, squares: Array, base: Array | None = None) -> Refined:
    """Unknowns (n, 7) polished at squared distances (n, 6), and their certificate.

    ``base`` (n, 6, 3) are base joints instead of the chart's own, not rotated. The radius counts the rounding to double
    precision.
    """
    a, b = chart.rotated(base, np.longdouble)
    z, s = x.astype(np.clongdouble), squares.astype(np.longdouble)
    lengths: Any = np.concatenate([s[:, :1] - s[:, 1:] + ((a + b) ** 2).sum(axis=-1)[..., 1:], s[:, :1]], axis=1) / 4
    a, b = a[..., 1:, :], b[1:]
    for _ in range(_STEPS):
        f, matrix = _equations(z, lengths, a, b)
        z = z - _times(inverses(matrix), f)
    f, matrix = _equations(z, lengths, a, b)
    inverse = inverses(matrix)
    value, slope, square = _terms(z, lengths, a, b)
    weights = sizes(inverse)
    beta = _times(weights, sizes(f) + _ROUNDINGS * value).max(axis=1)
    gamma = _times(weights, square).max(axis=1)
    near = np.einsum("nij,njk->nik", inverse, matrix)
    defect = sizes(near - np.eye(7)).sum(axis=2) + 2 * _ROUNDINGS * _times(weights, slope)
    alpha, radius = alpha_and_radius(beta, gamma, defect.max(axis=1))
    with np.errstate(all="ignore"):
        radius = radius + sizes(z).max(axis=1) * np.finfo(float).eps
    return Refined(z.astype(np.complex128), alpha.astype(np.float64), radius.astype(np.float64))


def _times(matrices: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((matrices * vectors[:, None, :]).sum(axis=2))


def _equations(x: LongComplex, lengths: Long, a: Long, b: Long) -> tuple[LongComplex, LongComplex]:
    """f (n, 7) and its derivatives (n, 7, 7), as ``polypod.assembly.distance_equations`` has them."""
    g0, g, e = x[:, :1], x[:, 1:4], x[:, 4:]
    d, s, normal, product = b - a, a + b, np.cross(b, a), (a * b).sum(axis=-1)
    kappa, first = lengths[:, :5], lengths[:, 5:]
    norm = 1 + (e * e).sum(axis=1, keepdims=True)
    linear = g0[:, :, None] * d + np.cross(g[:, None], s) + (e @ b.T)[:, :, None] * a
    struts = kappa * norm - product + (g[:, None] * d).sum(axis=2) - (e[:, None] * (linear + normal)).sum(axis=2)
    study, last = g0 + (e * g).sum(axis=1, keepdims=True), g0 * g0 + (g * g).sum(axis=1, keepdims=True) - first * norm
    matrix = np.zeros((len(x), 7, 7), dtype=np.clongdouble)
    matrix[:, 0] = np.concatenate([np.ones_like(g0), e, g], axis=1)
    matrix[:, 1:6, 0] = -(e[:, None] * d).sum(axis=2)
    matrix[:, 1:6, 1:4] = d - np.cross(s, e[:, None])
    matrix[:, 1:6, 4:] = (
        2 * kappa[:, :, None] * e[:, None] - linear - normal - (e[:, None] * a).sum(axis=2)[:, :, None] * b
    )
    matrix[:, 6] = np.concatenate([2 * g0, 2 * g, -2 * first * e], axis=1)
    return np.concatenate([study, struts, last], axis=1), matrix


def _terms(x: LongComplex, lengths: Long, a: Long, b: Long) -> tuple[Long, Long, Long]:
    """Bounds (n, 7) of the sums of sizes of terms, of derivatives' terms and of quadratic coefficients."""
    own = sizes(x)
    g0, g, e = own[:, :1], own[:, 1:4].sum(axis=1)[:, None], own[:, 4:].sum(axis=1)[:, None]
    one, two = np.abs(a).sum(axis=-1), np.abs(b).sum(axis=-1)
    both, product, kappa, first = one + two, one * two, np.abs(lengths[:, :5]), np.abs(lengths[:, 5:])
    norm, kappa_error = 1 + e * e, kappa + 2 * first + both * both
    value = kappa_error * norm + product * (1 + e + e * e) + both * (g + e * g0 + e * g)
    slope = both * (1 + 3 * e + g0 + 2 * g) + 2 * kappa_error * e + 2 * product * (1 + e)
    square = 3 * kappa + 3 * both + product
    rows = (
        (g0 + e * g, value, g0 * g0 + g * g + first * norm),
        (1 + e + g, slope, 2 * (g0 + g + first * e)),
        (3 * np.ones_like(g0), square, 4 + 3 * first),
    )
    values = [np.concatenate(row, axis=1) for row in rows]
    return values[0], values[1], values[2]
