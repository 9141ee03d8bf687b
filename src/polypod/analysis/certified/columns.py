"""A telescopic leg over a box of poses: from where to where its limits let the platform move along z, as bounds.

With all else given, the tip of a leg is at a horizontal offset h from its base joint and at the height z + v above it.
Its longest and shortest length, and its two cones, each let z be above or below an explicit function of the other five
coordinates u = (x, y, roll, pitch, yaw):

    length    z <= -v + sqrt(l1^2 - h.h),   z >= -v + sqrt(l0^2 - h.h)
    cone      z >= -v + (c^2 h.h - s^2)/(s d + c r),   z <= -v - (s d + c r)/(d^2 - c^2) where d < c

for an axis with vertical part d > 0, c the cosine of the cone, s = h.axis, r = sqrt(s^2 + h.h (d^2 - c^2)). Over the
box a function is f(m) + g.(u - m) and a remainder: of lengths by the second derivatives in the middle and a bound of
the third, of cones by the change of the derivatives over the box in interval arithmetic.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...kernels import Expression, Kernel, Port, port
from ...symbols.graph import Graph
from ..fingerprint import fingerprint
from ..workspace.pose_coordinates import PoseCoordinates
from .intervals import Interval, evaluate_intervals
from .legs import LEG, SOURCES, WIDENED, intervals_of, is_ups_hexapod, leg_at, leg_numbers, ups_legs

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
    code = fingerprint("analysis/certified/columns.py", *SOURCES)
    return Kernel(lambda: _expression(with_cones), f"columns {with_cones} {code}".encode())


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
