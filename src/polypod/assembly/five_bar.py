"""Five-bar linkages: a platform hinged to what one actuator carries, held by a strut on the other; two circles meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..legs.strut import Strut
from .contract import SQUARE, Complexes, Machine, Pattern, Solved, across, hinged_about, pose_of, turns

_DOUBT = 1e-13
"""What rounding leaves in doubt of places and lengths of a robot, in its size: some hundred units."""


def circles_meet(apart: Complexes, radii: Array) -> tuple[Complexes, NDArray[np.bool_]]:
    """Points (m, 2) of circles of ``radii`` (m, 2) whose second centre is ``apart`` (m) from the first; NaN if none.

    There are two where |r_1 - r_2| < d < r_1 + r_2, d = |apart|, and none where d is beyond those ends: the second
    result (m) says that it is on one side of both by more than what rounding leaves in doubt.
    """
    d, (first, second) = np.abs(apart), radii.T
    inside = np.minimum(first + second - d, d - np.abs(first - second))
    with np.errstate(all="ignore"):
        along = (first**2 - second**2 + d**2) / (2 * d)
        # (r_1^2 - along^2)(2 d)^2 as a product (Heron): no cancellation next to either end
        product = (first + second + d) * (first + second - d) * (d + first - second) * (d - first + second)
        across = np.sqrt(product) / (2 * d)
        ends = np.stack([along + 1j * across, along - 1j * across], axis=1) * (apart / d)[:, None]
    return ends, np.abs(inside) > _DOUBT * (first + second + d)


class FiveBar(Pattern):
    """A hinge and a strut about one direction."""

    def __init__(self, axes: Array, normal: Array, hinge: int) -> None:
        self._axes, self._normal, self._hinge = axes, normal, hinge

    @staticmethod
    def of(machine: Machine) -> FiveBar | None:
        """Two legs, one of them a hinge on its actuator's arm."""
        pins = [not strut.length.any() for strut in machine.struts]
        if len(pins) != 2 or machine.freedoms.count != 2 or sum(pins) != 1:
            return None
        pin, strut = machine.struts[pins.index(True)], machine.struts[pins.index(False)]
        if pin.axis is None:
            return None
        normal, arm = pin.axis[0], machine.axes @ (strut.joint - pin.joint)
        height = (strut.point - pin.point - arm) @ normal
        level = strut.axis is None or np.abs(height).max() < SQUARE * np.linalg.norm(arm)
        flat = hinged_about(normal, pin) and hinged_about(normal, strut)
        return FiveBar(machine.axes, normal, pins.index(True)) if flat and level else None

    def solve(self, struts: list[Strut]) -> Solved:
        """Turns of the platform about its hinge, and whether there are two or none, if that is beyond doubt."""
        pin, strut, normal = struts[self._hinge], struts[1 - self._hinge], self._normal
        plane, arm, apart = across(normal), self._axes @ (strut.joint - pin.joint), strut.point - pin.point
        reach = np.sqrt(strut.length**2 - ((apart - arm) @ normal) ** 2)
        ends, sure = circles_meet(apart @ plane, np.stack([np.full_like(reach, abs(arm @ plane)), reach], axis=1))
        turned = turns(normal, np.angle(ends / (arm @ plane))) @ self._axes
        pose = pose_of(turned, pin.point[:, None] - turned @ pin.joint)
        pose[~np.isfinite(pose).all(axis=(2, 3))] = np.nan
        certified = np.isfinite(pose[..., 0, 0]) & sure[:, None]
        return Solved(pose, certified, np.ones(len(pose), dtype=bool), sure)
