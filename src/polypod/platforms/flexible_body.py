"""A flexible platform's inertia in a floating frame, all terms kept (Long, Khalil and Martinet, corrected).

A node stands at p + R rho, rho = r + sum_k phi_k q_k (Long (12), with q_e). In platform axes it accelerates by
a + B rho + 2 omega x rhodot + rhoddot, B = omegadot~ + omega~ omega~; integrals of that against 1, rho x and phi_k are
the force, moment and elastic forces of (34).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description.modes import Integrals, Modes
from ..lazy import lazy
from ..parameters import ParameterVector
from ..symbols.vectors import axial, cross, dot, skew

# Integrals that are zero by symmetry come out of sums as rounding of this size relative to the largest possible.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class BodyMotion:
    """Motion of the floating frame in platform axes (gravity taken from ``a``), elastic coordinates and rates."""

    a: ca.SX
    omega: ca.SX
    alpha: ca.SX
    q: ca.SX
    rate: ca.SX


class FlexibleBody:
    """Inertia, stiffness and damping of a flexible platform, as functions of its elastic coordinates.

    The shapes phi (3, N) and rotation shapes of the points where legs and wrenches act are here too.
    """

    def __init__(self, numbers: ParameterVector, modes: Modes) -> None:
        data = Integrals.of(modes)
        self.count = n = len(data.generalized_mass)
        size = float(np.sqrt(np.trace(data.second) / data.mass)) or 1.0
        shape, root = np.sqrt(np.diag(data.generalized_mass)), float(np.sqrt(data.mass))

        def take(name: str, values: Array, scale: Array | float) -> ca.SX:
            return numbers.array(f"platform.modes.{name}", cleaned(values, scale))

        self.mass = numbers.scalar("platform.modes.mass", data.mass)
        self.first = take("first", data.first, root * root * size)
        self.second = take("second", data.second, data.mass * size**2)
        self.s = take("s", data.s, root * shape)
        position_scale, pair_scale = root * size * shape[:, None, None], (shape[:, None] * shape)[:, :, None, None]
        positions, pairs = cleaned(data.position_shape, position_scale), cleaned(data.shape_shape, pair_scale)
        self.position_shape = [take(f"position_shape.{k}", positions[k], 0.0) for k in range(n)]
        self.shape_shape = [[take(f"shape_shape.{j}.{k}", pairs[j, k], 0.0) for k in range(n)] for j in range(n)]
        self.generalized_mass = take("generalized_mass", np.triu(data.generalized_mass), shape[:, None] * shape)
        self.stiffness = take("stiffness", np.asarray(modes.stiffness), 0.0)
        self.damping = take("damping", np.asarray(modes.generalized_damping), 0.0)
        none = np.zeros((3, n))
        self.origin_shape = take("origin_shape", none if modes.origin_shape is None else modes.origin_shape, 1.0)
        turn = none if modes.origin_rotation is None else modes.origin_rotation
        self.origin_rotation = take("origin_rotation", turn, 1.0)
        largest = float(np.abs(modes.attachment_shapes).max())
        legs = range(len(modes.attachments))
        self.attachments = [take(f"attachment.{i}", np.asarray(modes.attachments[i]), 0.0) for i in legs]
        self.shapes = [take(f"shape.{i}", modes.attachment_shapes[i], largest) for i in legs]
        turns = modes.attachment_rotations
        self.rotations = [take(f"rotation.{i}", none if turns is None else turns[i], 1.0) for i in legs]

    @lazy
    def elastic_mass(self) -> ca.SX:
        """The generalized masses (N, N) of the modes."""
        upper = ca.densify(self.generalized_mass)
        return upper + ca.triu(upper, False).T

    def first_moment(self, q: ca.SX) -> ca.SX:
        """MS = sum m rho (3)."""
        return self.first + self.s @ q

    def position_shapes(self, q: ca.SX) -> list[ca.SX]:
        """D_k = sum m rho phi_k^T (3, 3) for each mode: r and the deformed part."""
        result = []
        for k in range(self.count):
            total = self.position_shape[k]
            for j in range(self.count):
                total = total + q[j] * self.shape_shape[j][k]
            result.append(total)
        return result

    def second_moment(self, q: ca.SX) -> ca.SX:
        """Sigma = sum m rho rho^T (3, 3) of the deformed body, linear and quadratic terms kept."""
        sigma = self.second
        for k, shape in enumerate(self.position_shapes(q)):
            # r phi_k^T + phi_k r^T + q_j phi_j phi_k^T: the deformed part counts once, the plain one twice.
            sigma = sigma + q[k] * (shape + self.position_shape[k].T)
        return sigma

    def beta(self, q: ca.SX) -> ca.SX:
        """MS_re of (34): sum m rho x phi_k, columns (3, N)."""
        return ca.horzcat(*[-axial(shape) for shape in self.position_shapes(q)])

    def forces(self, motion: BodyMotion) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Force, moment about the origin (platform axes) and elastic forces, for no elastic acceleration."""
        q, rate, w = motion.q, motion.rate, motion.omega
        turning = skew(motion.alpha) + w @ w.T - dot(w, w) * ca.SX.eye(3)
        ms, sigma, shapes = self.first_moment(q), self.second_moment(q), self.position_shapes(q)
        drift = self.s @ rate
        flow = ca.SX(3, 3)  # sum m rho rhodot^T
        for k, shape in enumerate(shapes):
            flow = flow + rate[k] * shape
        force = self.mass * motion.a + turning @ ms + 2 * cross(w, drift)
        moment = cross(ms, motion.a) + axial(turning @ sigma + 2 * skew(w) @ flow.T)
        elastic = []
        for k, shape in enumerate(shapes):
            gyro = ca.SX.zeros(3)
            for j in range(self.count):
                gyro = gyro - rate[j] * axial(self.shape_shape[j][k])
            inertia = dot(self.s[:, k], motion.a) + ca.trace(turning @ shape) + 2 * dot(w, gyro)
            elastic.append(inertia + self.stiffness[k] * q[k] + self.damping[k] * rate[k])
        return force, moment, ca.vertcat(*elastic)

    def matrix(self, q: ca.SX) -> ca.SX:
        """A of (35), (6 + N, 6 + N): rigid inertia of the deformed body, coupling [MS_de; MS_re], modal masses."""
        hat, sigma = skew(self.first_moment(q)), self.second_moment(q)
        turn = ca.trace(sigma) * ca.SX.eye(3) - sigma
        rigid = ca.vertcat(ca.horzcat(self.mass * ca.SX.eye(3), -hat), ca.horzcat(hat, turn))
        coupling = ca.vertcat(self.s, self.beta(q))
        return ca.densify(ca.vertcat(ca.horzcat(rigid, coupling), ca.horzcat(coupling.T, self.elastic_mass)))


def cleaned(values: Array, scale: Array | float) -> Array:
    """Numbers without the rounding that zeros have: relative to ``scale``, so that what is zero costs nothing."""
    return np.where(np.abs(values) <= _ROUNDING * np.asarray(scale), 0.0, np.asarray(values, dtype=float))
