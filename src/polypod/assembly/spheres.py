"""Poses of platforms that do not turn, held by three struts (Delta robots): three spheres meet in two points."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..legs.contract import Strut
from .contract import Candidate, ComplexArray, pose_matrices, stacked
from .quadrics import QuadricPattern, Quadrics


def common_points(centres: Array, radii: Array) -> ComplexArray:
    """Points (m, 2, 3) at radii (m, 3) from centres (m, 3, 3), complex where the spheres do not meet.

    Differences of the equations are two planes, 2 (c_i - c_1).(p - c_1) = r_1^2 - r_i^2 + |c_i - c_1|^2; their common
    line meets the first sphere.
    """
    first, others = centres[:, 0], centres[:, 1:] - centres[:, :1]
    right = (radii[:, :1] ** 2 - radii[:, 1:] ** 2 + (others * others).sum(axis=2)) / 2
    line = np.cross(others[:, 0], others[:, 1])
    square = (line * line).sum(axis=1)
    # the point of the line next to the first centre
    near = (right[:, :1] * np.cross(others[:, 1], line) + right[:, 1:] * np.cross(line, others[:, 0])) / square[:, None]
    root = np.sqrt(((radii[:, 0] ** 2 - (near * near).sum(axis=1)) / square).astype(np.complex128))
    half = root[:, None] * line
    return np.stack([first + near + half, first + near - half], axis=1)


class ThreeSpheres(QuadricPattern):
    """The platform's origin p on three spheres: one quadric and two planes have two points in common (Bezout)."""

    max_solutions = 2

    def __init__(self, axes: Array) -> None:
        self._axes = axes

    @staticmethod
    def match(candidate: Candidate) -> ThreeSpheres | None:
        """Three struts and a platform of three translations."""
        straight = not candidate.is_constrained and candidate.dof.axis is None and candidate.dof.count == 3
        return ThreeSpheres(candidate.axes) if straight and len(candidate.struts) == 3 else None

    def _spheres(self, struts: list[Strut]) -> tuple[Array, Array, Array]:
        """Centres (m, 3, 3) and radii (m, 3) in sizes (m,) of the robot."""
        centres = np.stack([strut.point - self._axes @ strut.joint for strut in struts], axis=1)
        radii = stacked(struts, "length")
        size = np.abs(centres).sum(axis=2).max(axis=1) + radii.max(axis=1)
        return centres / size[:, None, None], radii / size[:, None], size

    def system(self, struts: list[Strut]) -> Quadrics:
        """p.p - 2 c_1.p + c_1.c_1 - r_1^2, and the differences of the others from it."""
        centres, radii, _ = self._spheres(struts)
        a: Array = np.zeros((len(radii), 3, 3, 3))
        a[:, 0] = np.eye(3)
        c = (centres * centres).sum(axis=2) - radii * radii
        b = -2 * centres
        b[:, 1:], c[:, 1:] = b[:, 1:] - b[:, :1], c[:, 1:] - c[:, :1]
        return Quadrics(a, b, c, np.full((len(radii), 3), 12.0))  # centres and radii are at most 1 in size

    def roots(self, struts: list[Strut], elimination: int) -> ComplexArray:
        """Where a line meets a sphere."""
        centres, radii, _ = self._spheres(struts)
        return common_points(centres, radii)

    def poses(self, struts: list[Strut], x: Array) -> Array:
        """The axes of home, at the points."""
        return pose_matrices(self._axes, x * self._spheres(struts)[2][:, None, None])
