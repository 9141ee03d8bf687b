"""A flexible platform: a floating frame of six degrees of freedom and N elastic coordinates (Long (11)-(43),
corrected).

Legs act at the moving attachment points p + R (r_i + Phi_i q_e). The velocity is (v, omega) in platform axes, then the
elastic rates: mode shapes are constant there.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..description.modes import Integrals, Modes
from ..lazy import lazy
from ..parameters import ParameterVector
from ..symbols.vectors import axial, cross, dot, skew, symmetric
from .contract import Platform, PlatformState, Tip
from .modes import modes_of
from .motion import FrameMotion, Inputs, frame_of, moved, pose_of


class FlexibleState(PlatformState):
    """A flexible platform at one state."""

    def __init__(
        self, body: FlexibleBody, gravity: ca.SX, motion: FrameMotion, q: ca.SX, rate: ca.SX, change: ca.SX | None
    ) -> None:
        self.body, self.gravity, self.motion = body, gravity, motion
        self.axes = motion.frame.axes
        self.q, self.rate, self.change = q, rate, change

    def _local(self, leg: int) -> ca.SX:
        """The attachment point from the frame's origin, platform axes."""
        return self.body.attachments[leg] + self.body.shapes[leg] @ self.q

    def tip(self, leg: int, arm: ca.SX) -> Tip:
        """The attachment point along (18), (22)."""
        shape = self.body.shapes[leg]
        drift = self.axes @ (shape @ self.rate)
        turned = self.axes @ self._local(leg)
        zero, first, half = self.motion.series(turned)
        half = half + cross(self.motion.omega, drift)
        if self.change is not None:
            half = half + 0.5 * (self.axes @ (shape @ self.change))
        spin = self.motion.omega + self.axes @ (self.body.rotations[leg] @ self.rate)
        return Tip(turned, self.axes, (zero, first + drift, half), self.motion.axes_series(), spin)

    def force(self, leg: int, tip: Tip, force: ca.SX) -> ca.SX:
        """[f; r x f; Phi^T f] in platform axes, (26); no leg of a flexible platform uses its axes."""
        f = self.axes.T @ force[:3]
        return ca.vertcat(f, cross(self._local(leg), f), self.body.shapes[leg].T @ f)

    def moment(self, leg: int, moment: ca.SX) -> ca.SX:
        """[0; m; Theta^T m] in platform axes, Theta the rotation shapes."""
        turned = self.axes.T @ moment
        return ca.vertcat(ca.SX.zeros(3), turned, self.body.rotations[leg].T @ turned)

    def inertia_of(self, leg: int, tip: Tip, inertia: ca.SX) -> ca.SX:
        """C^T A_x C of (37) with C = [1, -r~, Phi], platform axes."""
        a, shape, arm = symmetric(self.axes.T @ inertia @ self.axes), self.body.shapes[leg], skew(self._local(leg))
        across = arm @ a
        rigid = ca.vertcat(ca.horzcat(a, across.T), ca.horzcat(across, symmetric(-across @ arm)))
        carried = a @ shape
        coupling = ca.vertcat(carried, arm @ carried)
        elastic = ca.SX(self.body.count, self.body.count)
        for i in range(3):
            for j in range(i, 3):
                product = shape[i, :].T @ shape[j, :]
                product = ca.triu(product if i == j else product + product.T)
                if product.nnz():
                    elastic = elastic + a[i, j] * product
        elastic = elastic + ca.triu(elastic, False).T
        return ca.densify(ca.vertcat(ca.horzcat(rigid, coupling), ca.horzcat(coupling.T, elastic)))

    @lazy
    def required_wrench(self) -> ca.SX:
        """M_.r A + bias of the platform, (34)."""
        inside, frame = self.axes.T, self.absolute
        motion = BodyMotion(
            inside @ (frame.a - self.gravity),
            inside @ frame.omega,
            inside @ frame.alpha,
            self.q,
            self.rate,
        )
        return ca.vertcat(*self.body.forces(motion))

    @lazy
    def inertia(self) -> ca.SX:
        """A of (35)."""
        return self.body.matrix(self.q)

    def external(self, wrench: ca.SX) -> ca.SX:
        """External wrench on the body's point at the origin.

        The point stands at Phi_d q from the frame's origin, so its velocity is v + omega x Phi_d q + Phi_d qdot;
        (14) leaves the second term out, and forces would not be the gradient of their work.
        """
        force, moment = self.axes.T @ wrench[:3], self.axes.T @ wrench[3:]
        shape, turn = self.body.origin_shape, self.body.origin_rotation
        return ca.vertcat(force, moment + cross(shape @ self.q, force), shape.T @ force + turn.T @ moment)

    @property
    def velocity(self) -> ca.SX:
        """Twist in platform axes, then the elastic rates."""
        return ca.vertcat(self.axes.T @ self.motion.v, self.axes.T @ self.motion.omega, self.rate)

    @property
    def damping_power(self) -> ca.SX:
        """sum d_k qdot_k^2"""
        return ca.dot(self.body.damping * self.rate, self.rate)

    def energies(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """u^T A u/2, -g.(m p + R MS), q^T K q/2."""
        velocity = self.velocity
        centre = self.body.mass * self.motion.frame.origin + self.axes @ self.body.first_moment(self.q)
        elastic = 0.5 * ca.dot(self.q, self.body.stiffness * self.q)
        return 0.5 * ca.dot(velocity, self.inertia @ velocity), -dot(self.gravity, centre), elastic

    def to_base(self, columns: ca.SX) -> ca.SX:
        """The frame's six rows turned from platform to base axes."""
        return ca.vertcat(self.axes @ columns[:3, :], self.axes @ columns[3:6, :], columns[6:, :])

    def acceleration(self, change: ca.SX) -> ca.SX:
        """The frame's acceleration in base axes."""
        return self.to_base(change)[:6, :]


class ModalPlatform(Platform):
    """Six degrees of freedom of the frame and the modes of a plate or a mode file."""

    @classmethod
    def suits(cls, robot: Robot, is_constrained: bool) -> bool:
        return robot.flexible

    def __init__(self, numbers: ParameterVector) -> None:
        modes = modes_of(numbers.robot)
        self.body, self.gravity = FlexibleBody(numbers, modes), numbers.gravity
        self.elastic = self.body.count
        size = np.linalg.norm(modes.attachments, axis=1).mean() or 1.0
        scale = float(size / (np.abs(modes.attachment_shapes).max() or 1.0))
        # an elastic coordinate that moves an attachment point by the platform's size: what rounding is relative to
        self.scale = numbers.scalar("platform.modes.scale", scale)
        self.knows_rotations = modes.attachment_rotations is not None

    def _at(self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None) -> FlexibleState:
        """The platform at a motion of its frame."""
        motion = FrameMotion.of(frame_of(x.pose.symbols), twist, acceleration)
        return FlexibleState(
            self.body, self.gravity, motion, x.elastic.symbols, x.elastic_rate.symbols, elastic_acceleration
        )

    def displaced(self, pose: ca.SX, move: ca.SX) -> ca.SX:
        """The frame moved by Cayley's map."""
        return pose_of(moved(frame_of(pose), move))

    def projected(self, pose: ca.SX) -> ca.SX:
        """The pose itself."""
        return pose


# ----------------------------------------------------------------------------------------------------------------------
# A flexible platform's inertia in a floating frame, all terms kept (Long, Khalil and Martinet, corrected).
#
# A node stands at p + R rho, rho = r + sum_k phi_k q_k (Long (12), with q_e). In platform axes it accelerates by
# a + B rho + 2 omega x rhodot + rhoddot, B = omegadot~ + omega~ omega~; integrals of that against 1, rho x and
# phi_k are
# the force, moment and elastic forces of (34).

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
