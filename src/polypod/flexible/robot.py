"""A robot on its flexible platform at one state, in symbols: what its motion asks for (Long (11)-(43), corrected).

Legs act on the platform at the moving attachment points p + R (r_i + Phi_i q_e). Everything is in platform axes unless
said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..description.modes import Modes
from ..formulations.newton_euler import leg_wrenches
from ..friction.joints import JointFriction, Loads
from ..mechanism import Attached, Mechanism
from ..mechanism.free_bodies import FreeBodies, Wrench
from ..mechanism.inputs import Inputs
from ..symbols.expression import Port
from ..symbols.vectors import cross, skew
from .body import BodyMotion, FlexibleBody, clean, sparse


class FlexibleInputs(Inputs):
    """Symbols of a state, with the elastic coordinates and their rates."""

    def __init__(self, modes: int, actuators: int = 6) -> None:
        super().__init__(actuators)
        self.elastic = Port("elastic", ca.SX.sym("elastic", modes), (modes,))
        self.elastic_rate = Port("elastic_rate", ca.SX.sym("elastic_rate", modes), (modes,))


@dataclass(frozen=True)
class FlexibleLeg:
    """A leg at one state: attached to a point of the deformed platform whose shape is Phi (3, N), platform axes."""

    leg: Attached
    arm: ca.SX
    shape: ca.DM
    rotation: ca.DM
    friction: JointFriction

    def generalized(self, force: ca.SX) -> tuple[ca.SX, ca.SX]:
        """A force on the platform (platform axes) as wrench (6) and elastic forces (N), (26)."""
        return ca.vertcat(force, cross(self.arm, force)), self.shape.T @ force


class FlexibleRobot:
    """A robot with its flexible platform at one state, in symbols; accelerations of the frame may be zero."""

    def __init__(
        self,
        mechanism: Mechanism,
        body: FlexibleBody,
        modes: Modes,
        x: FlexibleInputs,
        acceleration: ca.SX,
        friction: bool,
        loads: Loads | None = None,
    ) -> None:
        self.mechanism, self.body, self.x, self._loads = mechanism, body, x, loads
        self.motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, acceleration)
        self.axes = self.motion.frame.axes
        self.q, self.rate = x.elastic.symbols, x.elastic_rate.symbols
        self.legs = [self._attach(number, modes, friction) for number in range(len(mechanism.legs))]

    def _attach(self, number: int, modes: Modes, friction: bool) -> FlexibleLeg:
        """The leg's tip along (18), (22), without elastic acceleration."""
        shape = sparse(clean(modes.attachment_shapes[number], np.abs(modes.attachment_shapes).max()))
        rotations = modes.attachment_rotations
        rotation = ca.DM(3, self.body.count) if rotations is None else sparse(clean(rotations[number], 1.0))
        local = ca.DM(modes.attachments[number]) + shape @ self.q
        drift = self.axes @ (shape @ self.rate)
        arm = self.axes @ local
        zero, first, half = self.motion.series(arm)
        series = (zero, first + drift, half + cross(self.motion.omega, drift))
        leg = Attached(self.mechanism.legs[number], arm, series, self.axes)
        rubbing = JointFriction.none()
        if friction:
            spin = self.motion.omega + self.axes @ (rotation @ self.rate)
            rubbing = JointFriction.of(leg, replace(self.motion, omega=spin), self._loads)
        return FlexibleLeg(leg, local, shape, rotation, rubbing)

    # -- what motion asks for ------------------------------------------------------------------------------------

    @cached_property
    def demand(self) -> tuple[ca.SX, ca.SX]:
        """Wrench (6, platform axes) and elastic forces (N) for no elastic acceleration: M_.r A + bias."""
        inside = self.axes.T
        motion = BodyMotion(
            inside @ (self.motion.a - self.mechanism.gravity),
            inside @ self.motion.omega,
            inside @ self.motion.alpha,
            self.q,
            self.rate,
        )
        force, moment, elastic = self.body.forces(motion)
        wrench = ca.vertcat(force, moment)
        for leg in self.legs:
            more, bend = leg.generalized(inside @ self.tip_demand(leg))
            turn = inside @ -leg.friction.on_platform
            wrench = wrench + more + ca.vertcat(ca.SX.zeros(3), turn)
            elastic = elastic + bend + leg.rotation.T @ turn
        return wrench, elastic

    def tip_demand(self, leg: FlexibleLeg) -> ca.SX:
        """Force at the tip that the leg's inertia, weight and friction ask for: H_x of (40), base axes."""
        model = leg.leg.model
        forces = model.inertia_forces(model.half_accelerations(leg.leg.series), self.mechanism.gravity)
        vectors, _ = model.velocities(leg.leg.series)
        for body, moment in leg.friction.on_bodies.items():
            if body not in ("base", "platform"):
                forces = forces + model.moment_forces(body, vectors, -moment)
        return model.pull_back(leg.leg.values, forces)

    def pushes(self, force: ca.SX, bent: ca.SX) -> list[tuple[FlexibleLeg, ca.SX]]:
        """Every leg with its elastic acceleration, and its force on the platform, base axes: f_i of (39).

        What the actuator gives and the leg does not need for itself pushes the platform; ``force`` (n) is without what
        overcomes the slides' friction.
        """
        result = []
        for number, leg in enumerate(self.legs):
            zero, first, half = leg.leg.series
            series = zero, first, half + 0.5 * (self.axes @ (leg.shape @ bent))
            moving = replace(leg, leg=replace(leg.leg, series=series))
            result.append((moving, force[number] * leg.leg.along - self.tip_demand(moving)))
        return result

    def joint_wrenches(self, force: ca.SX, bent: ca.SX) -> list[tuple[str, str, Wrench]]:
        """(leg, joint, wrench on its child at its point) for every joint, in the order of the legs' joints."""
        return [
            wrench
            for leg, push in self.pushes(force, bent)
            for wrench in leg_wrenches(FreeBodies(leg.leg, self.mechanism.gravity), push, leg.friction)
        ]

    @cached_property
    def leg_inertias(self) -> list[ca.SX]:
        """A_x of (37) for each leg in platform axes (3, 3)."""
        result = []
        for leg in self.legs:
            inertia = leg.leg.model.inertia(leg.leg.values)
            turned = self.axes.T @ inertia @ self.axes
            for i in range(3):
                for j in range(i):
                    turned[i, j] = turned[j, i]
            result.append(turned)
        return result

    @cached_property
    def elastic_mass(self) -> ca.SX:
        """A_ee of (45), (N, N); upper triangle only."""
        total = ca.SX(sparse(np.triu(self.body.generalized_mass)))
        for leg, inertia in zip(self.legs, self.leg_inertias, strict=True):
            shape = np.array(ca.DM(leg.shape))
            for a in range(3):
                for b in range(a, 3):
                    product = np.outer(shape[a], shape[b])
                    product = np.triu(product if a == b else product + product.T)
                    if product.any():
                        total = total + inertia[a, b] * ca.SX(sparse(product))
        return ca.densify(total)

    @cached_property
    def coupling(self) -> ca.SX:
        """A_re + W_p A_x W_e^T, (6, N), platform axes."""
        total = self.body.coupling(self.q)
        for leg, inertia in zip(self.legs, self.leg_inertias, strict=True):
            carried = inertia @ leg.shape
            total = total + ca.vertcat(carried, skew(leg.arm) @ carried)
        return ca.densify(total)

    @cached_property
    def rigid_mass(self) -> ca.SX:
        """A_rr + W_p A_x W_p^T, (6, 6), platform axes."""
        total = self.body.rigid_inertia(self.q)
        for leg, inertia in zip(self.legs, self.leg_inertias, strict=True):
            total = total + replace(leg.leg, arm=leg.arm).transported(inertia)
        return total

    @cached_property
    def rows(self) -> tuple[ca.SX, ca.SX]:
        """J_p^-1 (n, 6, platform axes) and J_e^-1 (n, N) of (19)-(21): qdot_a = J_p^-1 V_p + J_e^-1 qdot_e."""
        rigid, elastic = [], []
        for leg in self.legs:
            along = self.axes.T @ leg.leg.along
            wrench, bend = leg.generalized(along)
            rigid.append(wrench.T)
            elastic.append(bend.T)
        return ca.vertcat(*rigid), ca.densify(ca.vertcat(*elastic))

    @cached_property
    def external(self) -> tuple[ca.SX, ca.SX]:
        """External wrench on the body's point at the origin: (6, platform axes) and elastic forces (N).

        The point stands at Phi_d q from the frame's origin, so its velocity is v + omega x Phi_d q + Phi_d qdot;
        (14) leaves the second term out, and forces would not be the gradient of their work.
        """
        w = self.x.wrench.symbols
        force, moment = self.axes.T @ w[:3], self.axes.T @ w[3:]
        shape, turn = sparse(self.body.origin_shape), sparse(self.body.origin_rotation)
        arm = shape @ self.q
        return ca.vertcat(force, moment + cross(arm, force)), shape.T @ force + turn.T @ moment

    @cached_property
    def actuator_friction(self) -> ca.SX:
        """What overcomes friction in the actuated slides at the rates of the deformed robot (n)."""
        return ca.vertcat(*[leg.friction.at_actuator for leg in self.legs])

    def quality(self, solve: ca.SX) -> ca.SX:
        """The state's smallest margin."""
        return self.mechanism.quality([leg.leg for leg in self.legs], solve)

    def to_base(self, wrench: ca.SX) -> ca.SX:
        """A pair of vectors (6) from platform to base axes."""
        return ca.vertcat(self.axes @ wrench[:3], self.axes @ wrench[3:])
