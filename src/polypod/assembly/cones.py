"""Spherical robots of three legs with three hinges through one point (3-RRR, agile eye): eight orientations at most.

While the motors stand still, the last hinge b_i of each leg turns about its elbow's axis w_i: w_i.R b_i = cos_i. In a
quaternion these are three quadrics of projective space, with eight points in common (Bezout). To find them, R = R(w_1,
theta) R_0 R(b_1, phi) keeps to the first equation; in exp(i theta) and exp(i phi) the others have degree two in each.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..legs.strut import Strut
from .chart import product
from .contract import SQUARE, Complexes, Machine, across, pose_of, stacked
from .laurent import at_first, fitting, from_samples, resultant, two_roots, unit_roots
from .quadrics import QuadricPattern, Quadrics

DEGREE = 8
_SAMPLES = 32


class ThreeCones(QuadricPattern):
    """The quaternion (1, x) of the platform's turn from an orientation of no meaning, so that no solution is far."""

    most = DEGREE

    def __init__(self, place: Array, struts: list[Strut]) -> None:
        self._place = place
        self._hinges = np.array([strut.hinge for strut in struts])
        self._cosines = np.array([strut.cosine for strut in struts])
        draw = np.random.default_rng(8).normal(size=(1, 4))
        self._turn = draw / np.linalg.norm(draw)

    @staticmethod
    def of(machine: Machine) -> ThreeCones | None:
        """Three legs of hinges through the platform's origin, which turns about it."""
        struts, freedoms = machine.struts, machine.freedoms
        if len(struts) != 3 or freedoms.count != 3 or not freedoms.turns.all():
            return None
        place = np.asarray(machine.robot.home.matrix[:3, 3])
        for strut in struts:
            if strut.axis is None or strut.hinge is None:
                return None
            off = np.cross(strut.point - place, strut.axis), np.cross(strut.joint, strut.hinge)
            size = np.linalg.norm(strut.joint) + float(np.abs(strut.length).max())
            if any(np.abs(part).max() > SQUARE * size for part in off):
                return None
        return ThreeCones(place, struts)

    def system(self, struts: list[Strut]) -> Quadrics:
        """(1 - x.x) w.b + 2 (w.x)(b.x) + 2 x.(b x w) = cos (1 + x.x), w turned to where x is zero."""
        w, b = self._elbows(struts), self._hinges
        along, square = (w * b).sum(axis=2), w[..., :, None] * b[None, :, None, :]
        a = square + np.swapaxes(square, 2, 3) - (along + self._cosines)[..., None, None] * np.eye(3)
        return Quadrics(a, 2 * np.cross(b, w), along - self._cosines, np.full(along.shape, 24.0))  # unit vectors

    def _elbows(self, struts: list[Strut]) -> Array:
        """Elbows' axes (m, 3, 3) seen from the orientation of no meaning."""
        return np.asarray(stacked(struts, "axis") @ _rotation(self._turn[0]))

    def roots(self, struts: list[Strut], way: int) -> Complexes:
        """Two angles from the resultant of two equations, as quaternions."""
        w, b = self._elbows(struts), self._hinges
        first, start = w[:, 0], np.array([_between(b[0], one, self._cosines[0]) for one in w[:, 0]])
        low = [_turned(first, w[:, k]) for k in (1, 2)]
        high = [_turned(np.broadcast_to(b[0], first.shape), np.broadcast_to(b[k], first.shape)) for k in (1, 2)]
        carry = np.array([_rotation(q) for q in start]).reshape(-1, 3, 3)
        forms = [
            # about w_1 backwards: powers of z change places
            np.einsum("amx,mxy,bmy->mab", p[::-1], carry, r)
            for p, r in zip(low, high, strict=True)
        ]
        for form, cosine in zip(forms, self._cosines[1:], strict=True):
            form[:, 1, 1] -= cosine
        sampled = np.broadcast_to(unit_roots(_SAMPLES), (len(w), _SAMPLES))
        z = from_samples(resultant(at_first(forms[0], sampled), at_first(forms[1], sampled)), DEGREE)
        # either equation may hold for all phi
        pairs = [(z, fitting(other, z, y)) for one, other in (forms, forms[::-1]) for y in two_roots(at_first(one, z))]
        every, own = (np.concatenate(part, axis=1) for part in zip(*pairs, strict=True))
        m, k = every.shape
        outer = _half_turn(np.repeat(first, k, axis=0), every.ravel())
        inner = _half_turn(np.broadcast_to(b[0], (m * k, 3)), own.ravel())
        e = product(product(outer, np.repeat(start, k, axis=0)), inner)
        return np.asarray((e[:, 1:] / e[:, :1]).reshape(m, k, 3))

    def poses(self, struts: list[Strut], x: Array) -> Array:
        """Orientations about the point that stays."""
        e = np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)
        e = product(np.broadcast_to(self._turn, (x[..., 0].size, 4)), e.reshape(-1, 4))
        turn = np.array([_rotation(q.real) for q in e]).reshape(*x.shape[:-1], 3, 3)
        return pose_of(turn, self._place)


def _rotation(q: Array) -> Array:
    """The rotation (3, 3) of a quaternion of any length, scalar first."""
    w, v = q[0], q[1:]
    return np.asarray(((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * np.cross(v, np.eye(3)).T) / (q @ q))


def _between(b: Array, w: Array, cosine: float) -> Array:
    """A quaternion (4) that turns b to an angle of this cosine with w."""
    side = across(w).real
    goal = cosine * w + np.sqrt(max(0.0, 1 - cosine**2)) * side
    half = b + goal
    if np.linalg.norm(half) < 1e-6:
        half = across(b).real  # half a turn about any direction square to b
    half = half / np.linalg.norm(half)
    return np.r_[b @ half, np.cross(b, half)]


def _turned(axis: Array, vector: Array) -> Complexes:
    """Coefficients (3, m, 3) of z^-1, 1 and z = exp(i angle) of a vector (m, 3) turned about a unit axis (m, 3)."""
    along = (vector * axis).sum(axis=1, keepdims=True) * axis
    rest, side = vector - along, np.cross(axis, vector)
    return np.stack([(rest + 1j * side) / 2, along, (rest - 1j * side) / 2])


def _half_turn(axis: Array, z: Complexes) -> Complexes:
    """The quaternion (n, 4), of any length, of a turn by the angle of z = exp(i angle): 1 + z and -i (z - 1) axis."""
    return np.concatenate([(1 + z)[:, None], -1j * (z - 1)[:, None] * axis], axis=1)
