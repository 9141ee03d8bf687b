"""Volume of a workspace between guaranteed bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from math import exp, pi, sqrt
from time import monotonic
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...errors import InputError
from ...fingerprint import fingerprint
from ...kernels import CacheKey, Expression, Kernel, Port, port
from ...kernels.threads import cores
from ...model import Model
from ...symbols.graph import Graph
from ..workspace.extent import extent
from ..workspace.pose_coordinates import PoseCoordinates, WorkspaceTest
from .boxes import Boxes
from .enclosure import Enclosure
from .implicit import ImplicitEnclosure, enclosure_of
from .intervals import Interval, evaluate_intervals
from .telescopic_legs import (
    LEG,
    SOURCES,
    WIDENED,
    HexapodJacobian,
    intervals_of,
    is_ups_hexapod,
    leg_at,
    leg_numbers,
    ups_legs,
)

_CHUNK = 1 << 11
_MOST_BOXES = 8_000_000
_SUMS = 1e-10
"""Bound of the relative rounding error of sums of volumes."""
_Z = 2
_SMALL = 0.4
"""Sum of a box's sides other than z, in sizes of the robot, below which columns bound it better than bisection."""
_LONG = 0.1
"""Columns are cut when they are as long as this makes equal to the sides of a box."""
_SHARE = 0.5
"""Share of the remaining gap that belongs to the boxes split in one round."""
_NOTHING = 1e-9
"""Share of a box's volume that counts as zero."""
_NEAR = 0.3
"""A box is not split further when its own gap is this share of the gap asked for."""


class CertifiedVolume(NamedTuple):
    """Rigorous bounds of the volume of a workspace: low <= volume <= high, in the product of the coordinates' units.

    Attributes
    ----------
    low, high : float
        Bounds of the volume.
    gap : float
        (high - low)/high.
    names : tuple of str
        Names of the k coordinates.
    span : ndarray, shape (k, 2)
        Range of each coordinate [m, rad].
    boxes : int
        Number of boxes decided or bounded.
    open : int
        Number of boxes still undecided at the end.
    seconds : float
        Computing time [s].
    left_out : mapping of str to str
        Limits of the robot file that are not judged, and why.
    """

    low: float
    high: float
    gap: float
    names: tuple[str, ...]
    span: Array
    boxes: int
    open: int
    seconds: float
    left_out: Mapping[str, str]


def certified_volume(
    model: Model,
    coordinates: Sequence[str] | None = None,
    span: Mapping[str, tuple[float, float]] | None = None,
    at: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    gap: float = 0.05,
    seconds: float = 30.0,
) -> CertifiedVolume:
    """Volume of the workspace between guaranteed bounds, by bisection of undecided boxes.

    Inside are poses that keep all ranges and cones, close the legs and have the sign of det J that home has; rounding
    is accounted for. ``left_out`` of the result names limits that are not judged, such as clearances: with them the
    volume may be smaller. Parts that are not connected with home count too. For robots on six telescopic legs, over z
    and other coordinates, the volume within a box is bounded by the mean length of its columns along z (half of them
    for a mirror-symmetric robot); for other robots a box is inside, outside or undecided.

    Parameters
    ----------
    model : Model
        Model of the robot.
    coordinates : sequence of str, optional
        Coordinates to integrate over; the others stay at ``at``. Default: all.
    span : mapping of str to (float, float), optional
        Range of coordinates [m, rad]. Default: the extent of the workspace and a tenth more.
    at : mapping of str to float, optional
        Coordinates as offsets from home [m, rad], such as ``{"z": 0.02}``. Default: home.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    gap : float, optional
        Relative gap between the bounds at which to stop.
    seconds : float, optional
        Computing time at which to stop [s].

    Returns
    -------
    CertifiedVolume
        The bounds.
    """
    if not 0 < gap < 1 or not seconds > 0:
        raise InputError(f"gap: gap must be between 0 and 1 and seconds greater than 0, got {gap!r} and {seconds!r}")
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space)
    names = tuple(coordinates or space.names)
    indices = [space.index(name) for name in names]
    start = space.point(at)
    box = _span(test, names, span or {}, start)
    bounds = _bounds(space, start, indices)
    part, times = bounds.part(box)
    bounds.compile(Boxes.one(*part.T), gap)  # which is no search
    work = _Refinement(bounds, Boxes.one(*part.T))
    began = monotonic()
    while work.goes_on(gap) and monotonic() - began < seconds:
        work.refine(gap, began + seconds)
    low, high = times * work.low * (1 - _SUMS), times * work.high * (1 + _SUMS)
    rest = (high - low) / high if high else 0.0
    taken = work.taken, len(work.boxes.low), monotonic() - began
    return CertifiedVolume(low, high, rest, names, box, *taken, test.not_proven)


def _span(test: WorkspaceTest, names: Sequence[str], span: Mapping[str, tuple[float, float]], at: Array) -> Array:
    for name in span:
        if name not in names:
            raise InputError(f"span: {name} is not among the coordinates {', '.join(names)}")
    missing = [name for name in names if name not in span]
    found = extent(test, missing, at) if missing else np.zeros((0, 2))
    middle, half = found.mean(axis=1), 0.55 * (found[:, 1] - found[:, 0])
    middle[np.abs(middle) < 1e-9 * half] = 0.0  # what is even but for rounding is so exactly, as mirrors need it
    own = dict(zip(missing, np.stack([middle - half, middle + half], axis=1), strict=True))
    box = np.array([span.get(name, own.get(name)) for name in names], dtype=np.float64)
    if not (np.isfinite(box).all() and (box[:, 0] < box[:, 1]).all()):
        raise InputError(f"span: must have a low and a high end for every coordinate, got {box.tolist()}")
    return box


