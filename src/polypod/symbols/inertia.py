"""Inertia of a rigid body in symbols: mass, first and second moment about the origin of its frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from .vectors import Frame, axial, cross, dot, skew

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

    def force(self, frame: Frame, half_acceleration_matrix: ca.SX, a_minus_g: ca.SX) -> ca.SX:
        """Wrench [f; m] at the origin, base axes: f = m (a - g) + B s, m = s x (a - g) + axial(B Sigma).

        ``half_acceleration_matrix`` is B/2 with B = alpha~ + omega~ omega~.
        """
        # Twice the moments for half of B, so that B itself is never formed.
        s, sigma = Inertia(self.mass, 2 * self.first, 2 * self.second).in_base(frame.axes)
        product = half_acceleration_matrix @ sigma
        return ca.vertcat(
            self.mass * a_minus_g + half_acceleration_matrix @ s, cross(s, 0.5 * a_minus_g) + axial(product)
        )

    def matrix(self, axes: ca.SX) -> ca.SX:
        """Inertia matrix (6, 6) with respect to the twist: [m 1, -s~; s~, tr(Sigma) 1 - Sigma]."""
        s, sigma = self.in_base(axes)
        turn = ca.trace(sigma) * ca.SX.eye(3) - sigma
        return ca.vertcat(ca.horzcat(self.mass * ca.SX.eye(3), -skew(s)), ca.horzcat(skew(s), turn))


def moments(body: Any) -> list[float]:
    """The ten numbers m, s, Sigma (xx, yy, zz, xy, xz, yz) of a body's data, rounding removed.

    A rod's zero moment comes out of turned axes as rounding; it must not keep a product alive.
    """
    second = np.array(body.second_moment)
    second[np.abs(second) < 1e-15 * np.abs(second).max(initial=1e-300)] = 0.0
    return [float(body.mass), *(float(x) for x in body.first_moment), *(float(second[i, j]) for i, j in SECOND_MOMENTS)]
