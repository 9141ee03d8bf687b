"""Robots with a flexible platform by other means: Pinocchio trees, and differences of positions.

The tree: a massless free frame; on it the platform's parts (every node a point mass on three slides, or hinged boxes),
tied together by the modes; the legs as chains from the base that meet points of these parts. With u = (v, omega, qdot)
in base axes the tree's velocity is N u, and all of dynamics is N^T (tree). Nothing is shared with the library but data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bench.peers.pinocchio.chains import chain
from bench.peers.pinocchio.closures import ALIGNED, CoincidentPoints
from bench.peers.pinocchio.tree import Tree
from polypod.description import Modes, Robot

Array = NDArray[np.float64]
_MASSLESS = SimpleNamespace(mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)), about="com", frame="body")


class FlexibleState(NamedTuple):
    """Pose (4, 4), twist (6,), elastic coordinates and rates (N,), acceleration, wrench (6,) and forces (n,)."""

    pose: Array
    twist: Array
    elastic: Array
    rate: Array
    acceleration: Array
    wrench: Array
    force: Array

    @property
    def shape(self) -> dict[str, Array]:
        """The platform's shape and how it changes, as a model's calls take them."""
        return {"elastic": self.elastic, "elastic_rate": self.rate}


class Solved(NamedTuple):
    """The tree's answer to a state: M, J, all loads without acceleration, and N."""

    mass: Array
    jacobian: Array
    bias: Array
    basis: Array


