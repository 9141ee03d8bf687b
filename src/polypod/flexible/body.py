"""A flexible platform in symbols: its inertia in a floating frame, all terms kept.

A node stands at p + R rho, rho = r + sum_k phi_k q_k (Long (12), with q_e). In platform axes it accelerates by
a + B rho + 2 omega x rhodot + rhoddot, B = omegadot~ + omega~ omega~; integrals of that against 1, rho x and phi_k are
the force, moment and elastic forces of (34).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..description.modes import Integrals, Modes
from ..symbols.vectors import axial, cross, dot, skew

Array = NDArray[np.float64]
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
    """Inertia, stiffness and damping of a flexible platform, as functions of its elastic coordinates."""

    def __init__(self, modes: Modes) -> None:
        integrals = Integrals.of(modes)
        self.count = n = len(integrals.generalized_mass)
        size = float(np.sqrt(np.trace(integrals.second) / integrals.mass)) or 1.0
        shape = np.sqrt(np.diag(integrals.generalized_mass))
        root = float(np.sqrt(integrals.mass))
        self.mass = integrals.mass
        self.first = clean(integrals.first, root * root * size)
        self.second = clean(integrals.second, integrals.mass * size**2)
        self.s = clean(integrals.s, root * shape)
        self.position_shape = clean(integrals.position_shape, root * size * shape[:, None, None])
        self.shape_shape = clean(integrals.shape_shape, (shape[:, None] * shape)[:, :, None, None])
        self.generalized_mass = clean(integrals.generalized_mass, shape[:, None] * shape)
        self.stiffness = np.asarray(modes.stiffness)
        self.damping = np.asarray(modes.generalized_damping)
        self.origin_shape = np.zeros((3, n)) if modes.origin_shape is None else clean(modes.origin_shape, 1.0)
        self.origin_rotation = np.zeros((3, n)) if modes.origin_rotation is None else clean(modes.origin_rotation, 1.0)

    def first_moment(self, q: ca.SX) -> ca.SX:
        """MS = sum m rho (3)."""
        return ca.DM(self.first) + ca.DM(self.s) @ q

    def position_shapes(self, q: ca.SX) -> list[ca.SX]:
        """D_k = sum m rho phi_k^T (3, 3) for each mode: r and the deformed part."""
        result = []
        for k in range(self.count):
            total = ca.SX(sparse(self.position_shape[k]))
            for j in range(self.count):
                total = total + q[j] * ca.SX(sparse(self.shape_shape[j, k]))
            result.append(total)
        return result

    def second_moment(self, q: ca.SX) -> ca.SX:
        """Sigma = sum m rho rho^T (3, 3) of the deformed body, linear and quadratic terms kept."""
        sigma = ca.SX(sparse(self.second))
        for k, shape in enumerate(self.position_shapes(q)):
            # r phi_k^T + phi_k r^T + q_j phi_j phi_k^T: the deformed part counts once, the plain one twice.
            sigma = sigma + q[k] * (shape + ca.SX(sparse(self.position_shape[k].T)))
        return sigma

    def beta(self, q: ca.SX) -> ca.SX:
        """MS_re of (34): sum m rho x phi_k, columns (3, N)."""
        return ca.horzcat(*[-axial(shape) for shape in self.position_shapes(q)])

    def forces(self, motion: BodyMotion) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Force, moment about the origin (platform axes) and elastic forces, for no elastic acceleration."""
        q, rate, w = motion.q, motion.rate, motion.omega
        turning = skew(motion.alpha) + w @ w.T - dot(w, w) * ca.SX.eye(3)
        ms, sigma, shapes = self.first_moment(q), self.second_moment(q), self.position_shapes(q)
        drift = ca.DM(self.s) @ rate
        flow = ca.SX(3, 3)  # sum m rho rhodot^T
        for k, shape in enumerate(shapes):
            flow = flow + rate[k] * shape
        force = self.mass * motion.a + turning @ ms + 2 * cross(w, drift)
        moment = cross(ms, motion.a) + axial(turning @ sigma + 2 * skew(w) @ flow.T)
        elastic = []
        for k, shape in enumerate(shapes):
            gyro = ca.SX.zeros(3)
            for j in range(self.count):
                gyro = gyro - rate[j] * axial(ca.SX(sparse(self.shape_shape[j, k])))
            inertia = dot(ca.SX(ca.DM(self.s[:, k])), motion.a) + ca.trace(turning @ shape) + 2 * dot(w, gyro)
            elastic.append(inertia + self.stiffness[k] * q[k] + self.damping[k] * rate[k])
        return force, moment, ca.vertcat(*elastic)

    def rigid_inertia(self, q: ca.SX) -> ca.SX:
        """A_rr of (35): inertia matrix (6, 6) of the deformed body for its rigid motion, platform axes."""
        hat, sigma = skew(self.first_moment(q)), self.second_moment(q)
        turn = ca.trace(sigma) * ca.SX.eye(3) - sigma
        return ca.vertcat(ca.horzcat(self.mass * ca.SX.eye(3), -hat), ca.horzcat(hat, turn))

    def coupling(self, q: ca.SX) -> ca.SX:
        """A_re of (35): [MS_de; MS_re], (6, N), platform axes."""
        return ca.vertcat(ca.SX(sparse(self.s)), self.beta(q))


def clean(values: Array, scale: Array | float) -> Array:
    """Rounding removed, so that terms that are zero cost nothing."""
    return np.where(np.abs(values) <= _ROUNDING * np.asarray(scale), 0.0, values)


def sparse(values: Array) -> ca.DM:
    """Numbers with their zeros left out."""
    return ca.sparsify(ca.DM(values))
