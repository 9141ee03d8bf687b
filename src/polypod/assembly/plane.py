"""Poses of a platform in a plane held by three struts (3-RRR, 3-PRR, 3-RPR): six at most (Hunt 1983, Gosselin 1992).

In complex numbers: with z = exp(i phi), the first joint at p from the first centre, joints b_i and centres c_i from
there, p p* = l_1^2 and p* w_i + p w_i* = 2 r_i (i = 2, 3), w_i = z b_i - c_i. Eliminating p leaves a polynomial of
degree six in z.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..legs.contract import Strut
from .contract import (
    PERPENDICULAR,
    Candidate,
    ComplexArray,
    hinged_about,
    plane_basis,
    pose_matrices,
    rotations_about,
    stacked,
)
from .laurent import roots_from_samples, roots_of_unity
from .quadrics import QuadricPattern, Quadrics

DEGREE = 6
_SAMPLES = 16


class ThreeInAPlane(QuadricPattern):
    """Unknowns: cosine and sine of the rotation, and the first joint from the first centre, in sizes of the robot."""

    max_solutions = DEGREE

    def __init__(self, home: Array, normal: Array) -> None:
        self._home, self._normal, self._plane = home, normal, plane_basis(normal)

    @staticmethod
    def match(candidate: Candidate) -> ThreeInAPlane | None:
        """Three struts in a plane across the axis of the platform's one rotation."""
        dof, struts = candidate.dof, candidate.struts
        if candidate.is_constrained or len(struts) != 3 or dof.count != 3 or dof.axis is None:
            return None
        flat = all(strut.length.any() and hinged_about(dof.axis, strut) for strut in struts)
        perpendicular = np.abs(dof.axis @ dof.basis[:3]).max() < PERPENDICULAR
        return ThreeInAPlane(candidate.robot.home.matrix, dof.axis) if flat and perpendicular else None

    def _plan(self, struts: list[Strut]) -> _Plan:
        axes, position = self._home[:3, :3], self._home[:3, 3]
        arms = np.array([axes @ strut.joint for strut in struts])
        points = stacked(struts, "point")
        height = (points - arms - position) @ self._normal
        lengths = np.sqrt(stacked(struts, "length") ** 2 - height**2)
        centres, joints = points @ self._plane, arms @ self._plane
        size = np.abs(centres).max(axis=1) + np.abs(joints).max() + lengths.max(axis=1)
        scaled = (centres[:, 1:] - centres[:, :1]) / size[:, None], (joints[1:] - joints[0]) / size[:, None]
        return _Plan(scaled[0], scaled[1], lengths / size[:, None], size, centres[:, 0], joints[0])

    def system(self, struts: list[Strut]) -> Quadrics:
        """cos^2 + sin^2 = 1, p.p = l_1^2, p.(R b - c) - c.R b = (l_i^2 - l_1^2 - b.b - c.c)/2 (i = 2, 3)."""
        c, b, lengths, *_ = self._plan(struts)
        m = len(lengths)
        a, linear, constant = np.zeros((m, 4, 4, 4)), np.zeros((m, 4, 4)), np.zeros((m, 4))
        a[:, 0, 0, 0] = a[:, 0, 1, 1] = a[:, 1, 2, 2] = a[:, 1, 3, 3] = 1
        constant[:, 0], constant[:, 1] = -1, -(lengths[:, 0] ** 2)
        for k in range(2):
            # R b = cos b + sin i b: products of p with both, and of c with both
            for turn, arm in enumerate((b[:, k], 1j * b[:, k])):
                a[:, 2 + k, turn, 2] = a[:, 2 + k, 2, turn] = arm.real / 2
                a[:, 2 + k, turn, 3] = a[:, 2 + k, 3, turn] = arm.imag / 2
                linear[:, 2 + k, turn] = -(np.conj(c[:, k]) * arm).real
            linear[:, 2 + k, 2], linear[:, 2 + k, 3] = -c[:, k].real, -c[:, k].imag
            squares = np.abs(b[:, k]) ** 2 + np.abs(c[:, k]) ** 2 + lengths[:, 0] ** 2 - lengths[:, k + 1] ** 2
            constant[:, 2 + k] = squares / 2
        return Quadrics(a, linear, constant, np.full((m, 4), 32.0))  # positions are at most 1 in size, differences 2

    def roots(self, struts: list[Strut], elimination: int) -> ComplexArray:
        """Roots z of the sextic; p and its conjugate follow linearly."""
        c, b, lengths, *_ = self._plan(struts)
        first, second, delta = _eliminated(roots_of_unity(_SAMPLES), c, b, lengths)
        z = roots_from_samples(first * second - lengths[:, :1] ** 2 * delta * delta, DEGREE)
        first, second, delta = _eliminated(z, c, b, lengths)
        p, conjugate = first / delta, second / delta
        return np.stack([(z + 1 / z) / 2, (z - 1 / z) / 2j, (p + conjugate) / 2, (p - conjugate) / 2j], axis=-1)

    def poses(self, struts: list[Strut], x: Array) -> Array:
        """The platform's origin from its first joint."""
        plan, home, plane = self._plan(struts), self._home, self._plane
        angle = np.arctan2(x[..., 1], x[..., 0])
        first = plan.first[:, None] + plan.size[:, None] * (x[..., 2] + 1j * x[..., 3])
        position = first - np.exp(1j * angle) * plan.joint
        along = (home[:3, 3] @ self._normal) * self._normal
        rotation = rotations_about(self._normal, angle) @ home[:3, :3]
        return pose_matrices(rotation, along + (np.conj(position)[..., None] * plane).real)


class _Plan(NamedTuple):
    """Centres and joints (m, 2) from the first ones, lengths (m, 3), in sizes (m,); the first ones as they are."""

    centres: ComplexArray
    joints: ComplexArray
    lengths: Array
    size: Array
    first: ComplexArray
    joint: complex


def _eliminated(
    z: ComplexArray, c: ComplexArray, b: ComplexArray, lengths: Array
) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
    """p Delta, p* Delta and Delta (m, k) for z (m or 1, k)."""
    w = [z * b[:, i, None] - c[:, i, None] for i in range(2)]
    v = [np.conj(b[:, i, None]) / z - np.conj(c[:, i, None]) for i in range(2)]
    r = [
        (
            lengths[:, i + 1, None] ** 2
            - lengths[:, :1] ** 2
            - np.abs(b[:, i, None]) ** 2
            - np.abs(c[:, i, None]) ** 2
            + np.conj(c[:, i, None]) * b[:, i, None] * z
            + c[:, i, None] * np.conj(b[:, i, None]) / z
        )
        for i in range(2)
    ]
    return r[0] * w[1] - r[1] * w[0], r[1] * v[0] - r[0] * v[1], v[0] * w[1] - w[0] * v[1]