class _BoundedBoxes(NamedTuple):
    """Boxes, perhaps made smaller, with bounds of the volume inside each (n,)."""

    boxes: Boxes
    least: Array
    most: Array


class _VolumeBounds:
    """Bounds of the volume inside boxes: each is inside, outside or neither."""

    def __init__(self, space: PoseCoordinates, start: Array, indices: list[int]) -> None:
        self.start, self.indices = start, indices
        self.enclosure = enclosure_of(space)
        # of poses that follow, places found in one call are where the next one starts: calls come one after the other
        self.threads = 1 if isinstance(self.enclosure, ImplicitEnclosure) else cores()
        self.scale = np.where(space.turns, space.model.size, 1.0)[indices]

    def __call__(self, boxes: Boxes) -> _BoundedBoxes:
        verdict = self.enclosure(*self.whole(boxes), regular=boxes.regular)
        whole = boxes.volumes
        least, most = np.where(verdict.inside, whole, 0.0), np.where(verdict.outside, 0.0, whole)
        return _BoundedBoxes(boxes._replace(regular=verdict.regular), least, most)

    def compile(self, boxes: Boxes, gap: float) -> None:
        """Call all functions that a search may call."""
        _Refinement(self, boxes).refine(gap, monotonic())

    def whole(self, boxes: Boxes) -> tuple[Array, Array]:
        """Ends (n, m) of all coordinates."""
        bottom, top = (np.tile(self.start, (len(boxes.low), 1)) for _ in range(2))
        bottom[:, self.indices], top[:, self.indices] = boxes.low, boxes.high
        return bottom, top

    def part(self, box: Array) -> tuple[Array, int]:
        """A part of the box (k, 2) to look at, and how many such parts make it up, all of the same volume inside."""
        return box, 1

    def split(self, boxes: Boxes) -> Boxes:
        """Across the coordinate in which a box is largest."""
        return boxes.split(self.scale)


class _ColumnBounds(_VolumeBounds):
    """Bounds by the mean length of columns along z."""

    def __init__(self, space: PoseCoordinates, start: Array, indices: list[int]) -> None:
        super().__init__(space, start, indices)
        self.z = indices.index(_Z)
        self.jacobian = HexapodJacobian(space)
        self.columns = cache(partial(Columns, space))  # with cones: compiled only where one may bind
        self.sign, self.size = space.sign, space.model.size
        self.mirror = mirrored(space)
        self.cones = any(leg.base_cone is not None or leg.platform_cone is not None for leg in ups_legs(space))

    def compile(self, boxes: Boxes, gap: float) -> None:
        """Also columns with cones, which are asked late: where lengths leave some volume."""
        super().compile(boxes, gap)
        if self.cones:
            self.columns(True)(*self.whole(boxes))

    def part(self, box: Array) -> tuple[Array, int]:
        """Half of it, if a reflection takes the robot, the box and the coordinates that stay to themselves."""
        if self.mirror is None:
            return box, 1
        flipped = self.mirror < 0
        stay = np.ones(len(flipped), dtype=bool)
        stay[self.indices] = False
        own = np.flatnonzero(flipped[self.indices])
        if not len(own) or self.start[stay & flipped].any() or (box[own, 0] != -box[own, 1]).any():
            return box, 1
        half = box.copy()
        half[own[-1], 0] = 0.0
        return half, 2

    def __call__(self, boxes: Boxes) -> _BoundedBoxes:
        """By lengths first; small boxes that may hold something are then asked for the sign of det J, and for cones."""
        refined = Boxes.joined([boxes])
        width = self.scale * (boxes.high - boxes.low)
        small = width.sum(axis=1) - width[:, self.z] < _SMALL * self.size
        least, most = np.zeros(len(small)), np.zeros(len(small))
        self._average(refined, least, most, np.arange(len(small)), with_cones=False)
        self._ask(refined, np.flatnonzero((least > 0) & ~(refined.regular & refined.within_cones)))
        by_lengths = most.copy()
        # where lengths alone leave no volume for certain smaller boxes come anyway: cones cost more than they say
        self._average(
            refined, least, most, np.flatnonzero(small & (least > 0) & ~refined.within_cones), with_cones=True
        )
        # cones are known less well than lengths in larger boxes: more limits must not loosen the bound
        most = np.minimum(most, by_lengths)
        least[~(refined.regular & (small | refined.within_cones))] = 0.0
        return _BoundedBoxes(refined, np.minimum(least, most), most)

    def _average(self, boxes: Boxes, least: Array, most: Array, own: NDArray[np.int64], with_cones: bool) -> None:
        """Bounds of some boxes, which are cut to the heights of their columns."""
        if not len(own):
            return
        part = boxes.only(own)
        bottom, top = self.whole(part)
        found = averages(self.columns(with_cones)(bottom, top), bottom, top)
        area = np.prod(np.delete(part.high - part.low, self.z, axis=1), axis=1)
        least[own], most[own] = area * found.least, area * found.most
        boxes.low[own, self.z], boxes.high[own, self.z] = found.heights.min(axis=1), found.heights.max(axis=1)

    def _ask(self, boxes: Boxes, asked: NDArray[np.int64]) -> None:
        """Whether det J keeps its sign, legs close and cones hold, for boxes of which that is not known."""
        if not len(asked):
            return
        part = boxes.only(asked)
        found = self.jacobian(*self.whole(part), signed=~part.regular)
        boxes.within_cones[asked] |= found.cones
        fresh = np.flatnonzero((found.sign == self.sign) & ~part.regular)
        assert isinstance(self.enclosure, Enclosure)  # telescopic legs are in closed form
        boxes.regular[asked[fresh]] |= self.enclosure.limits(*self.whole(part.only(fresh))).closed

    def split(self, boxes: Boxes) -> Boxes:
        """Columns are cut only where they are long and det J is not known to keep its sign along them."""
        scale = np.tile(self.scale, (len(boxes.low), 1))
        scale[:, self.z] = np.where(boxes.regular & boxes.within_cones, 0.0, _LONG)
        return boxes.split(scale)


