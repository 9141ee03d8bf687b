"""Kinematics and dynamics of a parallel robot from its open tree and loop closures.

With q the tree's coordinates (the platform first), C v = 0 the loops and N a basis of the motions they allow,
v = N u with u the platform's degrees of freedom, the actuator forces f satisfy N^T S^T f = N^T (tau - external),
tau = rnea(q, v, a). Redundant loop equations (staicu has more than it needs) are met by least squares; what they
cannot meet is an error.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from bench.peers.pinocchio.chains import chain
from bench.peers.pinocchio.closures import CoincidentPoints
from bench.peers.pinocchio.tree import Array, Tree

# Loop residuals in m or 1: a few roundings of coordinates of order one.
CLOSED = 1e-13
# Relative size of the part of a motion that the loops forbid; rounding times the condition of the loops.
ALLOWED = 1e-9


class ImpossibleError(ValueError):
    """The loops cannot close at this pose, or do not allow this motion."""


class OpenTree(NamedTuple):
    """The open tree in one state."""

    model: pin.Model
    data: pin.Data
    q: Array
    v: Array
    a: Array


class Oracle:
    """A robot's open tree in Pinocchio and its loops. Poses (4, 4); twists, accelerations, wrenches (6,)."""

    def __init__(self, robot: Any) -> None:
        home = robot.home.matrix
        tree = Tree(robot)
        self.legs = robot.legs
        self.chains = [chain(tree, leg, home) for leg in robot.legs]
        self.closures = [closure for c in self.chains for closure in c.closures]
        self.model = tree.model
        self.data = self.model.createData()
        still = np.zeros(3)
        columns = [np.append(*((f.axis, still) if f.motion == "translation" else (still, f.axis))) for f in robot.dof]
        self.dof = np.column_stack(columns) if columns else np.eye(6)
        self.drives = [self.model.joints[c.actuated].idx_v for c in self.chains]

    # Kinematics

    def coordinates(self, pose: Any) -> Array:
        """Coordinates of the tree with all loops closed: a guess by geometry, then Newton's method."""
        pose = np.array(pose, dtype=float)
        q = pin.neutral(self.model)
        q[:7] = pin.SE3ToXYZQUAT(pin.SE3(pose[:3, :3], pose[:3, 3]))
        for leg, c in zip(self.legs, self.chains, strict=True):
            values = c.guess(pose[:3, :3] @ np.array(leg.platform) + pose[:3, 3])
            for joint, value in zip(c.joints, values, strict=True):
                q[self.model.joints[joint].idx_q] = value
        if not np.isfinite(q).all():
            raise ImpossibleError(f"a leg does not reach the platform at pose {pose.tolist()}")
        best, error = q, np.inf
        for _ in range(12):
            residual, jacobian = self._loops(q)
            size = float(np.abs(residual).max())
            if size < error:
                best, error = q, size
            elif error < CLOSED:
                break
            q = q.copy()
            q[7:] -= np.linalg.lstsq(jacobian[:, 6:], residual)[0]
        if error > CLOSED:
            raise ImpossibleError(f"the loops do not close at pose {pose.tolist()}: residual {error:.3g}")
        return np.asarray(best)

    def _loops(self, q: Array) -> tuple[Array, Array]:
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        residual = np.concatenate([c.residual(self.model, self.data) for c in self.closures])
        return residual, np.vstack([c.jacobian(self.model, self.data) for c in self.closures])

    def _complete(self, jacobian: Array, head: Array, drift: Array | float = 0.0) -> Array:
        """Joint rates (or accelerations) of the legs for those of the platform: C_l x = -C_p head - drift."""
        wanted = -(jacobian[:, :6] @ head) - drift
        legs = np.linalg.lstsq(jacobian[:, 6:], wanted)[0]
        missed = np.abs(jacobian[:, 6:] @ legs - wanted).max()
        if missed > ALLOWED * max(np.abs(wanted).max(), np.abs(head).max()):
            raise ImpossibleError(f"the loops do not allow this motion of the platform: they miss by {missed:.3g}")
        return np.concatenate([head, legs])

    def open_tree(self, pose: Any, twist: Any = None, acceleration: Any = None) -> OpenTree:
        """The tree's model and its closed coordinates, velocities and accelerations in one state."""
        _, v, w = _local(pose, twist)
        q = self.coordinates(pose)
        jacobian = self._loops(q)[1]
        rates = self._complete(jacobian, np.concatenate([v, w]))
        _, vdot, wdot = _local(pose, acceleration)
        # Pinocchio's acceleration of a free joint is the derivative of its local twist: R^T vdot - w x v.
        head = np.concatenate([vdot - np.cross(w, v), wdot])
        return OpenTree(self.model, self.data, q, rates, self._complete(jacobian, head, self._drift(q, rates)))

    def _drift(self, q: Array, v: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pin.updateFramePlacements(self.model, self.data)
        return np.concatenate([c.drift(self.model, self.data) for c in self.closures])

    def motions(self, pose: Any, q: Array | None = None) -> Array:
        """N, the tree's velocities for a unit of each degree of freedom, (nv, m)."""
        turn = np.array(pose, dtype=float)[:3, :3].T
        heads = np.vstack([turn @ self.dof[:3], turn @ self.dof[3:]])
        jacobian = self._loops(self.coordinates(pose) if q is None else q)[1]
        return np.column_stack([self._complete(jacobian, head) for head in heads.T])

    def mobility(self, pose: Any) -> tuple[int, int]:
        """Degrees of freedom the loops leave to the whole tree, and the number of redundant loop equations."""
        singular = np.linalg.svd(self._loops(self.coordinates(pose))[1], compute_uv=False)
        rank = int((singular > ALLOWED * singular[0]).sum())
        return self.model.nv - rank, sum(len(c.residual(self.model, self.data)) for c in self.closures) - rank

    def jacobian(self, pose: Any) -> Array:
        """J of qdot = J u, (m, m)."""
        return self.motions(pose)[self.drives]

    def actuated(self, pose: Any, twist: Any = None, acceleration: Any = None) -> tuple[Array, Array, Array]:
        """Actuated coordinates, rates and accelerations, (m,) each."""
        state = self.open_tree(pose, twist, acceleration)
        places = [self.model.joints[c.actuated].idx_q for c in self.chains]
        return state.q[places], state.v[self.drives], state.a[self.drives]

    # Dynamics

    def inverse_dynamics(self, pose: Any, twist: Any = None, acceleration: Any = None, wrench: Any = None) -> Array:
        """Actuator forces for a motion and an external wrench on the platform, (m,)."""
        state = self.open_tree(pose, twist, acceleration)
        torque = pin.rnea(self.model, self.data, state.q, state.v, state.a) - self._external(pose, wrench)
        basis = self.motions(pose, state.q)
        return np.linalg.solve(basis[self.drives].T, basis.T @ torque)

    def direct_dynamics(self, pose: Any, twist: Any, force: Any, wrench: Any = None) -> Array:
        """Platform acceleration (6,) for actuator forces, by the mass matrix projected on the allowed motions.

        N^T M N udot = N^T (S^T f + external - tau_0), tau_0 the tree's forces for udot = 0. The platform's axes
        of motion are fixed in the base, so its acceleration is the degrees of freedom times udot.
        """
        state = self.open_tree(pose, twist)
        bias = pin.rnea(self.model, self.data, state.q, state.v, state.a) - self._external(pose, wrench)
        basis = self.motions(pose, state.q)
        drive = basis[self.drives].T @ np.asarray(force, dtype=float)
        return self.dof @ np.linalg.solve(self._projected_mass(state.q, basis), drive - basis.T @ bias)

    def contacts(self) -> tuple[Any, Any]:
        """The loops as Pinocchio's constraint models and their data; robots with spherical platform joints only."""
        if not all(isinstance(c, CoincidentPoints) for c in self.closures):
            raise ImpossibleError("only loops of meeting points are constraints of Pinocchio here")
        models = pin.StdVec_RigidConstraintModel()
        models.extend([c.contact(self.model) for c in self.closures if isinstance(c, CoincidentPoints)])
        datas = pin.StdVec_RigidConstraintData()
        datas.extend([c.createData() for c in models])
        return models, datas

    @cached_property
    def _contacts(self) -> tuple[Any, Any]:
        return self.contacts()

    def constraint_dynamics(self, pose: Any, twist: Any, force: Any, wrench: Any = None) -> Array:
        """Platform acceleration (6,) by Pinocchio's own solver for trees with loops (proximal, hardly damped)."""
        models, datas = self._contacts
        state = self.open_tree(pose, twist)
        torque = self._external(pose, wrench)
        torque[self.drives] = force
        pin.initConstraintDynamics(self.model, self.data, models, datas)
        settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 100)
        a = pin.constraintDynamics(self.model, self.data, state.q, state.v, torque, models, datas, settings)
        turn, v, w = _local(pose, twist)
        return np.concatenate([turn.T @ (a[:3] + np.cross(w, v)), turn.T @ a[3:6]])

    def mass_matrix(self, pose: Any) -> Array:
        """N^T M N, the inertia seen by the degrees of freedom, (m, m)."""
        q = self.coordinates(pose)
        return self._projected_mass(q, self.motions(pose, q))

    def _projected_mass(self, q: Array, basis: Array) -> Array:
        # crba leaves the lower triangle to the caller
        upper = np.triu(pin.crba(self.model, self.data, q))
        return np.asarray(basis.T @ (upper + np.triu(upper, 1).T) @ basis)

    def energy(self, pose: Any, twist: Any = None) -> tuple[float, float]:
        """Kinetic energy, and potential energy -sum m g.r with r from the base's origin."""
        state = self.open_tree(pose, twist)
        kinetic = pin.computeKineticEnergy(self.model, self.data, state.q, state.v)
        return float(kinetic), float(pin.computePotentialEnergy(self.model, self.data, state.q))

    def _external(self, pose: Any, wrench: Any) -> Array:
        """Generalised forces of the tree from a wrench at the platform's origin in base axes."""
        _, force, moment = _local(pose, wrench)
        return np.concatenate([force, moment, np.zeros(self.model.nv - 6)])


def _local(pose: Any, vector: Any) -> tuple[Array, Array, Array]:
    """R^T, and a six-vector's two halves in platform axes (zero if absent)."""
    turn = np.array(pose, dtype=float)[:3, :3].T
    full = np.zeros(6) if vector is None else np.asarray(vector, dtype=float)
    return turn, turn @ full[:3], turn @ full[3:]
