"""One chart of Study's coordinates for a geometry: turned frames, in which no solution of interest has e0 near 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..kernels import Kernel
from ..lazy import lazy
from . import certificate, tracking
from .tracking import PLACE, beginning, numbers_of, parts_of

Complexes = NDArray[np.complex128]
_ROUNDS = 4
"""Rounds after which paths that have ended leave the vectors to the others."""


@dataclass(frozen=True)
class Chart:
    """Joints A, B (6, 3) relative to the first ones, turned by ``base`` and ``platform`` (3, 3): A = base a.

    ``joints`` are they before they were turned, ``number`` says by what.
    """

    a: Array
    b: Array
    base: Array
    platform: Array
    number: int
    joints: tuple[Array, Array]

    @staticmethod
    def of(a: Array, b: Array, number: int) -> Chart:
        """One of many charts of joints a, b (6, 3) in base and platform axes, the first of each at the origin."""
        base, platform = _turns(number, np.float64)
        return Chart(a @ base.T, b @ platform.T, base, platform, number, (a, b))

    def turned(self, a: Array | None, kind: type[np.floating]) -> tuple[NDArray[Any], NDArray[Any]]:
        """A (..., 6, 3), of other base joints if they are given, and B (6, 3) turned in another precision."""
        base, platform = _turns(self.number, kind)
        return (self.joints[0] if a is None else a).astype(kind) @ base.T, self.joints[1].astype(kind) @ platform.T

    @lazy
    def _numbers(self) -> Array:
        return np.stack([self.a[1:], self.b[1:]], axis=1).ravel()

    @lazy
    def _follow(self) -> Kernel:
        return tracking.kernel().at(self._numbers)

    @lazy
    def _follow_moving(self) -> Kernel:
        return tracking.kernel(moving=True).at(self._numbers)

    @lazy
    def _settle(self) -> Kernel:
        return certificate.kernel().at(self._numbers)

    def lengths(self, squares: NDArray[Any], joints: Array | None = None) -> Complexes:
        """kappa_2..6 and lambda (..., 6) of squared distances (..., 6), of other base joints (..., 6, 3) if given."""
        own = (((self.a if joints is None else joints) + self.b) ** 2).sum(axis=-1)[..., 1:]
        first = squares[..., :1]
        return np.concatenate([first - squares[..., 1:] + own, first], axis=-1).astype(np.complex128) / 4

    def follow(
        self,
        x: Complexes,
        first: Complexes,
        last: Complexes,
        care: tuple[float, float] = tracking.CARE,
        goal: Array | None = None,
    ) -> tuple[Complexes, NDArray[np.bool_]]:
        """Unknowns (n, 7) at lengths ``last`` of paths from x (n, 7) at ``first`` (each (1 or n, 6)); which arrived.

        The base joints go to ``goal`` (n, 6, 3), in the chart's axes, if that is given.
        """
        state, code = beginning(x), np.zeros(len(x))
        follow = self._follow if goal is None else self._follow_moving
        goals = [] if goal is None else [np.ascontiguousarray(goal[:, 1:]).reshape(len(goal), 15)]
        begin, end = parts_of(first), parts_of(last)
        choice, rounds = np.array([care]), np.array([float(_ROUNDS)])
        live = np.arange(len(x))
        while len(live):
            ends = [row if len(row) == 1 else row[live] for row in (begin, end)]
            moved = [row[live] for row in goals]
            state[live], code[live] = follow(state[live], *ends, choice, rounds, *moved)
            live = live[code[live] == 0]
        return numbers_of(state[:, :PLACE]), code == 1

    def settle(self, x: Complexes, lengths: Complexes, joints: Array | None = None) -> tuple[Complexes, Array, Array]:
        """Unknowns (n, 7) polished at lengths (1 or n, 6), alpha and radius (n,); base joints (n, 6, 3) if given."""
        settle = self._settle
        if joints is not None and len(joints):
            both = np.stack([joints[:, 1:], np.broadcast_to(self.b[1:], joints[:, 1:].shape)], axis=2)
            settle = certificate.kernel().at(both.reshape(len(joints), 30), rows=True)
        found, alpha, radius = settle(parts_of(x), parts_of(lengths))
        return numbers_of(found), alpha, radius

    def squares(self, x: Complexes) -> Complexes:
        """Squared distances (n, 6) of unknowns (n, 7), complex ones too."""
        place, turn = self._pose(x)
        reach = place[:, None] + np.einsum("nij,kj->nki", turn, self.b) - self.a
        return np.asarray((reach * reach).sum(axis=2))

    def _pose(self, x: Complexes) -> tuple[Complexes, Complexes]:
        """Place (n, 3) of the first joint and turn (n, 3, 3), in turned frames."""
        g0, g, e = x[:, :1], x[:, 1:4], x[:, 4:]
        norm = 1 + (e * e).sum(axis=1)[:, None]
        place = 2 * (g - g0 * e + np.cross(e, g))
        skew = np.cross(e[:, None, :], np.eye(3)[None])  # rows e x i_k: the transpose of the matrix of e x
        flat = (2 - norm)[:, :, None] * np.eye(3) + 2 * e[:, :, None] * e[:, None, :] + 2 * np.swapaxes(skew, 1, 2)
        with np.errstate(all="ignore"):  # a path that is lost may end anywhere
            return place / norm, flat / norm[:, :, None]

    def pose(self, x: Complexes) -> tuple[Complexes, Complexes]:
        """Place (n, 3) of the first joint from that of the base, and turn (n, 3, 3), in the axes of base and platform.

        With A = T a and B = U b a turn R of the chart is T^T R U.
        """
        place, turn = self._pose(x)
        return place @ self.base, self.base.T @ turn @ self.platform

    def unknowns(self, place: Complexes, quaternion: Complexes) -> Complexes:
        """Unknowns (n, 7) of places (n, 3) and quaternions (n, 4; scalar first, of any length), in the frames' axes."""
        e = product(product(_quaternion(self.base), quaternion), _conjugate(_quaternion(self.platform)))
        e = e / e[:, :1]
        p = np.concatenate([np.zeros((len(place), 1)), place @ self.base.T], axis=1)
        g = product(p, e) / 2
        return np.concatenate([g, e[:, 1:]], axis=1)

    def quaternion(self, x: Complexes) -> Complexes:
        """Quaternions (n, 4), scalar first, of unknowns (n, 7), in the axes of base and platform."""
        e = np.concatenate([np.ones((len(x), 1)), x[:, 4:]], axis=1)
        return product(product(_conjugate(_quaternion(self.base)), e), _quaternion(self.platform))


def _turns(number: int, kind: type[np.floating]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two rotations (3, 3) drawn by a number."""
    draw = np.random.default_rng(20_000 + number)
    first, second = (_turn(draw.normal(size=4).astype(kind)) for _ in range(2))
    return first, second


def _turn(quaternion: NDArray[Any]) -> NDArray[Any]:
    """The rotation (3, 3) of a quaternion of any length, scalar first."""
    w, x, y, z = quaternion / np.sqrt((quaternion * quaternion).sum())
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion(turn: Array) -> Array:
    """A unit quaternion (1, 4), scalar first."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(turn).as_quat(scalar_first=True)[None])


def _conjugate(q: NDArray[Any]) -> NDArray[Any]:
    return q * np.array([1, -1, -1, -1])


def product(p: NDArray[Any], q: NDArray[Any]) -> Complexes:
    """Quaternions p q, scalar first, rows broadcast."""
    scalar = p[:, :1] * q[:, :1] - (p[:, 1:] * q[:, 1:]).sum(axis=1, keepdims=True)
    vector = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([scalar, vector], axis=1)
