"""Inertia of a rigid body in symbols: mass, first and second moment about the origin of its frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from .vectors import cross, dot, skew, symmetric

SECOND_MOMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Rows and columns of Sigma whose entries are, in this order, the last six of a body's ten moments."""


@dataclass(frozen=True)
class Inertia:
    """Mass m [kg], first moment s = int x dm (3) [kg m] and second moment Sigma = int x x^T dm (3, 3) [kg m^2].

    About the origin of the body's frame, in its axes. The kinetic energy is linear in these ten numbers.
    """

    mass: ca.SX
    first: ca.SX
    second: ca.SX

    @staticmethod
    def of(body: Any) -> Inertia:
        """From data with ``mass``, ``first_moment`` and ``second_moment``; an Inertia is passed through."""
        if isinstance(body, Inertia):
            return body
        return Inertia.from_moments([ca.SX(x) for x in moments(body)])

    @staticmethod
    def from_moments(numbers: list[ca.SX]) -> Inertia:
        """From ten numbers or symbols: m, s, and xx, yy, zz, xy, xz, yz of Sigma."""
        second = ca.SX(3, 3)
        for (i, j), value in zip(SECOND_MOMENTS, numbers[4:], strict=True):
            if not value.is_zero():
                second[i, j] = second[j, i] = value
        return Inertia(numbers[0], ca.densify(ca.vertcat(*numbers[1:4])), ca.densify(second))

    @staticmethod
    def point_mass(mass: Any) -> Inertia:
        """A mass at the frame's origin."""
        return Inertia(ca.SX(mass), ca.SX.zeros(3), ca.SX.zeros(3, 3))

    @staticmethod
    def mass_at(mass: Any, point: ca.SX) -> Inertia:
        """A mass at a point (3) of the frame."""
        first = ca.SX(mass) * point
        return Inertia(ca.SX(mass), first, symmetric(first @ point.T))

    @staticmethod
    def about_first_axis(moment: Any) -> Inertia:
        """A moment of inertia about the frame's first axis and nothing else (the cross of a universal joint)."""
        half = 0.5 * ca.SX(moment)
        return Inertia(ca.SX(0), ca.SX.zeros(3), ca.diag(ca.vertcat(-half, half, half)))

    def __add__(self, other: Inertia) -> Inertia:
        """Both bodies as one, stated in the same frame: moments add."""
        return Inertia(self.mass + other.mass, self.first + other.first, self.second + other.second)

    @property
    def com(self) -> ca.SX:
        """Centre of mass s/m (3) [m]; the origin for a body without mass."""
        return ca.SX.zeros(3) if self.first.is_zero() else self.first / self.mass

    @property
    def central_tensor(self) -> ca.SX:
        """Inertia tensor about the centre of mass (3, 3): tr(C) 1 - C with C = Sigma - s s^T/m; zeros left out."""
        com = self.com
        c = {(i, j): self.second[i, j] - com[i] * self.first[j] for i, j in SECOND_MOMENTS}
        tensor = ca.SX(3, 3)
        for i, j in SECOND_MOMENTS:
            value = -c[i, j] if i != j else c[(i + 1) % 3, (i + 1) % 3] + c[(i + 2) % 3, (i + 2) % 3]
            if not value.is_zero():
                tensor[i, j] = tensor[j, i] = value
        return tensor

    def in_base(self, axes: ca.SX) -> tuple[ca.SX, ca.SX]:
        """First and second moment in base axes: R s, R Sigma R^T."""
        weighted = axes @ self.second
        second = ca.SX.zeros(3, 3)
        for i in range(3):
            for j in range(i, 3):
                second[i, j] = second[j, i] = dot(weighted[i, :], axes[j, :])
        return axes @ self.first, second

    def about(self, point: ca.SX) -> Inertia:
        """The same body in a frame of the same axes with its origin at a point (3)."""
        moved = self.first @ point.T
        first = self.first - self.mass * point
        return Inertia(self.mass, first, symmetric(self.second - moved - point @ first.T))

    def force(self, axes: ca.SX, omega: ca.SX, alpha: ca.SX, a_minus_g: ca.SX) -> ca.SX:
        """Wrench [f; m] at the origin, base axes: f = m (a - g) + B s, m = s x (a - g) + I alpha + omega x I omega.

        B = alpha~ + omega~ omega~. Of a body that accelerates it is found in its own axes, which takes fewer
        operations than the inertia in those of the base; without, it shares these with ``matrix``.
        """
        if alpha.is_zero():
            s, turn = self._turned(axes)
            lever = cross(omega, cross(omega, s))
            spun = cross(omega, turn @ omega)
            return ca.vertcat(self.mass * a_minus_g + lever, cross(s, a_minus_g) + spun)
        w, change, a = (axes.T @ vector for vector in (omega, alpha, a_minus_g))
        s, tensor = self.first, self.tensor
        force = cross(change, s) + cross(w, cross(w, s))
        moment = tensor @ change + cross(w, tensor @ w) + cross(s, a)
        return ca.vertcat(self.mass * a_minus_g + axes @ force, axes @ moment)

    def _turned(self, axes: ca.SX) -> tuple[ca.SX, ca.SX]:
        """First moment and inertia tensor about the origin, base axes."""
        s, turn = Inertia(self.mass, self.first, self.tensor).in_base(axes)
        return s, turn

    @property
    def tensor(self) -> ca.SX:
        """Inertia tensor about the origin (3, 3): tr(Sigma) 1 - Sigma."""
        return ca.trace(self.second) * ca.SX.eye(3) - self.second

    def matrix(self, axes: ca.SX) -> ca.SX:
        """Inertia matrix (6, 6) with respect to the twist: [m 1, -s~; s~, tr(Sigma) 1 - Sigma]."""
        s, turn = self._turned(axes)
        return ca.vertcat(ca.horzcat(self.mass * ca.SX.eye(3), -skew(s)), ca.horzcat(skew(s), turn))