def _bounds(space: PoseCoordinates, start: Array, indices: list[int]) -> _VolumeBounds:
    return (_ColumnBounds if has_columns(space) and _Z in indices else _VolumeBounds)(space, start, indices)


class _Refinement:
    """Boxes whose bounds are still apart, and the sums of those of all others."""

    def __init__(self, bounds: _VolumeBounds, first: Boxes) -> None:
        self.bounds, self.taken = bounds, 1
        self.decided = [0.0, 0.0]
        self.boxes, self.least, self.most = bounds(first)

    @property
    def low(self) -> float:
        return self.decided[0] + float(self.least.sum())

    @property
    def high(self) -> float:
        return self.decided[1] + float(self.most.sum())

    def goes_on(self, gap: float) -> bool:
        """Whether the gap is too large and there is room for more boxes."""
        return self.high - self.low > gap * self.high and 0 < len(self.boxes.low) < _MOST_BOXES

    def refine(self, gap: float, until: float) -> None:
        """Split the boxes with the widest bounds, which make up half of the gap."""
        width = self.most - self.least
        order = np.argsort(-width)
        count = int(np.searchsorted(np.cumsum(width[order]), _SHARE * width.sum())) + 1
        parts: list[_BoundedBoxes] = []
        done, low, high = 0, self.low, self.high
        chunks = [order[first : min(first + _CHUNK, count)] for first in range(0, count, _CHUNK)]
        # what NumPy does between compiled calls is done for several chunks at once
        with ThreadPoolExecutor(self.bounds.threads) as pool:
            for first in range(0, len(chunks), self.bounds.threads):
                together = chunks[first : first + self.bounds.threads]
                for own, part in zip(together, pool.map(self._halves, together), strict=True):
                    done += len(own)
                    low += float(part.least.sum() - self.least[own].sum())
                    high += float(part.most.sum() - self.most[own].sum())
                    self.taken += len(part.least)
                    near = part.most - part.least <= _NEAR * gap * part.least + _NOTHING * part.boxes.volumes
                    self.decided[0] += float(part.least[near].sum())
                    self.decided[1] += float(part.most[near].sum())
                    parts.append(_BoundedBoxes(part.boxes.only(~near), part.least[~near], part.most[~near]))
                if monotonic() > until or high - low <= gap * high:
                    break
        kept = order[done:]
        parts.append(_BoundedBoxes(self.boxes.only(kept), self.least[kept], self.most[kept]))
        self.boxes = Boxes.joined([one.boxes for one in parts])
        self.least, self.most = (np.concatenate([one[k] for one in parts]) for k in (1, 2))

    def _halves(self, own: NDArray[np.int64]) -> _BoundedBoxes:
        """Bounds of the halves of some boxes."""
        return self.bounds(self.bounds.split(self.boxes.only(own)))


# ----------------------------------------------------------------------------------------------------------------------
# A telescopic leg over a box of poses: from where to where its limits let the platform move along z, as bounds.
#
# With all else given, the tip of a leg is at a horizontal offset h from its base joint and at the height z + v
# above it.
# Its longest and shortest length, and its two cones, each let z be above or below an explicit function of the other
# five
# coordinates u = (x, y, roll, pitch, yaw):
#
#     length    z <= -v + sqrt(l1^2 - h.h),   z >= -v + sqrt(l0^2 - h.h)
#     cone      z >= -v + (c^2 h.h - s^2)/(s d + c r),   z <= -v - (s d + c r)/(d^2 - c^2) where d < c
#
# for an axis with vertical part d > 0, c the cosine of the cone, s = h.axis, r = sqrt(s^2 + h.h (d^2 - c^2)). Over the
# box a function is f(m) + g.(u - m) and a remainder: of lengths by the second derivatives in the middle and a bound of
# the third, of cones by the change of the derivatives over the box in interval arithmetic.

NUMBERS = 13
"""Of a function: ends of its mean and f(m) for the volume's lower bound, the same three for the upper bound,
derivatives (5), and bounds of the remainder and of its mean size."""
_SLACK = 1e-13
"""What sums of some dozens of numbers may have lost."""
_STEEP = 0.01
"""Least square of a root over that of the length of which its derivatives are used, and"""
_ROUNDED = 1e-9
"""what they may then be off by rounding, in lengths: some 1e-15 times the inverse of that to the power 5/2."""
_THIRD = 0.26 / 6
"""Mean of the third-order remainder over the third derivative's bound."""


def has_columns(space: PoseCoordinates) -> bool:
    """Whether a robot has six degrees of freedom and six legs of kind UPS with lengths, and cones narrower than a
    right angle."""
    legs = ups_legs(space)
    if not is_ups_hexapod(space) or any(leg.length is None for leg in legs):
        return False
    cones = [cone for leg in legs for cone in (leg.base_cone, leg.platform_cone) if cone is not None]
    return all(cone.half_angle < 0.49 * np.pi for cone in cones)


