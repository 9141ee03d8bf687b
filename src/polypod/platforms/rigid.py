"""A rigid platform of six degrees of freedom."""

from __future__ import annotations

import casadi as ca

from ..description import Robot
from ..lazy import lazy
from ..parameters import ParameterVector
from ..symbols.inertia import Inertia
from ..symbols.vectors import cross, dot, skew, symmetric
from .contract import Platform, PlatformState, Tip
from .motion import FrameMotion, Inputs, frame_of, moved, pose_of


class RigidState(PlatformState):
    """A rigid platform at one state; its velocity is the twist in base axes."""

    def __init__(self, inertia: Inertia, gravity: ca.SX, motion: FrameMotion) -> None:
        self.body, self.gravity, self.motion = inertia, gravity, motion

    def tip(self, leg: int, arm: ca.SX) -> Tip:
        """p + R r with its first and second derivatives."""
        axes = self.motion.frame.axes
        turned = axes @ arm
        return Tip(turned, axes, self.motion.series(turned), self.motion.axes_series(), self.motion.omega)

    def force(self, leg: int, tip: Tip, force: ca.SX) -> ca.SX:
        """[f; r x f + sum e_k x g_k] with f on the point and g_k on the axes."""
        f = force[:3]
        moment = cross(tip.arm, f)
        if force.numel() > 3:
            g = ca.reshape(force[3:], 3, 3)
            for k in range(3):
                moment = moment + cross(tip.axes[:, k], g[:, k])
        return ca.vertcat(f, moment)

    def moment(self, leg: int, moment: ca.SX) -> ca.SX:
        """[0; m]"""
        return ca.vertcat(ca.SX.zeros(3), moment)

    def inertia_of(self, leg: int, tip: Tip, inertia: ca.SX) -> ca.SX:
        """C^T A C with C = [1, -r~]."""
        # [A, -A r~; r~ A, -r~ A r~] with A symmetric: three products of 3x3 matrices are all it takes.
        arm = skew(tip.arm)
        across = arm @ inertia
        turn = symmetric(-across @ arm)
        return ca.vertcat(ca.horzcat(inertia, across.T), ca.horzcat(across, turn))

    @lazy
    def required_wrench(self) -> ca.SX:
        """Inertia and weight of the platform as a wrench at its origin."""
        motion = self.absolute
        return self.body.force(motion.frame, motion.half_acceleration_matrix, motion.a - self.gravity)

    @lazy
    def inertia(self) -> ca.SX:
        """[m 1, -s~; s~, I] in base axes."""
        return self.body.matrix(self.motion.frame.axes)

    def external(self, wrench: ca.SX) -> ca.SX:
        """The generalized force of a wrench: of a rigid platform the wrench itself."""
        return wrench

    def energies(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """u^T M u/2, -g.(m p + R s), none."""
        twist = ca.vertcat(self.motion.v, self.motion.omega)
        s, _ = self.body.in_base(self.motion.frame.axes)
        potential = -dot(self.gravity, self.body.mass * self.motion.frame.origin + s)
        return 0.5 * ca.dot(twist, self.inertia @ twist), potential, ca.SX(0)


class RigidPlatform(Platform):
    """Six degrees of freedom: any pose, twist and acceleration."""

    @classmethod
    def suits(cls, robot: Robot, is_constrained: bool) -> bool:
        return not (robot.dof or robot.flexible)

    def __init__(self, numbers: ParameterVector) -> None:
        self.body, self.gravity = numbers.platform, numbers.gravity

    def _at(self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None) -> RigidState:
        """The platform at a motion."""
        return RigidState(self.body, self.gravity, FrameMotion.of(frame_of(x.pose.symbols), twist, acceleration))

    def displaced(self, pose: ca.SX, move: ca.SX) -> ca.SX:
        """By Cayley's map, so that rotations stay rotations."""
        return pose_of(moved(frame_of(pose), move))

    def projected(self, pose: ca.SX) -> ca.SX:
        """The pose itself."""
        return pose
