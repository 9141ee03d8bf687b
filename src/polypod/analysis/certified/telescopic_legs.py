"""Telescopic legs as rows of numbers, so that one compiled function serves all of them: where each is over a box."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...fingerprint import fingerprint
from ...kernels import CacheKey, Expression, Kernel, Port, port
from ...legs import UPS
from ...platforms.motion import frame_of
from ...symbols.graph import Graph
from ...symbols.vectors import cayley
from ..workspace.pose_coordinates import PoseCoordinates
from .displaced import roll_pitch_yaw
from .intervals import Interval, Mask, evaluate_intervals, midpoint_radius, regular_sign

Chart = Literal["coordinates", "about"]
SOURCES = (
    "analysis/certified/telescopic_legs.py",
    "analysis/certified/intervals.py",
    "analysis/certified/displaced.py",
    "platforms/motion.py",
    "symbols",
)
"""Code that graphs of these legs are made by."""
LEG = 23
"""Numbers of a leg: its joint on the base (0:3) and on the platform (3:6), the pivot (6:9), least and largest length
(9, 10), axis of the base cone (11:14) and ends of the cosine of its half-angle (14, 15), the same of the platform cone
(16:19, 19, 20), and whether it has a base cone (21) and a platform cone (22)."""
WIDENED = 1e-11
"""What bounds take cosines of cones to be off by: rounding, and what joints that mirror each other may differ by."""


def is_ups_hexapod(space: PoseCoordinates) -> bool:
    """Whether a robot has six degrees of freedom and six legs of kind UPS."""
    return space.full and len(ups_legs(space)) == len(space.model.robot.legs) == 6


def ups_legs(space: PoseCoordinates) -> list[UPS]:
    """The legs of kind UPS."""
    return [leg for leg in space.model.robot.legs if isinstance(leg, UPS)]


def leg_numbers(space: PoseCoordinates, widened: float = 0.0) -> Array:
    """Numbers (legs, LEG) of all legs, the cosines of cones between ends that are ``widened`` both ways."""
    rows = []
    for leg in ups_legs(space):
        cones = [_cone(cone, widened) for cone in (leg.base_cone, leg.platform_cone)]
        here = [*leg.base, *leg.platform, *space.pivot, *(leg.length or (0.0, 1.0)), *cones[0], *cones[1]]
        rows.append([*here, leg.base_cone is not None, leg.platform_cone is not None])
    return np.array(rows, dtype=np.float64)


def _cone(cone: Any, widened: float) -> list[float]:
    """Axis and ends of the cosine; of no cone numbers that go unused."""
    if cone is None:
        return [0.0, 0.0, 1.0, 0.5, 0.5]
    cosine = float(np.cos(cone.half_angle))
    return [*cone.axis, cosine - widened, cosine + widened]


def intervals_of(leg: ca.SX) -> list[Interval]:
    """The first 21 numbers of a leg as 19 intervals: the ends of each cone's cosine are one, at 14 and 18."""
    points = [Interval(leg[k], leg[k]) for k in range(LEG)]
    return [*points[:14], Interval(leg[14], leg[15]), *points[16:19], Interval(leg[19], leg[20])]


def leg_at(x: ca.SX, leg: ca.SX, home: ca.SX, chart: Chart = "coordinates") -> tuple[ca.SX, ca.SX]:
    """The platform's axes, and the way from the base joint to the platform joint, at coordinates (6) from a pose."""
    frame = frame_of(home)
    axes = (roll_pitch_yaw if chart == "coordinates" else cayley)(x[3:]) @ frame.axes
    tip = frame.origin + frame.axes @ leg[6:9] + x[:3] + axes @ (leg[3:6] - leg[6:9])
    return axes, tip - leg[:3]


# ----------------------------------------------------------------------------------------------------------------------
# Of robots on telescopic legs over boxes: whether det J keeps its sign, and whether all cones hold.


class SignAndCones(NamedTuple):
    """Of n boxes: sign of det J (n,) where it is known, 0 elsewhere; whether all cones hold in every pose (n,)."""

    sign: Array
    cones: Mask