class TreeRobot(ABC):
    """A robot on a Pinocchio tree: a massless free frame, parts on joints from it that the modes tie, and the legs.

    ``tied`` are the parts' joints with their rates for a unit of each elastic rate (joint's degrees of freedom, N),
    their coordinates being the same product with the elastic coordinates; ``ends`` are the frames the legs' tips meet.
    """

    def __init__(self, robot: Robot, modes: Modes) -> None:
        self.robot, self.modes = robot, modes
        tree = Tree(SimpleNamespace(gravity=robot.gravity, platform=_MASSLESS))
        self.model = tree.model
        self.tied: list[tuple[int, Array]] = []
        # Parts before legs: Pinocchio's mass matrix takes the joints of a branch to be numbered without gaps.
        self.ends, self.origin = self.build()
        self.chains = [chain(tree, leg, robot.home.matrix) for leg in robot.legs]
        self.tips = [c.closures[0].frames[0] for c in self.chains if isinstance(c.closures[0], CoincidentPoints)]
        self.data = self.model.createData()
        self.legs = np.concatenate([[self.model.joints[j].idx_v for j in c.joints] for c in self.chains])
        self.drives = [self.model.joints[c.actuated].idx_v for c in self.chains]
        still = np.zeros((3, modes.count))
        self.turns = np.zeros((6, 3, modes.count)) if modes.attachment_rotations is None else modes.attachment_rotations
        self.origin_turn = still if modes.origin_rotation is None else modes.origin_rotation
        self.loads = np.zeros((len(robot.legs), 3))  # that dry friction goes by: slide, base, platform
        self.width = 1e-6

    @abstractmethod
    def build(self) -> tuple[list[int], int]:
        """Add the parts; the frames that the legs' tips meet, and that of the origin."""

    def add(self, kind: Any, where: Array, body: pin.Inertia, rates: Array) -> int:
        """A part on a joint from the free frame, tied to the elastic rates; its own frame."""
        joint = self.model.addJoint(1, kind, pin.SE3(np.eye(3), where), f"part {len(self.tied)}")
        self.model.inertias[joint] = body
        self.tied.append((joint, rates))
        return self.mark(joint, np.zeros(3))

    def mark(self, joint: int, point: Any) -> int:
        """A frame at a point of a joint's body."""
        where = pin.SE3(np.eye(3), np.array(point, dtype=float))
        return int(
            self.model.addFrame(pin.Frame(f"mark {self.model.nframes}", joint, 0, where, pin.FrameType.OP_FRAME))
        )

    def coordinates(self, pose: Array, elastic: Array) -> Array:
        """Coordinates of the tree with all loops closed, the legs' by geometry."""
        q = pin.neutral(self.model)
        q[:7] = pin.SE3ToXYZQUAT(pin.SE3(pose[:3, :3], pose[:3, 3]))
        for joint, rates in self.tied:
            start = self.model.joints[joint].idx_q
            q[start : start + len(rates)] = rates @ elastic
        self._at(q)
        for c, end in zip(self.chains, self.ends, strict=True):
            for joint, value in zip(c.joints, c.guess(self.data.oMf[end].translation), strict=True):
                q[self.model.joints[joint].idx_q] = value
        self._at(q)
        gaps = [self.data.oMf[t].translation - self.data.oMf[e].translation for t, e in self._pairs()]
        assert np.abs(gaps).max() < 1e-12
        return q

    def _at(self, q: Array) -> None:
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)

    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.tips, self.ends, strict=True))

    def _row(self, frame: int) -> Array:
        return np.array(pin.getFrameJacobian(self.model, self.data, frame, ALIGNED)[:3])

    def basis(self, pose: Array, q: Array) -> Array:
        """N (nv, 6 + N): the tree's velocity for a unit of each generalized velocity."""
        full = np.zeros((self.model.nv, 6 + self.modes.count))
        full[:3, :3] = full[3:6, 3:6] = pose[:3, :3].T
        for joint, rates in self.tied:
            start = self.model.joints[joint].idx_v
            full[start : start + len(rates), 6:] = rates
        self._at(q)
        loops = np.vstack([self._row(t) - self._row(e) for t, e in self._pairs()])
        full[self.legs] = -np.linalg.solve(loops[:, self.legs], loops @ full)
        return full

    def accelerations(self, s: FlexibleState, q: Array, v: Array, full: Array) -> Array:
        """The tree's accelerations for generalized ones (6 + N,); those of its free joint are of the local twist."""
        turn = s.pose[:3, :3].T
        a = np.zeros(self.model.nv)
        a[:3] = turn @ (full[:3] - np.cross(s.twist[3:], s.twist[:3]))
        a[3:6] = turn @ full[3:6]
        for joint, rates in self.tied:
            start = self.model.joints[joint].idx_v
            a[start : start + len(rates)] = rates @ full[6:]
        pin.forwardKinematics(self.model, self.data, q, v, a)
        pin.updateFramePlacements(self.model, self.data)
        now = [
            pin.getFrameClassicalAcceleration(self.model, self.data, f, ALIGNED).linear
            for p in self._pairs()
            for f in p
        ]
        self._at(q)
        loops = np.vstack([self._row(t) - self._row(e) for t, e in self._pairs()])
        a[self.legs] = -np.linalg.solve(
            loops[:, self.legs], np.concatenate([t - e for t, e in zip(now[::2], now[1::2], strict=True)])
        )
        return a

    def solve(self, s: FlexibleState, friction: bool = False) -> Solved:
        """M, J and what is left of the virtual power without acceleration: M udot + bias = J^T f."""
        u = np.concatenate([s.twist, s.rate])
        q = self.coordinates(s.pose, s.elastic)
        basis = self.basis(s.pose, q)
        v = basis @ u
        bias = basis.T @ pin.rnea(self.model, self.data, q, v, self.accelerations(s, q, v, np.zeros(len(u))))
        bias[6:] += self.modes.stiffness * s.elastic + self.modes.generalized_damping * s.rate
        self._at(q)
        # The wrench acts on the body's point that is the origin when undeformed.
        spin = np.hstack([np.zeros((3, 3)), np.eye(3), s.pose[:3, :3] @ self.origin_turn])
        bias -= (self._row(self.origin) @ basis).T @ s.wrench[:3] + spin.T @ s.wrench[3:]
        if friction:
            for resisted in self._friction_rows(s, basis):
                bias += sum(c * rows.T @ (rows @ u) for c, rows in resisted)
        upper = np.triu(pin.crba(self.model, self.data, q))
        return Solved(basis.T @ (upper + np.triu(upper, 1).T) @ basis, basis[self.drives], bias, basis)

    def _friction_rows(self, s: FlexibleState, basis: Array) -> list[list[tuple[float, Array]]]:
        """For each leg its coefficients and the rates they resist (k, 6 + N): slide, base, platform.

        Dry friction is viscous at a rate: c + (k L + d)/|w|.
        """
        found = []
        u = np.concatenate([s.twist, s.rate])
        for leg, c, turn, loads in zip(self.robot.legs, self.chains, self.turns, self.loads, strict=True):
            link = pin.getJointJacobian(self.model, self.data, c.joints[-1], ALIGNED)[3:] @ basis
            platform = np.hstack([np.zeros((3, 3)), np.eye(3), s.pose[:3, :3] @ turn])
            slide = basis[[self.model.joints[c.actuated].idx_v]]
            slider: Any = leg.prismatic_friction if leg.kind == "UPS" else leg.slider_friction
            joints = (slider, slide), (leg.universal_friction, link), (leg.spherical_friction, platform - link)
            dry = [(data.coulomb * load + data.drag) for (data, _), load in zip(joints, loads, strict=True)]
            speeds = [np.hypot(np.linalg.norm(rows @ u), self.width) for _, rows in joints]
            found.append([(data.viscous + k / w, rows) for (data, rows), k, w in zip(joints, dry, speeds, strict=True)])
        return found

    def found_loads(self, s: FlexibleState, elastic_acceleration: Array, pushes: Array) -> Array:
        """Loads (n, 3) of slide, base and platform joints at a motion, the legs pushing the platform as given."""
        u = np.concatenate([s.twist, s.rate])
        q = self.coordinates(s.pose, s.elastic)
        v = self.basis(s.pose, q) @ u
        pin.rnea(
            self.model,
            self.data,
            q,
            v,
            self.accelerations(s, q, v, np.concatenate([s.acceleration, elastic_acceleration])),
        )
        loads = np.zeros((len(self.robot.legs), 3))
        for k, (leg, c) in enumerate(zip(self.robot.legs, self.chains, strict=True)):
            forces = [self.data.oMi[j].rotation @ self.data.f[j].linear + pushes[k] for j in c.joints]
            if leg.kind == "UPS":
                base, slide = forces[0], forces[2]
                across = self.data.oMi[c.joints[1]].rotation[:, 1:].T @ slide
                load = np.linalg.norm(across)
            else:
                slide, base = forces[0], forces[1]
                rail = np.array(leg.rail_direction)
                load = np.linalg.norm(np.cross(rail, slide))
                if leg.guide_normal is not None:  # faces of a guide, loaded each for itself
                    side = np.cross([0, 0, 1], rail)
                    side = side / np.linalg.norm(side)
                    load = abs(side @ slide) + abs(np.cross(rail, side) @ slide)
            loads[k] = load, np.linalg.norm(base), np.linalg.norm(pushes[k])
        return loads

    def dry_inverse(self, s: FlexibleState) -> tuple[Array, Array, Array]:
        """:meth:`inverse` with loads that repeat; they stay in ``loads``."""
        self.loads = 0 * self.loads
        for _ in range(200):
            answer = self.inverse(s, True)
            fresh = self.found_loads(s, answer[1], answer[2])
            change, self.loads = np.abs(fresh - self.loads).max(), fresh
            if change <= 1e-13 * fresh.max():
                return answer
        raise AssertionError("loads do not repeat")

    def inverse(self, s: FlexibleState, friction: bool = False) -> tuple[Array, Array, Array]:
        """Actuator forces, elastic accelerations, and forces of the legs on the platform (n, 3)."""
        mass, jacobian, bias, basis = self.solve(s, friction)
        unknown = np.hstack([jacobian.T, -mass[:, 6:]])
        answer = np.linalg.solve(unknown, mass[:, :6] @ s.acceleration + bias)
        force, elastic_acceleration = answer[: len(self.drives)], answer[len(self.drives) :]
        u = np.concatenate([s.twist, s.rate])
        q = self.coordinates(s.pose, s.elastic)
        torque = pin.rnea(
            self.model,
            self.data,
            q,
            basis @ u,
            self.accelerations(s, q, basis @ u, np.concatenate([s.acceleration, elastic_acceleration])),
        )
        self._at(q)
        reactions = []
        for k, (c, resisted) in enumerate(zip(self.chains, self._friction_rows(s, basis), strict=True)):
            places = [self.model.joints[j].idx_v for j in c.joints]
            load = torque[places] - np.where(np.array(places) == self.drives[k], force[k], 0.0)
            if friction:
                (sliding, slide), (low, link), (high, apart) = resisted
                spin = np.array(pin.getJointJacobian(self.model, self.data, c.joints[-1], ALIGNED)[3:][:, places])
                load += spin.T @ (low * link @ u - high * apart @ u)
                load += np.where(np.array(places) == self.drives[k], sliding * slide @ u, 0.0)
            # Long (9): what the actuator gives and the leg does not need pushes the platform.
            reactions.append(-np.linalg.solve(self._row(self.tips[k])[:, places].T, load))
        return force, elastic_acceleration, np.array(reactions)

    def direct(self, s: FlexibleState, friction: bool = False) -> Array:
        """Accelerations (6 + N,)."""
        mass, jacobian, bias, _ = self.solve(s, friction)
        return np.linalg.solve(mass, jacobian.T @ s.force - bias)

    def energy(self, s: FlexibleState) -> tuple[float, float, float]:
        """Kinetic, gravity's and elastic energy."""
        q = self.coordinates(s.pose, s.elastic)
        v = self.basis(s.pose, q) @ np.concatenate([s.twist, s.rate])
        elastic = 0.5 * float(self.modes.stiffness @ s.elastic**2)
        kinetic = pin.computeKineticEnergy(self.model, self.data, q, v)
        return float(kinetic), float(pin.computePotentialEnergy(self.model, self.data, q)), elastic