class Columns:
    """What each leg of a robot on telescopic legs lets z be, over boxes; compiled once for all such robots.

    A leg has two functions, longest and shortest, or six ``with_cones``: those of even number are above z, the others
    below it.
    """

    def __init__(self, space: PoseCoordinates, with_cones: bool) -> None:
        self._legs = leg_numbers(space, WIDENED)
        self._home = space.home.reshape(1, 16)
        self._kernel = _kernel(with_cones)

    def __call__(self, low: Array, high: Array) -> Array:
        """Numbers (n, legs x functions, NUMBERS) over boxes (n, 6) from low to high."""
        count = len(self._legs)
        ends = [np.repeat(end, count, axis=0) for end in (low, high)]
        found = self._kernel(*ends, np.tile(self._legs, (len(low), 1)), self._home)
        return np.asarray(found).reshape(len(low), count * (found.shape[1] // NUMBERS), NUMBERS)


@cache
def _kernel(with_cones: bool) -> Kernel:
    code = fingerprint("analysis/certified/volume.py", *SOURCES).hex()
    return Kernel(lambda: _expression(with_cones), CacheKey.of(f"columns {with_cones} {code}"))


def _expression(with_cones: bool) -> Expression:
    low, high, leg, home = (ca.SX.sym(n, k) for n, k in (("low", 6), ("high", 6), ("leg", LEG), ("home", 16)))
    box = [Interval(low[k], high[k]) for k in (0, 1, 3, 4, 5)]  # u is all coordinates but z
    middle = [0.5 * (b.low + b.high) for b in box]
    half = [0.5 * (b.high - b.low) * (1 + _SLACK) for b in box]
    ends = low[2], high[2]
    rows = _length_rows(ca.vertcat(*middle), half, leg, home, ends)
    if with_cones:
        u, numbers, axes = ca.SX.sym("u", 5), ca.SX.sym("numbers", 19), ca.SX.sym("home", 16)
        v, cones = _cones(u, numbers, axes)
        smooth = [part for cone in cones for part in (cone.above, cone.below, cone.below2)]
        derivatives = ca.vertcat(*[ca.jacobian(g, u).T for g in smooth])
        outputs = [ca.vertcat(*smooth), derivatives, ca.vertcat(v, *cones[0].checks, *cones[1].checks)]
        graph = Graph.of(ca.Function("leg", [u, numbers, axes], ca.cse([ca.densify(part) for part in outputs])))
        fixed = [Interval(home[k], home[k]) for k in range(16)]
        _, first_order, checked = evaluate_intervals(graph, [box, intervals_of(leg), fixed])
        (centred,) = evaluate_intervals(graph.only([0]), [[Interval(c, c) for c in middle], intervals_of(leg), fixed])
        bounds = [_first_order(centred[k], first_order[5 * k : 5 * k + 5], half) for k in range(6)]
        rows += _cone_rows(bounds[:3], checked[0], checked[1:6], leg[21], ends)
        rows += _cone_rows(bounds[3:], checked[0], checked[6:11], leg[22], ends)
    ports = Port("low", low, (6,)), Port("high", high, (6,)), Port("leg", leg, (LEG,)), Port("home", home, (16,))
    return Expression("columns", ports, (port("functions", ca.vertcat(*rows), (len(rows) * NUMBERS,)),))


def _length_rows(u: ca.SX, half: list[ca.SX], leg: ca.SX, home: ca.SX, ends: tuple[ca.SX, ca.SX]) -> list[ca.SX]:
    """Rows of the longest and the shortest length.

    From the middle of the box the tip moves by at most d1 = |(x, y)| + w |b| for angles that sum to w, its way has
    second and third derivatives d2 = w^2 |b| and d3 = w^3 |b|; these bound the third derivative of the root.
    """
    free, numbers, axes = ca.SX.sym("u", 5), ca.SX.sym("numbers", 19), ca.SX.sym("home", 16)
    _, way = leg_at(ca.vertcat(free[:2], 0, free[2:]), numbers, axes)
    across = way[0] ** 2 + way[1] ** 2
    functions = [-way[2] + ca.sqrt(numbers[k] ** 2 - across) for k in (10, 9)]
    parts = [way, *functions]
    parts += [part for f in functions for part in ca.hessian(f, free)[::-1]]
    at = ca.Function("lengths", [free, numbers, axes], ca.cse([ca.densify(part) for part in parts]))
    way, *found = at(u, ca.vertcat(leg[:14], leg[14], leg[16:19], leg[19]), home)
    arm = ca.norm_2(leg[3:6] - leg[6:9]) * (1 + _SLACK)
    turn = half[2] + half[3] + half[4]
    d1 = ca.sqrt(half[0] ** 2 + half[1] ** 2) + turn * arm
    d2, d3 = turn**2 * arm, turn**3 * arm
    h = ca.norm_2(way[:2])
    farthest = (h + d1) * (1 + _SLACK)
    nearest = ca.fmax(h - d1, 0) * (1 - _SLACK)
    lowest, slack = way[2] - d1, _ROUNDED * (leg[10] + d1)
    up = ends[0] + lowest > slack
    rows = []
    for k, value, derivatives, curvature in ((10, found[0], found[2], found[3]), (9, found[1], found[4], found[5])):
        least, most = leg[k] ** 2 - farthest**2, leg[k] ** 2 - nearest**2
        root = ca.sqrt(ca.fmax(least, 1e-12 * leg[10] ** 2))
        q1, q2, q3 = 2 * farthest * d1, 2 * d1**2 + 2 * farthest * d2, 6 * d1 * d2 + 2 * farthest * d3
        third = d3 + q3 / (2 * root) + 3 * q1 * q2 / (4 * root**3) + 3 * q1**3 / (8 * root**5)
        second = d2 + q2 / (2 * root) + q1**2 / (4 * root**3)
        # a remainder larger than the tip's own motion says less than a constant
        good = ca.logic_and(least > _STEEP * leg[10] ** 2, second < 4 * d1)
        model = _curved(value, derivatives, curvature, second, third, slack, half)
        edge = -lowest + ca.sqrt(ca.fmax(most, 0)) + slack
        if k == 10:
            rows.append(_row(good, model, ends[0], ca.if_else(most < 0, ends[0], edge), ends))
        else:
            # of a tip above its base joint; where it may be below, only what is above counts in the lower bound
            flat = ca.if_else(ca.logic_and(up, most < 0), ends[0], edge)
            some = ca.if_else(ca.logic_and(up, least > 0), -way[2] - d1 + root - slack, ends[0])
            rows.append(_row(ca.logic_and(up, good), model, flat, some, ends))
    return rows


class _Cone(NamedTuple):
    """z at most, z at least in two forms, and what must hold for them: s, d, d^2 - c^2, what is under r, s d + c r."""

    above: ca.SX
    below: ca.SX
    below2: ca.SX
    checks: tuple[ca.SX, ...]


def _cones(u: ca.SX, leg: ca.SX, home: ca.SX) -> tuple[ca.SX, list[_Cone]]:
    """Height v of the tip, and both cones, in u, a leg's numbers (19) and the home pose."""
    axes, way = leg_at(ca.vertcat(u[:2], 0, u[2:]), leg, home)
    h, v = way[:2], way[2]
    across = h[0] ** 2 + h[1] ** 2
    stated = (leg[11:14], leg[14]), (axes @ leg[15:18], leg[18])
    return v, [_cone_functions(h, v, across, axis, c) for axis, c in stated]


def _cone_functions(h: ca.SX, v: ca.SX, across: ca.SX, axis: ca.SX, c: ca.SX) -> _Cone:
    s, d = h[0] * axis[0] + h[1] * axis[1], axis[2]
    steep = d**2 - c**2
    under = s**2 + across * steep
    root = c * ca.sqrt(under)
    whole = s * d + root
    below = -v + (c**2 * across - s**2) / whole
    return _Cone(-v - whole / steep, below, -v + (root - s * d) / steep, (s, d, steep, under, whole))


class _Model(NamedTuple):
    """A function over the box: ends of its mean, f(m), derivatives there (5), bounds of the remainder and of its
    mean."""

    low: ca.SX
    high: ca.SX
    middle: ca.SX
    derivatives: list[ca.SX]
    remainder: ca.SX
    mean_remainder: ca.SX


def _split(a: Interval) -> tuple[ca.SX, ca.SX]:
    """Middle of an interval and its radius, rounding included."""
    middle = 0.5 * (a.low + a.high)
    return middle, ca.fmax(a.high - middle, middle - a.low) * (1 + _SLACK) + _SLACK * ca.fabs(middle)


def _curved(
    value: ca.SX, derivatives: ca.SX, curvature: ca.SX, second: ca.SX, third: ca.SX, slack: ca.SX, half: list[ca.SX]
) -> _Model:
    """f(m) + g.s + s.H s/2 and a remainder below third/6, or f(m) + g.s and one below second/2, whichever says more.

    Of s uniform over the box E s_i s_j = 0, E s_i^2 = e_i^2/3 and E|s_i s_j| = e_i e_j/4; the mean of a product of
    three is at most a quarter of the largest (of |(x, y)|^3 0.26 of it), of a product of two a third.
    """
    mean, rest, size = ca.SX(0), third / 6, _THIRD * third
    for i in range(5):
        mean += curvature[i, i] * half[i] ** 2 / 6
        rest += ca.fabs(curvature[i, i]) * half[i] ** 2 / 2
        size += ca.fabs(curvature[i, i]) * half[i] ** 2 / 6
        for j in range(i):
            area = ca.fabs(curvature[i, j]) * half[i] * half[j]
            rest += area
            size += area / 4
    low = ca.fmax(mean - _THIRD * third, -second / 6) - slack
    high = ca.fmin(mean + _THIRD * third, second / 6) + slack
    rest, size = ca.fmin(rest, second / 2) + slack, ca.fmin(size, second / 6) + slack
    return _Model(value + low, value + high, value, [derivatives[k] for k in range(5)], rest, size)


def _first_order(centre: Interval, derivatives: list[Interval], half: list[ca.SX]) -> _Model:
    """By derivatives over the box: f(m) + g.s and a remainder of at most sum rad_k |s_k|; E|s_k| is e_k/2."""
    at, off = _split(centre)
    parts = [_split(g) for g in derivatives]
    rest = off + sum((radius * e for (_, radius), e in zip(parts, half, strict=True)), ca.SX(0))
    mean = off + sum((radius * e / 2 for (_, radius), e in zip(parts, half, strict=True)), ca.SX(0))
    return _Model(at - mean, at + mean, at, [g for g, _ in parts], rest, mean)


def _row(good: ca.SX, model: _Model, least: ca.SX, most: ca.SX, ends: tuple[ca.SX, ca.SX]) -> ca.SX:
    """The model where it is ``good``; elsewhere constants, ``least`` for the lower and ``most`` for the upper bound."""
    flat = [ca.fmax(ca.fmin(c, ends[1]), ends[0]) for c in (least, most)]
    numbers = [
        *[ca.if_else(good, part, flat[0]) for part in model[:3]],
        *[ca.if_else(good, part, flat[1]) for part in model[:3]],
        *[ca.if_else(good, g, 0) for g in model.derivatives],
        ca.if_else(good, model.remainder, 0),
        ca.if_else(good, model.mean_remainder, 0),
    ]
    return ca.vertcat(*numbers)


def _cone_rows(
    models: list[_Model], height: Interval, checks: list[Interval], there: ca.SX, ends: tuple[ca.SX, ca.SX]
) -> list[ca.SX]:
    """What a cone lets z be at most, and at least; of no cone everything."""
    above, below, below2 = models
    s, d, steep, under, whole = checks
    real = _all(under.low > 0, d.low > 0)
    first = _all(real, whole.low > 0, ca.logic_or(steep.low > 0, s.low > 0))
    second = _all(real, steep.low > 0)
    chosen = _all(first, ca.logic_or(s.low + s.high > 0, ca.logic_not(second)))
    pairs = zip(_flat(below), _flat(below2), strict=True)
    picked = [ca.if_else(chosen, a, b) for a, b in pairs]
    lower = _Model(picked[0], picked[1], picked[2], picked[3:8], picked[8], picked[9])
    empty = _all(there, d.low > 0, steep.high < 0, ca.logic_or(under.high < 0, s.high < 0))
    lowest = _row(
        _all(there, ca.logic_or(first, second)),
        lower,
        ca.if_else(there, ends[1], ends[0]),
        ca.if_else(empty, ends[1], ends[0]),
        ends,
    )
    # a cone that all but holds the vertical lets z be large
    far = -height.high + whole.low / ca.fmax(-steep.low, 1e-9) * (1 - _SLACK)
    some = ca.if_else(_all(s.low > 0, d.low > 0, whole.low > 0), far - _SLACK * (1 + ca.fabs(far)), ends[0])
    free = ca.logic_or(ca.logic_not(there), _all(d.low > 0, steep.low > 0))
    least = ca.if_else(free, ends[1], some)
    highest = _row(_all(there, real, steep.high < 0, s.low > 0), above, least, ends[1], ends)
    return [highest, lowest]


def _flat(model: _Model) -> list[ca.SX]:
    return [model.low, model.high, model.middle, *model.derivatives, model.remainder, model.mean_remainder]


def _all(first: ca.SX, *others: ca.SX) -> ca.SX:
    for part in others:
        first = ca.logic_and(first, part)
    return first


# ----------------------------------------------------------------------------------------------------------------------
# The mean, over a box, of what is left between several upper and several lower bounds of a column, from both sides.
#
# Of X = delta + sum g_k s_k, s uniform over a box, the sum is symmetric and unimodal with variance sigma^2 (a sum
# of such
# is, Wintner), so a mixture of uniform distributions (Khinchine). Of all mixtures with that variance
#
#     E|X| <= |delta| + (2/9) sigma^2/|delta|  if sigma <= sqrt(3) |delta|,  else (delta^2 + 3 sigma^2)/(2 sqrt(3)
# sigma)
#
# is the largest. As each s_k has moments below those of a normal number of its variance, the mean of what exceeds
# zero is
# also at most exp(t delta + t^2 sigma^2/2)/(e t) for any t > 0 (Chernoff). E|X| is convex and even in delta and at
# 0 no
# less than sqrt(2/pi) sigma, so E|X| >= max(|delta|, sqrt(2/pi) sigma). The mean of what exceeds zero is
# (E X + E|X|)/2.
#
# Proof of E|S| >= sqrt(2/pi) sigma for S = sum a_k U_k, U_k uniform in [-1, 1] and a_k >= 0. Let two of the a be a
# >= b,
# or nearer to each other, a' >= b', with a^2 + b^2 = a'^2 + b'^2, and Y the sum of the others. The density of a U +
# b U'
# is a trapezoid: 1/(2a) up to a - b, then falling to 0 at a + b with slope -1/(4ab). That of a, b is lower in the
# middle,
# wider at its top, steeper and ends earlier than that of a', b': their difference f - f' has the signs -, +, - along
# y > 0. D(y) = E|y + a U + b U'| - E|y + a' U + b' U'| is even and smooth, D'' = 2 (f - f') and D = D' = 0 from a'
# + b'
# on, so D' has the signs -, + and D only + and then -. Its integral is the difference of the variances, zero. The
# density
# of Y falls on both sides of 0 (unimodal), so E D(Y) >= 0: with squares nearer to each other E|S| does not grow. So
# each
# a_k may be replaced by n of a_k/sqrt(n) each (pair by pair, T-transforms), and as n grows S becomes normal: E|S|
# is no
# less than that of a normal number.

_MEAN_SLACK = 1e-12
"""What some hundred sums of numbers of about one size may have lost, relative to them."""
_ITERATIONS = 3
"""Functions that are combined with the first two, at most."""


class Averages(NamedTuple):
    """Of n boxes: ends of the mean length of their columns (n,), and heights (n, 2) that hold all of them."""

    least: Array
    most: Array
    heights: Array


def averages(functions: Array, low: Array, high: Array) -> Averages:
    """Of boxes (n, 6) from the functions (n, k, NUMBERS) of all legs, see ``Columns``."""
    flat = np.ascontiguousarray(functions.reshape(len(functions), -1))
    least, most, heights = _mean_kernel(functions.shape[1])(flat, low, high)
    return Averages(least, most, heights)


@cache
def _mean_kernel(count: int) -> Kernel:
    code = fingerprint("analysis/certified/volume.py").hex()
    return Kernel(lambda: _mean_expression(count), CacheKey.of(f"averages {count} {code}"))


class _Line(NamedTuple):
    """A function over the box: ends of its mean, value in the middle, derivatives (5), remainder, its mean size."""

    low: ca.SX
    high: ca.SX
    middle: ca.SX
    derivatives: ca.SX
    remainder: ca.SX
    mean_remainder: ca.SX


def _mean_expression(count: int) -> Expression:
    given, low, high = ca.SX.sym("functions", count * NUMBERS), ca.SX.sym("low", 6), ca.SX.sym("high", 6)
    half = 0.5 * (high - low)[[0, 1, 3, 4, 5]] * (1 + _MEAN_SLACK)
    least_of, most_of = ([_line(given[NUMBERS * k : NUMBERS * (k + 1)], side) for k in range(count)] for side in (0, 3))
    flat = [_Line(z, z, z, ca.SX.zeros(5), ca.SX(0), ca.SX(0)) for z in (low[2], high[2])]

    def split(lines: list[_Line]) -> tuple[list[_Line], list[_Line]]:
        # a function that bounds z from below is turned over, so that one rule does for both
        return [flat[1], *lines[0::2]], [_negated(line) for line in (flat[0], *lines[1::2])]

    ends = high[2] - low[2]
    least = _least(*split(least_of), half)
    most = _most(*split(most_of), half, ends)
    tops, bottoms = split(most_of)
    top, bottom = (_smallest([line.middle + _reach(line, half) for line in lines]) for lines in (tops, bottoms))
    scale = _MEAN_SLACK * (1 + ca.fabs(low[2]) + ca.fabs(high[2]))
    heights = ca.vertcat(ca.fmax(-bottom - scale, low[2]), ca.fmin(top + scale, high[2]))
    outputs = (
        port("least", ca.fmax(least - scale, 0), ()),
        port("most", ca.fmin(ca.fmax(most + scale, 0), ends), ()),
        port("heights", heights),
    )
    ports = Port("functions", given, (count * NUMBERS,)), Port("low", low, (6,)), Port("high", high, (6,))
    return Expression("averages", ports, outputs)


def _line(numbers: ca.SX, side: int) -> _Line:
    low, high, middle = (numbers[side + k] for k in range(3))
    return _Line(low, high, middle, numbers[6:11], numbers[11], numbers[12])


def _negated(line: _Line) -> _Line:
    return _Line(-line.high, -line.low, -line.middle, -line.derivatives, line.remainder, line.mean_remainder)


def _reach(line: _Line, half: ca.SX) -> ca.SX:
    """How far a function goes from its middle value in the box, at most."""
    return line.remainder + ca.dot(ca.fabs(line.derivatives), half)


def _smallest(values: list[ca.SX]) -> ca.SX:
    result = values[0]
    for value in values[1:]:
        result = ca.fmin(result, value)
    return result


def _lowest(lines: list[_Line]) -> tuple[_Line, ca.SX]:
    """The function that is lowest in the middle, and its number."""
    best, number = lines[0], ca.SX(0)
    for k, line in enumerate(lines[1:], 1):
        lower = line.middle < best.middle
        best = _Line(*[ca.if_else(lower, a, b) for a, b in zip(line, best, strict=True)])
        number = ca.if_else(lower, k, number)
    return best, number


class _Difference(NamedTuple):
    """Of two functions a - b: ends of its mean, value in the middle, deviation, farthest from it, mean remainder."""

    low: ca.SX
    high: ca.SX
    middle: ca.SX
    deviation: ca.SX
    reach: ca.SX
    mean_remainder: ca.SX

    @staticmethod
    def of(a: _Line, b: _Line, half: ca.SX) -> _Difference:
        across = (a.derivatives - b.derivatives) * half
        reach = ca.sum1(ca.fabs(across)) + a.remainder + b.remainder
        rest = a.mean_remainder + b.mean_remainder
        return _Difference(
            a.low - b.high, a.high - b.low, a.middle - b.middle, ca.sqrt(ca.sumsqr(across) / 3), reach, rest
        )

    @property
    def excess_most(self) -> ca.SX:
        """Mean of its positive part, at most."""
        return _excess(self.high, self.middle, self.deviation, self.reach, self.mean_remainder)

    @property
    def excess_least(self) -> ca.SX:
        """Mean of its positive part, at least."""
        mean = ca.fmax(ca.fabs(self.middle), sqrt(2 / pi) * (1 - 1e-9) * self.deviation)
        return ca.fmax(0, ca.fmax(self.low, 0.5 * (self.low + mean - self.mean_remainder)))


def _excess(high: ca.SX, middle: ca.SX, deviation: ca.SX, reach: ca.SX, mean_remainder: ca.SX) -> ca.SX:
    """Mean of the positive part of a number, at most."""
    size, s = ca.fabs(middle), deviation + 1e-150
    near = (size**2 + 3 * s**2) / (2 * sqrt(3) * s)
    far = size + (2 / 9) * s**2 / (size + 1e-150)
    mixed = 0.5 * (high + ca.if_else(s <= sqrt(3) * size, far, near) + mean_remainder)
    t = (size + ca.sqrt(size**2 + 4 * s**2)) / (2 * s**2)
    normal = ca.exp(0.5 * t**2 * s**2 - t * size) / (exp(1) * t) * (1 + 1e-9) + mean_remainder
    bound = ca.fmin(mixed, ca.if_else(middle < 0, normal, mixed))
    return ca.if_else(middle + reach <= 0, 0, ca.fmax(bound, 0))


def _least(tops: list[_Line], bottoms: list[_Line], half: ca.SX) -> ca.SX:
    """E max(0, min tops + min bottoms) >= E t + E b - sum E max(0, t - other) - ..., t and b lowest in the middle."""
    total = ca.SX(0)
    for lines in (tops, bottoms):
        best, number = _lowest(lines)
        total += best.low
        for k, line in enumerate(lines):
            lost = _Difference.of(best, line, half).excess_most
            total -= ca.if_else(number == k, 0, lost)
    return total


def _most(tops: list[_Line], bottoms: list[_Line], half: ca.SX, ends: ca.SX) -> ca.SX:
    """The smaller of two bounds: of the positive part of t + b; and, where columns surely have a length, less kinks."""
    best = [_lowest(lines)[0] for lines in (tops, bottoms)]
    one = _combined(best, (tops, bottoms), half)
    floors = [_smallest([line.middle - _reach(line, half) for line in lines]) for lines in (tops, bottoms)]
    kinked = best[0].high + best[1].high
    for lines, b in zip((tops, bottoms), best, strict=True):
        cut = ca.SX(0)
        for line in lines:
            cut = ca.fmax(cut, _Difference.of(b, line, half).excess_least)
        kinked -= cut
    return ca.fmin(ca.fmin(one, ends), ca.if_else(floors[0] + floors[1] > 0, kinked, ends))


def _combined(best: list[_Line], sides: tuple[list[_Line], list[_Line]], half: ca.SX) -> ca.SX:
    """The mean of max(0, t + b), at most, for means t of tops and b of bottoms, which are no less than the least.

    Each round adds the function, with the weight, that makes the mean of t + b smallest against its deviation: near a
    corner of the workspace derivatives of several functions cancel, and what is outside is seen to be.
    """
    current = list(best)
    least = _bound(current, half)
    for _ in range(_ITERATIONS):
        chosen = list(current)
        for side in range(2):
            total = (current[0].derivatives + current[1].derivatives) * half
            delta = current[0].middle + current[1].middle
            for line in sides[side]:
                way = (line.derivatives - current[side].derivatives) * half
                d, c, w, s = line.middle - current[side].middle, ca.dot(total, way), ca.sumsqr(way), ca.sumsqr(total)
                part = (d * s - delta * c) / (delta * w - c * d)
                part = ca.if_else(ca.logic_and(part > 0, part < 1), part, 0)
                mixed = _Line(*[(1 - part) * a + part * b for a, b in zip(current[side], line, strict=True)])
                pair = [mixed, current[1]] if side == 0 else [current[0], mixed]
                found = _bound(pair, half)
                better = found < least
                least = ca.if_else(better, found, least)
                chosen = [
                    _Line(*[ca.if_else(better, a, b) for a, b in zip(new, old, strict=True)])
                    for new, old in zip(pair, chosen, strict=True)
                ]
        current = chosen
    return least


def _bound(pair: list[_Line], half: ca.SX) -> ca.SX:
    return _Difference.of(pair[0], _negated(pair[1]), half).excess_most


# ----------------------------------------------------------------------------------------------------------------------
# Hexapods that are their own mirror image: half of the poses tell of all.

_SAME = 1e-13
"""Differences, in sizes of the robot, below which joints and lengths count as mirrored.

They turn a leg of a tenth of that size by less than cosines of cones are widened; what else they change is below the
slack for rounding of lengths (1e-9) and of determinants (1e-11).
"""
_FLIPS = np.array([[1, -1, 1, -1, 1, -1], [-1, 1, 1, 1, -1, -1]], dtype=np.float64)
"""Signs of the coordinates under a reflection of y, and of x, M = diag(1, -1, 1) and diag(-1, 1, 1):

p -> M p and Rz(yaw) Ry(pitch) Rx(roll) -> M Rz Ry Rx M = Rz(-yaw) Ry(+-pitch) Rx(-+roll).
"""


def mirrored(space: PoseCoordinates) -> Array | None:
    """Signs (6,) of the coordinates in a reflection that takes a robot on telescopic legs to itself; None without one.

    With M in base axes and M' = Rh^T M Rh in those of the platform, home is its own image, and each leg's joints,
    lengths and cones are those of another leg (or its own) reflected: the image of a pose has the same lengths and
    angles. The sign of det J is that of the pose too, as it is at home.
    """
    legs, size = leg_numbers(space), space.model.size
    frame, origin = space.home[:3, :3], space.home[:3, 3]
    if (legs[:, 9] < 0.1 * size).any():
        return None  # legs that get so short turn by more than cones are widened
    for signs in _FLIPS:
        across = np.diag(signs[:3])
        own = frame.T @ across @ frame
        still = np.abs(np.r_[across @ origin - origin, own @ space.pivot - space.pivot]).max() < _SAME * size
        image = legs.copy()
        for part, by in ((slice(0, 3), across), (slice(3, 6), own), (slice(11, 14), across), (slice(16, 19), own)):
            image[:, part] = legs[:, part] @ by.T
        unused = legs[:, [21, 22]] == 0
        for k, part in enumerate((slice(11, 16), slice(16, 21))):
            image[unused[:, k], part] = legs[unused[:, k], part]
        off = np.abs(image[:, None] - legs[None]).max(axis=2) < _SAME * min(size, 1.0)
        if still and (off.sum(axis=0) == 1).all() and (off.sum(axis=1) == 1).all():
            return np.asarray(signs)
    return None