class HexapodJacobian:
    """The rows of a hexapod's Jacobian over boxes, each times its leg's length: [w; R b x w], w from joint to joint."""

    def __init__(self, space: PoseCoordinates, chart: Chart = "coordinates") -> None:
        self._legs = leg_numbers(space, WIDENED)
        if chart == "about":
            self._legs[:, 6:9] = 0.0  # displacements are those of the platform's origin
        self._home = space.home.reshape(1, 16)
        self._size = space.model.size
        self._kernel = _kernel(chart)

    def __call__(
        self, low: Array, high: Array, poses: Array | None = None, signed: Mask | slice = slice(None)
    ) -> SignAndCones:
        """Over boxes (n, 6) from low to high, of displacements about poses (n, 4, 4) where these are given.

        The sign, which takes longest, is found of the boxes ``signed`` (n,).
        """
        n, count = len(low), len(self._legs)
        ends = [np.repeat(end, count, axis=0) for end in (low, high)]
        home = self._home if poses is None else np.repeat(poses.reshape(n, 16), count, axis=0)
        found = self._kernel(*ends, np.tile(self._legs, (n, 1)), home)
        centre, derivatives = (
            [end.reshape(n, count, 8, k) for end in ends] for ends, k in ((found[:2], 1), (found[2:], 6))
        )
        half = 0.5 * (high - low) * (1 + 1e-14)
        scale = np.r_[np.ones(3), np.full(3, 1 / self._size)]
        at, off = midpoint_radius(*(end[signed, :, :6, 0] * scale for end in centre))
        tilt, vague = midpoint_radius(
            *(end[signed, :, :6] * scale[:, None] * half[signed, None, None] for end in derivatives)
        )
        sign = np.zeros(n)
        sign[signed] = regular_sign(at, off, np.moveaxis(tilt, 3, 1), np.moveaxis(vague, 3, 1))
        with np.errstate(invalid="ignore"):
            lost = (np.maximum(np.abs(derivatives[0]), np.abs(derivatives[1]))[:, :, 6:] * half[:, None, None]).sum(
                axis=3
            )
        there = self._legs[:, 21:] > 0
        held = centre[0][:, :, 6:, 0] - lost * (1 + 1e-13) > 1e-13 * self._size
        return SignAndCones(sign, (held | ~there).all(axis=(1, 2)))


@cache
def _kernel(chart: Chart) -> Kernel:
    code = fingerprint("analysis/certified/telescopic_legs.py", *SOURCES).hex()
    return Kernel(lambda: _expression(chart), CacheKey.of(f"hexapod jacobian {chart} {code}"))


def _expression(chart: Chart) -> Expression:
    """(low, high, leg, home) -> ends of the row (6) and of both cones' margins w.a - c |w| in the middle;
    derivatives."""
    low, high, leg, home = (ca.SX.sym(n, k) for n, k in (("low", 6), ("high", 6), ("leg", LEG), ("home", 16)))
    x, numbers, pose = ca.SX.sym("x", 6), ca.SX.sym("numbers", 19), ca.SX.sym("pose", 16)
    axes, way = leg_at(x, numbers, pose, chart)
    arm = axes @ numbers[3:6]
    length = ca.sqrt(ca.sumsqr(way))
    cones = (
        ca.dot(way, numbers[11:14]) - numbers[14] * length,
        ca.dot(way, axes @ numbers[15:18]) - numbers[18] * length,
    )
    values = ca.vertcat(way, ca.cross(arm, way), *cones)
    parts = [values, ca.vec(ca.jacobian(values, x).T)]
    graph = Graph.of(ca.Function("row", [x, numbers, pose], ca.cse([ca.densify(part) for part in parts])))
    box = [Interval(low[k], high[k]) for k in range(6)]
    fixed = [Interval(home[k], home[k]) for k in range(16)]
    middle = [Interval(c, c) for c in (0.5 * (b.low + b.high) for b in box)]
    (centre,) = evaluate_intervals(graph.only([0]), [middle, intervals_of(leg), fixed])
    _, derivatives = evaluate_intervals(graph, [box, intervals_of(leg), fixed])
    outputs = [
        port(f"{name}_{end}", ca.vertcat(*[getattr(part, end) for part in parts]))
        for name, parts in (("centre", centre), ("derivatives", derivatives))
        for end in ("low", "high")
    ]
    ports = Port("low", low, (6,)), Port("high", high, (6,)), Port("leg", leg, (LEG,)), Port("home", home, (16,))
    return Expression("hexapod_jacobian", ports, tuple(outputs))