class LumpedRobot(TreeRobot):
    """The platform as a cloud of point masses, each on three slides; exact for every deformation."""

    def build(self) -> tuple[list[int], int]:
        """Nodes, then massless points for the attachments and the origin."""
        modes = self.modes
        origin = np.zeros((3, modes.count)) if modes.origin_shape is None else modes.origin_shape
        for place, mass, phi in zip(modes.nodes, modes.masses, modes.shapes, strict=True):
            self._point(place, mass, phi)
        pairs = zip(modes.attachments, modes.attachment_shapes, strict=True)
        return [self._point(place, 0.0, phi) for place, phi in pairs], self._point(np.zeros(3), 0.0, origin)

    def _point(self, place: Array, mass: float, phi: Array) -> int:
        body = pin.Inertia(mass, np.zeros(3), np.zeros((3, 3)))
        return self.add(pin.JointModelTranslation(), place, body, phi)


class HingedRobot(TreeRobot):
    """The platform as two rigid boxes that fold about the y axis by theta/2 each, without small-angle assumption."""

    half = np.array([0.5, 0.45, 0.02])
    mass = 36.0

    def build(self) -> tuple[list[int], int]:
        """A box towards +x and one towards -x, each with the legs on its side."""
        x, y, z = self.half
        tensor = self.mass / 12 * np.diag([4 * (y * y + z * z), x * x + 4 * z * z, x * x + 4 * y * y])
        sides = {}
        for sign in (1.0, -1.0):
            body = pin.Inertia(self.mass, np.array([0.5 * sign * x, 0.0, 0.0]), tensor)
            frame = self.add(pin.JointModelRY(), np.zeros(3), body, np.array([[-0.5 * sign]]))
            sides[sign] = self.model.frames[frame].parentJoint
        ends = [self.mark(sides[np.sign(leg.platform[0])], leg.platform) for leg in self.robot.legs]
        return ends, self.mark(1, np.zeros(3))


