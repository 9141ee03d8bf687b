"""Five-bar linkages: a platform hinged to what one actuator carries, held by a strut on the other; two circles meet."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..legs.contract import Strut
from .contract import (
    PERPENDICULAR,
    Candidate,
    ComplexArray,
    Flags,
    Pattern,
    Solutions,
    hinged_about,
    plane_basis,
    pose_matrices,
    rotations_about,
)

_DOUBT = 1e-13
"""Relative uncertainty of positions and lengths by rounding: some hundred units."""


def circles_meet(apart: ComplexArray, radii: Array) -> tuple[ComplexArray, Flags]:
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
        height = np.sqrt(product) / (2 * d)
        ends = np.stack([along + 1j * height, along - 1j * height], axis=1) * (apart / d)[:, None]
    return ends, np.abs(inside) > _DOUBT * (first + second + d)


class FiveBar(Pattern):
    """A hinge and a strut about one direction."""

    def __init__(self, axes: Array, normal: Array, hinge: int) -> None:
        self._axes, self._normal, self._hinge = axes, normal, hinge

    @staticmethod
    def match(candidate: Candidate) -> FiveBar | None:
        """Two legs, one of them a hinge on its actuator's arm."""
        pins = [not strut.length.any() for strut in candidate.struts]
        if len(pins) != 2 or candidate.dof.count != 2 or sum(pins) != 1:
            return None
        pin, strut = candidate.struts[pins.index(True)], candidate.struts[pins.index(False)]
        if pin.axis is None:
            return None
        normal, arm = pin.axis[0], candidate.axes @ (strut.joint - pin.joint)
        height = (strut.point - pin.point - arm) @ normal
        level = strut.axis is None or np.abs(height).max() < PERPENDICULAR * np.linalg.norm(arm)
        flat = hinged_about(normal, pin) and hinged_about(normal, strut)
        return FiveBar(candidate.axes, normal, pins.index(True)) if flat and level else None

    def solve(self, struts: list[Strut]) -> Solutions:
        """Two poses about the hinge or none; proven where rounding leaves no doubt which."""
        pin, strut, normal = struts[self._hinge], struts[1 - self._hinge], self._normal
        plane, arm, apart = plane_basis(normal), self._axes @ (strut.joint - pin.joint), strut.point - pin.point
        reach = np.sqrt(strut.length**2 - ((apart - arm) @ normal) ** 2)
        ends, sure = circles_meet(apart @ plane, np.stack([np.full_like(reach, abs(arm @ plane)), reach], axis=1))
        rotation = rotations_about(normal, np.angle(ends / (arm @ plane))) @ self._axes
        pose = pose_matrices(rotation, pin.point[:, None] - rotation @ pin.joint)
        pose[~np.isfinite(pose).all(axis=(2, 3))] = np.nan
        certified = np.isfinite(pose[..., 0, 0]) & sure[:, None]
        return Solutions(pose, certified, np.ones(len(pose), dtype=bool), sure)