def half_acceleration_matrix(omega: ca.SX, alpha: ca.SX) -> ca.SX:
    """B/2 (3, 3) with B = alpha~ + omega~ omega~."""
    w, h, a = omega, 0.5 * omega, 0.5 * alpha
    squares = [h[k] * w[k] for k in range(3)]
    xy, yz, zx = h[0] * w[1], h[1] * w[2], h[2] * w[0]
    rows = [
        [-(squares[1] + squares[2]), xy - a[2], zx + a[1]],
        [xy + a[2], -(squares[2] + squares[0]), yz - a[0]],
        [zx - a[1], yz + a[0], -(squares[0] + squares[1])],
    ]
    return ca.vertcat(*[ca.horzcat(*row) for row in rows])


def euler_moment(half: ca.SX, omega: ca.SX, sigma: ca.SX) -> ca.SX:
    """axial(H Sigma) (3) for H = B/2 of an angular velocity: what a body of twice the moments Sigma/2 needs to turn.

    On the diagonal of H only differences count, H_ii - H_jj = (w_i^2 - w_j^2)/2.
    """
    squares = [0.5 * omega[k] * omega[k] for k in range(3)]
    moment = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        across = half[j, i] * sigma[i, i] - half[i, j] * sigma[j, j]
        along = half[j, k] * sigma[i, k] - half[i, k] * sigma[j, k]
        moment.append(across + along + (squares[j] - squares[i]) * sigma[i, j])
    return ca.vertcat(*moment)


def moments(body: Any) -> list[float]:
    """The ten numbers m, s, Sigma (xx, yy, zz, xy, xz, yz) of a body's data, rounding removed.

    A rod's zero moment comes out of turned axes as rounding; it must not keep a product alive.
    """
    second = np.array(body.second_moment)
    second[np.abs(second) < 1e-15 * np.abs(second).max(initial=1e-300)] = 0.0
    return [float(body.mass), *(float(x) for x in body.first_moment), *(float(second[i, j]) for i, j in SECOND_MOMENTS)]
