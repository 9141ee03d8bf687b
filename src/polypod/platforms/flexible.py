"""A flexible platform: a floating frame of six degrees of freedom and N elastic coordinates (Long (11)-(43),
corrected).

Legs act at the moving attachment points p + R (r_i + Phi_i q_e). The velocity is (v, omega) in platform axes, then the
elastic rates: mode shapes are constant there.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..description import Robot
from ..lazy import lazy
from ..parameters import ParameterVector
from ..symbols.vectors import cross, dot, skew, symmetric
from .contract import Platform, PlatformState, Tip
from .flexible_body import BodyMotion, FlexibleBody
from .inputs import Inputs
from .modes import modes_of
from .motion import FrameMotion, frame_of, moved, pose_of


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
        inside = self.axes.T
        motion = BodyMotion(
            inside @ (self.motion.a - self.gravity),
            inside @ self.motion.omega,
            inside @ self.motion.alpha,
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

    def at(
        self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None = None
    ) -> FlexibleState:
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