def hinged_modes(robot: Robot, stiffness: float) -> Modes:
    """The one mode of :class:`HingedRobot`: both halves turn by half the angle, linear in it.

    Nodes are the points of Gauss's rule, which has a box's moments exactly.
    """
    gauss = np.array([-1.0, 1.0]) / np.sqrt(3)
    cube = np.array([[a, b, c] for a in gauss for b in gauss for c in gauss])
    right = cube * HingedRobot.half * [0.5, 1, 1] + [0.5 * HingedRobot.half[0], 0, 0]
    nodes = np.concatenate([right, right * [-1, 1, 1]])
    attachments = np.array([leg.platform for leg in robot.legs])

    def shape(points: Array) -> Array:
        return np.stack([-0.5 * np.sign(points[:, 0]) * points[:, 2], 0 * points[:, 0], 0.5 * np.abs(points[:, 0])], 1)[
            ..., None
        ]

    turn = np.zeros((6, 3, 1))
    turn[:, 1, 0] = -0.5 * np.sign(attachments[:, 0])
    return Modes(
        nodes=nodes,
        masses=np.full(16, HingedRobot.mass / 8),
        shapes=shape(nodes),
        stiffness=np.array([stiffness]),
        attachments=attachments,
        attachment_shapes=shape(attachments),
        attachment_rotations=turn,
        free=False,
        reach=0.5,
    )


# Second derivative of eighth order on nine points, and first derivative on the same.
_SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
_STEPS = np.arange(-4, 5)


