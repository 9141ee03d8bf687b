"""Telescopic legs as rows of numbers, so that one compiled function serves all of them: where each is over a box."""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
import numpy as np

from ...arrays import Array
from ...legs import UPS
from ...platforms.motion import frame_of
from ...symbols.vectors import cayley
from ..workspace.pose_coordinates import PoseCoordinates
from .displaced import roll_pitch_yaw
from .intervals import Interval

Chart = Literal["coordinates", "about"]
SOURCES = (
    "analysis/certified/legs.py",
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
