"""One chart of Study's coordinates for a geometry: rotated frames, in which no solution of interest has e0 near 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..kernels import Kernel
from ..lazy import lazy
from . import certificate, tracking
from .contract import ComplexArray, Flags
from .tracking import POINT, as_complex, as_real, initial_state

_ITERATIONS = 4
"""Rounds after which paths that have ended make room for others in the vectors."""


@dataclass(frozen=True)
class Chart:
    """Joints A, B (6, 3) relative to the first ones, rotated by ``base`` and ``platform`` (3, 3): A = base a.

    ``joints`` are a and b themselves; ``number`` is the seed of both rotations.
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
        base, platform = _random_rotations(number, np.float64)
        return Chart(a @ base.T, b @ platform.T, base, platform, number, (a, b))

    def rotated(self, a: Array | None, kind: type[np.floating]) -> tuple[NDArray[Any], NDArray[Any]]:
        """A (..., 6, 3), of other base joints if they are given, and B (6, 3) rotated in another precision."""
        base, platform = _random_rotations(self.number, kind)
        return (self.joints[0] if a is None else a).astype(kind) @ base.T, self.joints[1].astype(kind) @ platform.T

    @lazy
    def _numbers(self) -> Array:
        return np.stack([self.a[1:], self.b[1:]], axis=1).ravel()

    @lazy
    def _track(self) -> Kernel:
        return tracking.kernel().at(self._numbers)

    @lazy
    def _track_moving(self) -> Kernel:
        return tracking.kernel(moving=True).at(self._numbers)

    @lazy
    def _certify(self) -> Kernel:
        return certificate.kernel().at(self._numbers)

    def lengths(self, squares: NDArray[Any], joints: Array | None = None) -> ComplexArray:
        """kappa_2..6 and lambda (..., 6) of squared distances (..., 6), of other base joints (..., 6, 3) if given."""
        own = (((self.a if joints is None else joints) + self.b) ** 2).sum(axis=-1)[..., 1:]
        first = squares[..., :1]
        return np.concatenate([first - squares[..., 1:] + own, first], axis=-1).astype(np.complex128) / 4

    def track(
        self,
        x: ComplexArray,
        first: ComplexArray,
        last: ComplexArray,
        control: tuple[float, float] = tracking.STEP_CONTROL,
        goal: Array | None = None,
    ) -> tuple[ComplexArray, Flags]:
        """Unknowns (n, 7) at lengths ``last`` of paths from x (n, 7) at ``first`` (each (1 or n, 6)); which arrived.

        The base joints go to ``goal`` (n, 6, 3), in the chart's axes, if that is given.
        """
        state, code = initial_state(x), np.zeros(len(x))
        track = self._track if goal is None else self._track_moving
        goals = [] if goal is None else [np.ascontiguousarray(goal[:, 1:]).reshape(len(goal), 15)]
        begin, end = as_real(first), as_real(last)
        choice, iterations = np.array([control]), np.array([float(_ITERATIONS)])
        live = np.arange(len(x))
        while len(live):
            ends = [row if len(row) == 1 else row[live] for row in (begin, end)]
            moved = [row[live] for row in goals]
            state[live], code[live] = track(state[live], *ends, choice, iterations, *moved)
            live = live[code[live] == 0]
        return as_complex(state[:, :POINT]), code == 1

    def certify(
        self, x: ComplexArray, lengths: ComplexArray, joints: Array | None = None
    ) -> tuple[ComplexArray, Array, Array]:
        """Unknowns (n, 7) polished at lengths (1 or n, 6), alpha and radius (n,); base joints (n, 6, 3) if given."""
        certify = self._certify
        if joints is not None and len(joints):
            both = np.stack([joints[:, 1:], np.broadcast_to(self.b[1:], joints[:, 1:].shape)], axis=2)
            certify = certificate.kernel().at(both.reshape(len(joints), 30), rows=True)
        found, alpha, radius = certify(as_real(x), as_real(lengths))
        return as_complex(found), alpha, radius

    def squares(self, x: ComplexArray) -> ComplexArray:
        """Squared distances (n, 6) of unknowns (n, 7), complex ones too."""
        position, rotation = self._pose(x)
        reach = position[:, None] + np.einsum("nij,kj->nki", rotation, self.b) - self.a
        return np.asarray((reach * reach).sum(axis=2))

    def _pose(self, x: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """Position (n, 3) of the first joint and rotation (n, 3, 3), in rotated frames."""
        g0, g, e = x[:, :1], x[:, 1:4], x[:, 4:]
        norm = 1 + (e * e).sum(axis=1)[:, None]
        position = 2 * (g - g0 * e + np.cross(e, g))
        skew = np.cross(e[:, None, :], np.eye(3)[None])  # rows e x i_k: the transpose of the matrix of e x
        flat = (2 - norm)[:, :, None] * np.eye(3) + 2 * e[:, :, None] * e[:, None, :] + 2 * np.swapaxes(skew, 1, 2)
        with np.errstate(all="ignore"):  # a path that is lost may end anywhere
            return position / norm, flat / norm[:, :, None]

    def pose(self, x: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """Position (n, 3) of the first joint from that of the base, and rotation (n, 3, 3), axes of base and platform.

        With A = T a and B = U b a rotation R of the chart is T^T R U.
        """
        position, rotation = self._pose(x)
        return position @ self.base, self.base.T @ rotation @ self.platform

    def unknowns(self, position: ComplexArray, quaternion: ComplexArray) -> ComplexArray:
        """Unknowns (n, 7) of positions (n, 3) and quaternions (n, 4; scalar first, any length), in the frames' axes."""
        e = product(product(_quaternion(self.base), quaternion), _conjugate(_quaternion(self.platform)))
        e = e / e[:, :1]
        p = np.concatenate([np.zeros((len(position), 1)), position @ self.base.T], axis=1)
        g = product(p, e) / 2
        return np.concatenate([g, e[:, 1:]], axis=1)

    def quaternion(self, x: ComplexArray) -> ComplexArray:
        """Quaternions (n, 4), scalar first, of unknowns (n, 7), in the axes of base and platform."""
        e = np.concatenate([np.ones((len(x), 1)), x[:, 4:]], axis=1)
        return product(product(_conjugate(_quaternion(self.base)), e), _quaternion(self.platform))


def _random_rotations(number: int, kind: type[np.floating]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two random rotations (3, 3) of a seed."""
    draw = np.random.default_rng(20_000 + number)
    first, second = (_rotation_matrix(draw.normal(size=4).astype(kind)) for _ in range(2))
    return first, second


def _rotation_matrix(quaternion: NDArray[Any]) -> NDArray[Any]:
    """The rotation (3, 3) of a quaternion of any length, scalar first."""
    w, x, y, z = quaternion / np.sqrt((quaternion * quaternion).sum())
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion(rotation: Array) -> Array:
    """A unit quaternion (1, 4), scalar first."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(rotation).as_quat(scalar_first=True)[None])


def _conjugate(q: NDArray[Any]) -> NDArray[Any]:
    return q * np.array([1, -1, -1, -1])


def product(p: NDArray[Any], q: NDArray[Any]) -> ComplexArray:
    """Quaternions p q, scalar first, rows broadcast."""
    scalar = p[:, :1] * q[:, :1] - (p[:, 1:] * q[:, 1:]).sum(axis=1, keepdims=True)
    vector = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([scalar, vector], axis=1)