class Differences:
    """Virtual power from positions alone: accelerations and virtual velocities by differences of eighth order."""

    def __init__(self, robot: Robot, modes: Modes, time_step: float = 4e-3, step: float = 4e-3) -> None:
        self.robot, self.modes, self.time_step, self.step = robot, modes, time_step, step
        tree = Tree(SimpleNamespace(gravity=robot.gravity, platform=_MASSLESS))
        self.chains = [chain(tree, leg, robot.home.matrix) for leg in robot.legs]
        self.model, self.data = tree.model, tree.model.createData()

    def positions(self, pose: Array, elastic: Array) -> tuple[Array, Array]:
        """All nodes (n, 3) and all joint coordinates of the legs (L, 3)."""
        p, turn = pose[:3, 3], pose[:3, :3]
        nodes = p + (self.modes.nodes + self.modes.shapes @ elastic) @ turn.T
        tips = p + (self.modes.attachments + self.modes.attachment_shapes @ elastic) @ turn.T
        return nodes, np.array([c.guess(tip) for c, tip in zip(self.chains, tips, strict=True)])

    def demand(self, s: FlexibleState, elastic_acceleration: Array) -> Array:
        """Generalized forces (6 + N,) that a motion asks of the actuators."""
        h = self.time_step
        moved = [
            self.positions(*_moved(s, s.twist, s.rate, k * h, s.acceleration, elastic_acceleration)) for k in _STEPS
        ]
        nodes, joints = (np.array([m[k] for m in moved]) for k in range(2))
        pull = np.tensordot(_SECOND, nodes, 1) / h**2 - np.array(self.robot.gravity)
        rate, turn = np.tensordot(_FIRST, joints, 1) / h, np.tensordot(_SECOND, joints, 1) / h**2
        torque = np.array([self._torque(joints[4], rate, turn)[k] for k in range(len(self.chains))])
        own = self.modes.stiffness * s.elastic + self.modes.generalized_damping * s.rate
        total = np.concatenate([np.zeros(6), own])
        for k, (node, joint) in enumerate(self.virtual(s)):
            total[k] += np.sum(self.modes.masses[:, None] * pull * node) + np.sum(torque * joint)
        return total

    def virtual(self, s: FlexibleState) -> list[tuple[Array, Array]]:
        """Velocities of nodes and joints for a unit of each generalized velocity."""
        n, h = self.modes.count, self.step
        result = []
        for unit in np.eye(6 + n):
            moved = [self.positions(*_moved(s, unit[:6], unit[6:], k * h)) for k in _STEPS]
            node, joint = (np.tensordot(_FIRST, np.array([m[k] for m in moved]), 1) / h for k in range(2))
            result.append((node, joint))
        return result

    def _torque(self, q: Array, rate: Array, turn: Array) -> Array:
        """Joint forces of the free legs (L, 3)."""
        full, v, a = pin.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        for k, c in enumerate(self.chains):
            for j, joint in enumerate(c.joints):
                full[self.model.joints[joint].idx_q] = q[k, j]
                v[self.model.joints[joint].idx_v], a[self.model.joints[joint].idx_v] = rate[k, j], turn[k, j]
        tau = pin.rnea(self.model, self.data, full, v, a)
        return np.array([[tau[self.model.joints[j].idx_v] for j in c.joints] for c in self.chains])

    def drives(self, s: FlexibleState) -> Array:
        """J (n, 6 + N) by the same differences."""
        places = [c.joints.index(c.actuated) for c in self.chains]
        return np.array([[joint[k, p] for k, p in enumerate(places)] for _, joint in self.virtual(s)]).T


def _moved(
    s: FlexibleState, twist: Array, rate: Array, t: float, acceleration: Any = 0.0, elastic_acceleration: Any = 0.0
) -> tuple[Array, Array]:
    """Pose and elastic coordinates after t: R(t) = exp(w t + a t^2/2) R has omega(0) = w and omegadot(0) = a."""
    shift = twist * t + 0.5 * np.broadcast_to(acceleration, 6) * t**2
    pose = s.pose.copy()
    pose[:3, 3] += shift[:3]
    pose[:3, :3] = Rotation.from_rotvec(shift[3:]).as_matrix() @ pose[:3, :3]
    return pose, s.elastic + rate * t + 0.5 * np.broadcast_to(elastic_acceleration, len(s.elastic)) * t**2
