"""Spherical robots of three legs with three hinges through one point (3-RRR, agile eye): eight orientations at most.

While the motors stand still, the last hinge b_i of each leg turns about its elbow's axis w_i: w_i.R b_i = cos_i. In a
quaternion these are three quadrics of projective space, with eight points in common (Bezout). To find them, R = R(w_1,
theta) R_0 R(b_1, phi) keeps to the first equation; in exp(i theta) and exp(i phi) the others have degree two in each.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..legs.contract import Strut
from .chart import product
from .contract import PERPENDICULAR, Candidate, ComplexArray, plane_basis, pose_matrices, stacked
from .laurent import nan_unless_root, quadratic_roots, resultant, roots_from_samples, roots_of_unity, substituted
from .quadrics import QuadricPattern, Quadrics

DEGREE = 8
_SAMPLES = 32


class ThreeCones(QuadricPattern):
    """Unknowns x of the quaternion (1, x) from a generic orientation, so that none of them is large."""

    max_solutions = DEGREE

    def __init__(self, centre: Array, struts: list[Strut]) -> None:
        self._centre = centre
        self._hinges = np.array([strut.hinge for strut in struts])
        self._cosines = np.array([strut.cosine for strut in struts])
        draw = np.random.default_rng(8).normal(size=(1, 4))
        self._orientation = draw / np.linalg.norm(draw)

    @staticmethod
    def match(candidate: Candidate) -> ThreeCones | None:
        """Three legs of hinges through the platform's origin, which turns about it."""
        struts, dof = candidate.struts, candidate.dof
        if len(struts) != 3 or dof.count != 3 or not dof.turns.all():
            return None
        centre = np.asarray(candidate.robot.home.matrix[:3, 3])
        for strut in struts:
            if strut.axis is None or strut.hinge is None:
                return None
            off = np.cross(strut.point - centre, strut.axis), np.cross(strut.joint, strut.hinge)
            size = np.linalg.norm(strut.joint) + float(np.abs(strut.length).max())
            if any(np.abs(part).max() > PERPENDICULAR * size for part in off):
                return None
        return ThreeCones(centre, struts)

    def system(self, struts: list[Strut]) -> Quadrics:
        """(1 - x.x) w.b + 2 (w.x)(b.x) + 2 x.(b x w) = cos (1 + x.x), w seen from where x is zero."""
        w, b = self._elbows(struts), self._hinges
        along, square = (w * b).sum(axis=2), w[..., :, None] * b[None, :, None, :]
        a = square + np.swapaxes(square, 2, 3) - (along + self._cosines)[..., None, None] * np.eye(3)
        return Quadrics(a, 2 * np.cross(b, w), along - self._cosines, np.full(along.shape, 24.0))  # unit vectors

    def _elbows(self, struts: list[Strut]) -> Array:
        """Elbows' axes (m, 3, 3) seen from the generic orientation."""
        return np.asarray(stacked(struts, "axis") @ _rotation(self._orientation[0]))

    def roots(self, struts: list[Strut], elimination: int) -> ComplexArray:
        """Two angles from the resultant of two equations, as quaternions."""
        w, b = self._elbows(struts), self._hinges
        first, start = w[:, 0], np.array([_quaternion_between(b[0], one, self._cosines[0]) for one in w[:, 0]])
        low = [_rotated(first, w[:, k]) for k in (1, 2)]
        high = [_rotated(np.broadcast_to(b[0], first.shape), np.broadcast_to(b[k], first.shape)) for k in (1, 2)]
        carry = np.array([_rotation(q) for q in start]).reshape(-1, 3, 3)
        forms = [
            # about w_1 backwards: powers of z change places
            np.einsum("amx,mxy,bmy->mab", p[::-1], carry, r)
            for p, r in zip(low, high, strict=True)
        ]
        for form, cosine in zip(forms, self._cosines[1:], strict=True):
            form[:, 1, 1] -= cosine
        sampled = np.broadcast_to(roots_of_unity(_SAMPLES), (len(w), _SAMPLES))
        z = roots_from_samples(resultant(substituted(forms[0], sampled), substituted(forms[1], sampled)), DEGREE)
        # either equation may hold for all phi
        pairs = [
            (z, nan_unless_root(other, z, y))
            for one, other in (forms, forms[::-1])
            for y in quadratic_roots(substituted(one, z))
        ]
        every, own = (np.concatenate(part, axis=1) for part in zip(*pairs, strict=True))
        m, k = every.shape
        outer = _axis_quaternion(np.repeat(first, k, axis=0), every.ravel())
        inner = _axis_quaternion(np.broadcast_to(b[0], (m * k, 3)), own.ravel())
        e = product(product(outer, np.repeat(start, k, axis=0)), inner)
        return np.asarray((e[:, 1:] / e[:, :1]).reshape(m, k, 3))

    def poses(self, struts: list[Strut], x: Array) -> Array:
        """Orientations about the point that stays."""
        e = np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)
        e = product(np.broadcast_to(self._orientation, (x[..., 0].size, 4)), e.reshape(-1, 4))
        rotation = np.array([_rotation(q.real) for q in e]).reshape(*x.shape[:-1], 3, 3)
        return pose_matrices(rotation, self._centre)


def _rotation(q: Array) -> Array:
    """The rotation (3, 3) of a quaternion of any length, scalar first."""
    w, v = q[0], q[1:]
    return np.asarray(((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * np.cross(v, np.eye(3)).T) / (q @ q))


def _quaternion_between(b: Array, w: Array, cosine: float) -> Array:
    """A quaternion (4) that turns b to an angle of this cosine with w."""
    side = plane_basis(w).real
    goal = cosine * w + np.sqrt(max(0.0, 1 - cosine**2)) * side
    half = b + goal
    if np.linalg.norm(half) < 1e-6:
        half = plane_basis(b).real  # half a turn about any direction perpendicular to b
    half = half / np.linalg.norm(half)
    return np.r_[b @ half, np.cross(b, half)]


def _rotated(axis: Array, vector: Array) -> ComplexArray:
    """Coefficients (3, m, 3) of z^-1, 1 and z = exp(i angle) of a vector (m, 3) turned about a unit axis (m, 3)."""
    along = (vector * axis).sum(axis=1, keepdims=True) * axis
    rest, side = vector - along, np.cross(axis, vector)
    return np.stack([(rest + 1j * side) / 2, along, (rest - 1j * side) / 2])


def _axis_quaternion(axis: Array, z: ComplexArray) -> ComplexArray:
    """Quaternions (n, 4), of any length, of rotations by the angle of z = exp(i angle): 1 + z and -i (z - 1) axis."""
    return np.concatenate([(1 + z)[:, None], -1j * (z - 1)[:, None] * axis], axis=1)
