"""A rigid platform of m < 6 degrees of freedom along and about fixed base axes: twist = S u with a constant S."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..description import Robot
from ..parameters import ParameterVector
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame, axial, dot, skew
from .degrees_of_freedom import DegreesOfFreedom
from .motion import FrameMotion, Inputs, frame_of, moved, pose_of
from .rigid import InternalMotion, RigidPlatform, RigidState


class LowerMobilityState(RigidState):
    """A platform whose velocity is u of twist = S u."""

    def __init__(
        self,
        inertia: Inertia,
        gravity: ca.SX,
        motion: FrameMotion,
        basis: ca.DM | ca.SX,
        internal: InternalMotion | None = None,
    ) -> None:
        super().__init__(inertia, gravity, motion, internal)
        self.basis: ca.DM | ca.SX = basis

    def reduced(self, force: ca.SX) -> ca.SX:
        """S^T w"""
        return self.basis.T @ force

    def reduced_inertia(self, inertia: ca.SX) -> ca.SX:
        """S^T M S"""
        return self.basis.T @ inertia @ self.basis

    def acceleration(self, change: ca.SX) -> ca.SX:
        """S udot; what follows from constant rates is the caller's
        (``polypod.mechanism.Mechanism.drift_acceleration``)."""
        return self.basis @ change


class LowerMobilityPlatform(RigidPlatform):
    """A platform that keeps to its degrees of freedom: whatever else a pose or twist holds is not read."""

    full = False

    @classmethod
    def suits(cls, robot: Robot, is_constrained: bool) -> bool:
        return bool(robot.dof) and not (is_constrained or robot.flexible)

    def __init__(self, numbers: ParameterVector) -> None:
        super().__init__(numbers)
        self.dof = DegreesOfFreedom(numbers.robot)
        self.names = (*self.dof.names, *self.dof.internal)
        self._home = Frame(numbers.home_position, ca.densify(numbers.home_rotation))
        self._basis = ca.diagcat(ca.sparsify(ca.DM(self.dof.basis)), ca.DM.eye(self.internal))
        self._allowed = ca.sparsify(ca.DM(self.dof.basis @ self.dof.inverse))

    def _at(
        self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None
    ) -> LowerMobilityState:
        """The platform at the part of a motion that it can make."""
        own = self._allowed @ twist[:6], self._allowed @ acceleration[:6]
        motion = FrameMotion.of(self._frame(x.pose.symbols), *own)
        return LowerMobilityState(self.body, self.gravity, motion, self._basis, self._internal(x, twist, acceleration))

    def displaced(self, pose: ca.SX, move: ca.SX) -> ca.SX:
        """Moved along and about its own axes."""
        along = self._basis @ move
        return ca.vertcat(pose_of(moved(frame_of(pose), along)), pose[16:] + along[6:])

    def projected(self, pose: ca.SX) -> ca.SX:
        """The pose along and about its own axes from home."""
        return ca.vertcat(pose_of(self._frame(pose)), pose[16:])

    def _frame(self, pose: ca.SX) -> Frame:
        """p = p_home + S S^+ (p - p_home), R = R(theta) R_home."""
        given, home = frame_of(pose), self._home
        straight = ca.sparsify(ca.DM(self.dof.basis[:3] @ self.dof.inverse[:, :3]))
        return Frame(home.origin + straight @ (given.origin - home.origin), self._rotation(given.axes) @ home.axes)

    def _rotation(self, axes: ca.SX) -> ca.SX:
        """Rotation about the degree of freedom's axis k from home: k k^T + cos (1 - k k^T) + sin k~."""
        if self.dof.axis is None:
            return ca.SX.eye(3)
        relative = axes @ self._home.axes.T
        k = ca.SX(ca.DM(self.dof.axis))
        cosine = 0.5 * (ca.trace(relative) - 1)
        outer = ca.DM(np.outer(self.dof.axis, self.dof.axis))
        return outer + cosine * (ca.DM.eye(3) - outer) + 0.5 * dot(k, axial(relative)) * skew(k)
