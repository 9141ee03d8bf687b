"""Poses of a platform whose three joints move on circles (3-RPS, 3-PRS): sixteen at most.

Joints t_i = o_i + r_i (u_i cos + v_i sin)(theta_i) keep their distances d_ij. With z = exp(i theta) each of the three
equations has degree two in two of the z: sixteen solutions by Bernstein's theorem (the coefficient of l m n in the
volume 8 (l + m)(l + n)(m + n) of the sum of three squares). Resultants eliminate z_3, then z_2; what is left in z_1 has
sixteen roots (Nanua, Waldron and Murthy 1990).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..legs.contract import Strut
from .contract import Candidate, ComplexArray, pose_matrices, stacked
from .laurent import nan_unless_root, quadratic_roots, resultant, roots_from_samples, roots_of_unity, substituted
from .quadrics import QuadricPattern, Quadrics

DEGREE = 16
_SAMPLES = 32
_PAIRS = ((0, 1), (0, 2), (1, 2))
Circles = tuple[Array, Array, Array]


class ThreeOnCircles(QuadricPattern):
    """Unknowns are cosine and sine of each of three angles."""

    max_solutions, eliminations = DEGREE, 3

    @staticmethod
    def match(candidate: Candidate) -> ThreeOnCircles | None:
        """Three hinged struts with balls at a platform that follows them."""
        struts = candidate.struts
        follows = candidate.is_constrained and candidate.dof.count == 3 and len(struts) == 3
        hinged = all(strut.axis is not None and strut.ball and strut.length.any() for strut in struts)
        return ThreeOnCircles() if follows and hinged else None

    @staticmethod
    def _circles(struts: list[Strut]) -> tuple[Circles, Array]:
        """o, r u and r v (m, 3, 3), and the distances (m, 3) of pairs 12, 13, 23, in sizes of the robot."""
        joints = [strut.joint for strut in struts]
        pairs = np.array([np.linalg.norm(joints[i] - joints[j]) for i, j in _PAIRS])
        axes, centres, radii = (stacked(struts, name) for name in ("axis", "point", "length"))
        first = np.cross(axes, np.eye(3)[np.abs(axes).argmin(axis=2)])
        first = first / np.linalg.norm(first, axis=2, keepdims=True)
        size = np.abs(centres).sum(axis=2).max(axis=1) + radii.max(axis=1) + pairs.max()
        ends = centres, radii[:, :, None] * first, radii[:, :, None] * np.cross(axes, first)
        o, u, v = (part / size[:, None, None] for part in ends)
        return (o, u, v), pairs / size[:, None]

    def system(self, struts: list[Strut]) -> Quadrics:
        """cos^2 + sin^2 = 1 of three angles; |t_i - t_j|^2 = d_ij^2 of three pairs."""
        (o, u, v), distances = self._circles(struts)
        m, arms = len(o), np.stack([u, v], axis=2)
        a, b, c = np.zeros((m, 6, 6, 6)), np.zeros((m, 6, 6)), np.zeros((m, 6))
        for i in range(3):
            a[:, i, 2 * i, 2 * i] = a[:, i, 2 * i + 1, 2 * i + 1] = 1
            c[:, i] = -1
        for k, (i, j) in enumerate(_PAIRS):
            between = o[:, i] - o[:, j]
            products = -np.einsum("max,mbx->mab", arms[:, i], arms[:, j])
            a[:, 3 + k, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = products
            a[:, 3 + k, 2 * j : 2 * j + 2, 2 * i : 2 * i + 2] = np.swapaxes(products, 1, 2)
            b[:, 3 + k, 2 * i : 2 * i + 2] = 2 * np.einsum("max,mx->ma", arms[:, i], between)
            b[:, 3 + k, 2 * j : 2 * j + 2] = -2 * np.einsum("max,mx->ma", arms[:, j], between)
            # |r (u cos + v sin)|^2 = r^2: the circle's axes are perpendicular and of one length
            c[:, 3 + k] = (between**2 + u[:, i] ** 2 + u[:, j] ** 2).sum(axis=1) - distances[:, k] ** 2
        return Quadrics(a, b, c, np.full((m, 6), 48.0))  # positions and radii are at most 1 in size, differences 2

    def roots(self, struts: list[Strut], elimination: int) -> ComplexArray:
        """Angles (m, 64, 6) that roots z_1 may stand for, with either z_2 and z_3; each leg may be the first.

        A root z_1 that counts twice stands for two poses, as those of symmetric robots do.
        """
        circles, distances = self._circles(struts[elimination:] + struts[:elimination])
        forms = [_form(circles, i, j, distances[:, k]) for k, (i, j) in enumerate(_PAIRS)]
        z = roots_from_samples(_eliminated(forms, roots_of_unity(_SAMPLES)), DEGREE)
        second, third = (quadratic_roots(substituted(form, z)) for form in forms[:2])
        found = [np.stack([z, y, nan_unless_root(forms[2], y, x)], axis=-1) for y in second for x in third]
        every = np.concatenate(found, axis=1)
        parts = np.stack([(every + 1 / every) / 2, (every - 1 / every) / 2j], axis=-1)
        return np.roll(parts, elimination, axis=2).reshape(*every.shape[:2], 6)

    def poses(self, struts: list[Strut], x: Array) -> Array:
        """The frame of three joints."""
        joints, radii = np.array([strut.joint for strut in struts]), stacked(struts, "length")
        (_, u, v), _ = self._circles(struts)
        first, second = (part / np.linalg.norm(part, axis=2, keepdims=True) for part in (u, v))
        cosine, sine = x[..., 0::2, None], x[..., 1::2, None]
        arms = cosine * first[:, None] + sine * second[:, None]
        points = stacked(struts, "point")[:, None] + radii[:, None, :, None] * arms
        rotation = _triad(points) @ np.swapaxes(_triad(joints), -1, -2)
        return pose_matrices(rotation, points[..., 0, :] - rotation @ joints[0])


def _form(circles: Circles, i: int, j: int, distance: Array) -> ComplexArray:
    """Coefficients (m, 3, 3) of z_i^a z_j^b, a and b from -1 to 1, of |t_i - t_j|^2 - d^2."""
    o, u, v = circles
    terms = [[(u[:, k] + 1j * v[:, k]) / 2, (u[:, k] - 1j * v[:, k]) / 2] for k in (i, j)]
    between = o[:, i] - o[:, j]
    form = np.zeros((len(o), 3, 3), dtype=np.complex128)

    def put(a: int, b: int, value: NDArray[np.generic]) -> None:
        form[:, 1 + a, 1 + b] += value.sum(axis=1)

    put(0, 0, between * between)
    form[:, 1, 1] -= distance**2
    for a, own in zip((-1, 1), terms[0], strict=True):
        put(a, 0, 2 * own * between)
    for b, other in zip((-1, 1), terms[1], strict=True):
        put(0, b, -2 * other * between)
    for a, own in zip((-1, 1), terms[0], strict=True):
        for b, other in zip((-1, 1), terms[1], strict=True):
            put(a, b, -2 * own * other)
    # |r (u cos + v sin)|^2 = r^2: the circle's axes are perpendicular and of one length
    put(0, 0, (u[:, i] ** 2 + u[:, j] ** 2))
    return form


def _eliminated(forms: list[ComplexArray], z: ComplexArray) -> ComplexArray:
    """Values (m, k) at z_1 = z of the polynomial that is left: f_12 and the resultant of f_13 and f_23 in z_2."""
    z = np.broadcast_to(z, (len(forms[0]), z.shape[1]))
    second, third = substituted(forms[0], z), substituted(forms[1], z)
    a, b = (resultant(third, substituted(forms[2], y)) for y in quadratic_roots(second))
    # of a quartic P(y)/y^2 at both roots of low + middle y + high y^2: high^4 P P' = (low high)^2 (P/y^2)(P'/y'^2)
    return np.asarray(a * b * (second[..., 0] * second[..., 2]) ** 2)


def _triad(points: Array) -> Array:
    """Orthonormal axes (..., 3, 3), columns, of three points (..., 3, 3)."""
    first, second = points[..., 1, :] - points[..., 0, :], points[..., 2, :] - points[..., 0, :]
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    third = np.cross(first, second)
    third = third / np.linalg.norm(third, axis=-1, keepdims=True)
    return np.stack([first, np.cross(third, first), third], axis=-1)
