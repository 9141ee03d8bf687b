"""One chart of Study's coordinates for a geometry: rotated frames, in which no solution of interest has e0 near 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..kernels import Expression, Kernel, Port, port
from ..lazy import lazy
from . import tracking
from .contract import ComplexArray, Flags
from .distance_equations import (
    JOINTS,
    LENGTHS,
    UNKNOWNS,
    Complex,
    Factored,
    JointPair,
    complex_of,
    from_rows,
    jacobian,
    joint_pairs_of,
    residual,
    to_rows,
    total,
)
from .smale import ROUNDING_UP
from .tracking import POINT, as_complex, as_real, cache_key, initial_state

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
        return kernel().at(self._numbers)

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
            certify = kernel().at(both.reshape(len(joints), 30), rows=True)
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


# ----------------------------------------------------------------------------------------------------------------------
# Proof that a solution of the distance equations is near: Smale's alpha (``polypod.assembly.smale``), compiled.
#
# Every rounding is counted: that of an evaluation is bounded by a multiple of the sum of the sizes of what is added.

_POLISHING = 3
_ROUNDINGS = 32 * float(np.finfo(float).eps)
"""Bound of the error of an equation or a derivative relative to the sum of its terms' sizes. Its longest chain is of 12
additions and 3 products; products of complex numbers count as three, a chart's rotated joints and what follows from
them as 15: less than 64 roundings of eps/2."""


def polished() -> Expression:
    """Unknowns ``x`` (14) after three steps of Newton at ``lengths`` (12), ``alpha`` and the ``radius`` 2 beta."""
    joints = ca.SX.sym("joints", 6 * JOINTS)
    given, numbers = ca.SX.sym("x", 2 * UNKNOWNS), ca.SX.sym("lengths", 2 * LENGTHS)
    pairs, lengths, x = joint_pairs_of(joints), from_rows(numbers), from_rows(given)
    for _ in range(_POLISHING):
        step = Factored(jacobian(x, lengths, pairs)).solve(residual(x, lengths, pairs))
        x = [a - d for a, d in zip(x, step, strict=True)]
    alpha, radius = _alpha(x, lengths, pairs)
    outputs = port("found", to_rows(x)), port("alpha", alpha, ()), port("radius", radius, ())
    inputs = Port("x", given, (2 * UNKNOWNS,)), Port("lengths", numbers, (2 * LENGTHS,))
    return Expression("polished", inputs, outputs, Port("joints", joints, (6 * JOINTS,)))


def _alpha(x: list[Complex], lengths: list[Complex], pairs: list[JointPair]) -> tuple[ca.SX, ca.SX]:
    matrix, f = jacobian(x, lengths, pairs), residual(x, lengths, pairs)
    factored, n = Factored(matrix), range(UNKNOWNS)
    columns = [factored.solve([complex_of(1 if i == j else 0) for i in n]) for j in n]
    terms = _terms(x, lengths, pairs)
    beta, gamma, off = (ca.SX(0) for _ in range(3))
    for i in n:
        row = [columns[j][i] for j in n]
        weights = [_size(y) for y in row]
        step = [w * (_size(value) + _ROUNDINGS * t.value) for w, value, t in zip(weights, f, terms, strict=True)]
        beta = ca.fmax(beta, _sum(step))
        gamma = ca.fmax(gamma, _sum([w * t.square for w, t in zip(weights, terms, strict=True)]))
        products = [total([y * r[j] for y, r in zip(row, matrix, strict=True)]) for j in n]
        far = _sum([_size(z - (1 if j == i else 0)) for j, z in enumerate(products)])
        off = ca.fmax(off, far + 2 * _ROUNDINGS * _sum([w * t.slope for w, t in zip(weights, terms, strict=True)]))
    left = 1 - off * ROUNDING_UP
    alpha = ROUNDING_UP * beta * gamma / (left * left)
    # what is not a number is not below the limit either
    return ca.if_else(left > 0, alpha, ca.inf), 2 * ROUNDING_UP * beta / left


class _Terms(NamedTuple):
    """Upper bounds of an equation's sums of sizes: of its terms, its derivatives' terms, its quadratic coefficients."""

    value: ca.SX
    slope: ca.SX
    square: ca.SX


def _terms(x: list[Complex], lengths: list[Complex], pairs: list[JointPair]) -> list[_Terms]:
    """Of every equation. Joints count with |A|_1, |B|_1 in every component: they were rotated."""
    sizes = [_size(z) for z in x]
    g0, g, e = sizes[0], _sum(sizes[1:4]), _sum(sizes[4:])
    first, norm = _size(lengths[-1]), 1 + e * e
    rows = [_Terms(g0 + e * g, 1 + e + g, ca.SX(3))]
    for number, pair in zip(lengths, pairs, strict=False):
        a, b = (_sum([ca.fabs(c) for c in point]) for point in (pair.a, pair.b))
        both, product, kappa = a + b, a * b, _size(number)
        # kappa is a difference: its error is that of what it was made from
        kappa_error = kappa + 2 * first + both * both
        value = kappa_error * norm + product * (1 + e + e * e) + both * (g + e * g0 + e * g)
        slope = both * (1 + 3 * e + g0 + 2 * g) + 2 * kappa_error * e + 2 * product * (1 + e)
        rows.append(_Terms(value, slope, 3 * kappa + 3 * both + product))
    last = _Terms(g0 * g0 + g * g + first * norm, 2 * (g0 + g + first * e), 4 + 3 * first)
    return [*rows, last]


def _size(z: Complex) -> ca.SX:
    """|re| + |im|, no smaller than |z|."""
    return ca.fabs(z.re) + ca.fabs(z.im)


def _sum(values: list[ca.SX]) -> ca.SX:
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


@cache
def kernel() -> Kernel:
    """The compiled ``polished``."""
    return Kernel(polished, cache_key("polished"))
