"""A rigid platform whose legs leave it m < 6 degrees of freedom: twist = S(x) u, S from the Jacobian W of their
constraints."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..description import Robot
from ..parameters import ParameterVector
from ..symbols.inertia import Inertia
from ..symbols.linear import BlockFactor
from .degrees_of_freedom import DegreesOfFreedom
from .lower_mobility import LowerMobilityState
from .motion import FrameMotion, Inputs, frame_of
from .rigid import InternalMotion, RigidPlatform


class ConstrainedState(LowerMobilityState):
    """A platform whose velocity is u of twist = S u; S is known when its legs are attached.

    With T = [chosen, others] an orthonormal basis of twists, V = T [u; w] and W V = 0: w = -W_w^-1 W_u u. Where joints'
    coordinates are among u, their Jacobian G is below that of the constraints, [W; G] V = [0; u_joints]; ``joints``
    (m) says which of u they are.
    """

    _factor: BlockFactor

    def __init__(
        self,
        inertia: Inertia,
        gravity: ca.SX,
        motion: FrameMotion,
        chosen: ca.DM,
        others: ca.DM,
        joints: tuple[bool, ...],
        internal: InternalMotion | None = None,
    ) -> None:
        super().__init__(inertia, gravity, motion, chosen, internal)
        self.chosen, self.others, self.joints = chosen, others, joints

    def constrain(self, rows: ca.SX) -> None:
        """Take the Jacobian [W; G] with respect to the twist and k internal rates.

        W (6 - m, 6 + k) is that of independent constraints, and below it G (j, 6 + k) that of the j joints among the m
        coordinates of the platform.
        """
        self._factor = BlockFactor(ca.sparsify(rows @ self.others))
        by_chosen = rows @ self.chosen
        self.basis = self.chosen + self.others @ ca.horzcat(
            *[
                self._factor.solve(self._unit(k)) if joint else -self._factor.solve(by_chosen[:, k])
                for k, joint in enumerate(self.joints)
            ]
        )

    def _unit(self, column: int) -> ca.SX:
        """The right side (6 - m + j) of one joint's rate: 1 in its row."""
        right = ca.SX.zeros(self.others.size2())
        right[self.others.size2() - sum(self.joints[column:])] = 1
        return right

    @property
    def quality(self) -> ca.SX:
        """How far the constraints are from being dependent: 0 in a constraint singularity."""
        return self._factor.quality

    @property
    def determinants(self) -> list[ca.SX]:
        """Numbers that change their sign where the chosen velocities no longer say how the platform moves."""
        return self._factor.determinants

    def drift_acceleration(self, drift: ca.SX) -> ca.SX:
        """Acceleration Sdot u (6) of the frame at constant u.

        ``drift`` (6 - m + j): second time derivatives of the constraints, then of the joints that are coordinates, for
        a platform without acceleration.
        """
        return self.others @ -self._factor.solve(drift)


class ConstrainedPlatform(RigidPlatform):
    """A platform that moves as its legs let it: pose, twist and acceleration are given whole and must agree."""

    full = False
    is_constrained = True

    @classmethod
    def suits(cls, robot: Robot, is_constrained: bool) -> bool:
        return bool(robot.dof) and is_constrained and not robot.flexible

    def __init__(self, numbers: ParameterVector) -> None:
        super().__init__(numbers)
        self.dof = DegreesOfFreedom(numbers.robot)
        self.names = (*self.dof.names, *self.dof.internal)
        self._joints = (*self.dof.of_joints.tolist(), *[False] * self.internal)
        components = self.dof.components[:, ~self.dof.of_joints]
        chosen = np.zeros((6, self.dof.count))
        chosen[:, ~self.dof.of_joints] = _dual(components)
        others = np.vstack([_complement(components), np.zeros((self.internal, 6 - components.shape[1]))])
        self._chosen = ca.diagcat(ca.sparsify(ca.DM(chosen)), ca.DM.eye(self.internal))
        self._others = ca.sparsify(ca.DM(others))

    def _at(self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None) -> ConstrainedState:
        """The platform at a motion."""
        motion = FrameMotion.of(frame_of(x.pose.symbols), twist, acceleration)
        internal = self._internal(x, twist, acceleration)
        return ConstrainedState(self.body, self.gravity, motion, self._chosen, self._others, self._joints, internal)


def _dual(basis: np.ndarray) -> np.ndarray:
    """Columns D (6, m) with E D = 1 for the rows E of chosen components, in their own span."""
    return basis @ np.linalg.inv(basis.T @ basis)


def _complement(basis: np.ndarray) -> np.ndarray:
    """Orthonormal columns (6, 6 - m) orthogonal to the chosen ones; unit vectors where these are."""
    units = [np.eye(6)[:, k] for k in range(6) if np.abs(basis[k]).max(initial=0.0) < 1e-15]
    if len(units) == 6 - basis.shape[1]:
        return np.array(units).T
    return np.linalg.svd(basis)[0][:, basis.shape[1] :]
