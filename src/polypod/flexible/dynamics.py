"""Robots with a flexible platform in symbols: Long, Khalil and Martinet (34)-(49), corrected.

Generalized velocity (v_p, omega_p, qdot_e); legs act on the platform at the moving attachment points
p + R (r_i + Phi_i q_e). Inside, everything is in platform axes; inputs and outputs are in base axes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..formulations.friction import JointFriction
from ..mechanism import Attached, Mechanism
from ..mechanism.inputs import Inputs
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.linear import SymmetricFactor, solve_general
from ..symbols.vectors import cross, dot, skew
from .body import BodyMotion, FlexibleBody, clean, sparse
from .modes import Modes


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
    ) -> None:
        self.mechanism, self.body, self.x = mechanism, body, x
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
            rubbing = JointFriction.of(leg, replace(self.motion, omega=spin), None)
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
            along = self.axes.T @ leg.leg.model.coordinate_row(leg.leg.values)
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
        """Friction of the actuated slides at the rates of the deformed robot (n)."""
        forces = []
        for leg in self.legs:
            coefficient = 0.0
            for joint in leg.leg.model.placement.joints:
                if joint.kind == "prismatic" and joint.friction:
                    coefficient += getattr(leg.leg.model.leg, joint.friction).viscous
            row = leg.leg.model.coordinate_row(leg.leg.values)
            forces.append(coefficient * dot(row, leg.leg.series[1][:3]))
        return ca.vertcat(*forces)

    def quality(self, solve: ca.SX) -> ca.SX:
        """The state's smallest margin."""
        return self.mechanism.quality([leg.leg for leg in self.legs], solve)

    def to_base(self, wrench: ca.SX) -> ca.SX:
        """A pair of vectors (6) from platform to base axes."""
        return ca.vertcat(self.axes @ wrench[:3], self.axes @ wrench[3:])


@dataclass(frozen=True)
class FlexibleDynamics:
    """Expressions of a robot with a flexible platform."""

    mechanism: Mechanism
    modes: Modes

    @cached_property
    def body(self) -> FlexibleBody:
        """The platform."""
        return FlexibleBody(self.modes)

    def _robot(self, x: FlexibleInputs, acceleration: ca.SX, friction: bool) -> FlexibleRobot:
        return FlexibleRobot(self.mechanism, self.body, self.modes, x, acceleration, friction)

    def _inputs(self) -> FlexibleInputs:
        return FlexibleInputs(self.body.count, len(self.mechanism.legs))

    def inverse_dynamics(self, friction: bool) -> Expression:
        """Actuator forces and elastic accelerations for a rigid acceleration: (44), (46)-(49).

        q_e'' = A_ee^-1 (J_e^-T f - d_e), and (J_p^-T - C A_ee^-1 J_e^-T) f = d_r - C A_ee^-1 d_e with d the demand of
        the motion without elastic acceleration and C the coupling.
        """
        x = self._inputs()
        robot = self._robot(x, x.acceleration.symbols, friction)
        factor = SymmetricFactor(robot.elastic_mass)
        push, bend = robot.external
        wrench, elastic = robot.demand[0] - push, robot.demand[1] - bend
        rigid_rows, elastic_rows = robot.rows
        n = len(self.mechanism.legs)
        spread = ca.horzcat(*[factor.solve(elastic_rows[i, :].T) for i in range(n)])
        rest = factor.solve(elastic)
        system = rigid_rows.T - robot.coupling @ spread
        solution = solve_general(system, wrench - robot.coupling @ rest)
        force = solution.x + robot.actuator_friction if friction else solution.x
        bent = spread @ solution.x - rest
        return Expression(
            "flexible_inverse_dynamics",
            (x.pose, x.twist, x.elastic, x.elastic_rate, x.acceleration, x.wrench),
            (
                port("force", force),
                port("elastic_acceleration", bent),
                port("quality", robot.quality(solution.quality), ()),
            ),
        )

    def direct_dynamics(self, friction: bool) -> Expression:
        """Rigid and elastic accelerations from actuator forces: M (A, q_e'') = (J_p^-T f, J_e^-T f) - bias."""
        x = self._inputs()
        robot = self._robot(x, ca.SX.zeros(6), friction)
        factor = SymmetricFactor(robot.elastic_mass)
        force = x.force.symbols - robot.actuator_friction if friction else x.force.symbols
        push, bend = robot.external
        rigid_rows, elastic_rows = robot.rows
        wrench = rigid_rows.T @ force + push - robot.demand[0]
        elastic = elastic_rows.T @ force + bend - robot.demand[1]
        coupling = robot.coupling
        spread = ca.horzcat(*[factor.solve(coupling[i, :].T) for i in range(6)])
        rest = factor.solve(elastic)
        outer = SymmetricFactor(robot.rigid_mass - coupling @ spread)
        rigid = outer.solve(wrench - coupling @ rest)
        bent = rest - spread @ rigid
        return Expression(
            "flexible_direct_dynamics",
            (x.pose, x.twist, x.elastic, x.elastic_rate, x.force, x.wrench),
            (
                port("acceleration", robot.to_base(rigid)),
                port("elastic_acceleration", bent),
                port("quality", robot.quality(ca.sqrt(outer.quality)), ()),
            ),
        )

    def system(self) -> Expression:
        """Mass matrix (6 + N, 6 + N), bias (6 + N) and actuator Jacobian (n, 6 + N), base axes, without friction."""
        x = self._inputs()
        robot = self._robot(x, ca.SX.zeros(6), False)
        turn = ca.diagcat(robot.axes, robot.axes)
        rigid = turn @ robot.rigid_mass @ turn.T
        coupling = turn @ robot.coupling
        elastic = ca.triu2symm(ca.triu(robot.elastic_mass))
        mass = ca.vertcat(ca.horzcat(rigid, coupling), ca.horzcat(coupling.T, elastic))
        bias = ca.vertcat(robot.to_base(robot.demand[0]), robot.demand[1])
        rigid_rows, elastic_rows = robot.rows
        return Expression(
            "flexible_system",
            (x.pose, x.twist, x.elastic, x.elastic_rate),
            (
                port("mass_matrix", mass),
                port("bias", bias),
                port("jacobian", ca.horzcat(rigid_rows @ turn.T, elastic_rows)),
                port("quality", robot.quality(ca.SX(1)), ()),
            ),
        )

    def reactions(self, friction: bool) -> Expression:
        """Force of every leg on the platform (n, 3), base axes: f_i of (39), for the motion of the inverse model."""
        x = self._inputs()
        solved = self.inverse_dynamics(friction)
        force, bent, quality = solved.function.call(
            [p.symbols for p in (x.pose, x.twist, x.elastic, x.elastic_rate, x.acceleration, x.wrench)]
        )
        robot = self._robot(x, x.acceleration.symbols, friction)
        if friction:
            force = force - robot.actuator_friction
        rows = []
        for number, leg in enumerate(robot.legs):
            # The elastic acceleration adds to the tip's; the leg answers with its inertia.
            bending = robot.axes @ (leg.shape @ bent)
            along = leg.leg.model.coordinate_row(leg.leg.values)
            inertia = leg.leg.model.inertia(leg.leg.values)
            rows.append((force[number] * along - robot.tip_demand(leg) - inertia @ bending).T)
        return Expression(
            "flexible_reactions",
            (x.pose, x.twist, x.elastic, x.elastic_rate, x.acceleration, x.wrench),
            (port("attachment_force", ca.vertcat(*rows)), port("quality", quality, ())),
        )

    def inverse_kinematics(self) -> Expression:
        """Actuated coordinates of the deformed robot (n)."""
        x = self._inputs()
        robot = self._robot(x, ca.SX.zeros(6), False)
        q = ca.vertcat(*[leg.leg.values.y[-1] for leg in robot.legs])
        return Expression(
            "flexible_inverse_kinematics",
            (x.pose, x.elastic),
            (port("q", q), port("quality", robot.quality(ca.SX(1)), ())),
        )

    def margins(self) -> Expression:
        """For every condition of every leg its margin and by how much it is exceeded, leg by leg (k, 2)."""
        x = self._inputs()
        robot = self._robot(x, ca.SX.zeros(6), False)
        rows = [
            leg.leg.at_tip(ca.horzcat(condition.margin, condition.excess))
            for leg in robot.legs
            for condition in leg.leg.model.placement.conditions
        ]
        return Expression(
            "flexible_margins", (x.pose, x.elastic), (port("margins", ca.vertcat(*rows), (len(rows), 2)),)
        )

    def energy(self) -> Expression:
        """Kinetic energy, gravity's potential -sum m g.r and elastic energy."""
        x = self._inputs()
        robot = self._robot(x, ca.SX.zeros(6), False)
        body, g = self.body, self.mechanism.gravity
        v, w = robot.axes.T @ robot.motion.v, robot.axes.T @ robot.motion.omega
        rigid, rate = ca.vertcat(v, w), robot.rate
        kinetic = 0.5 * ca.dot(rigid, body.rigid_inertia(robot.q) @ rigid)
        kinetic = kinetic + ca.dot(rigid, body.coupling(robot.q) @ rate)
        kinetic = kinetic + 0.5 * ca.dot(rate, ca.SX(sparse(body.generalized_mass)) @ rate)
        centre = body.mass * robot.motion.frame.origin + robot.axes @ body.first_moment(robot.q)
        potential = -dot(g, centre)
        for leg in robot.legs:
            vectors, rates = leg.leg.model.velocities(leg.leg.series)
            kinetic = kinetic + 0.5 * ca.dot(rates, rates @ ca.DM(leg.leg.model.weights))
            load = vectors @ ca.DM(leg.leg.model.loads) + ca.DM(leg.leg.model.fixed_load)
            potential = potential - dot(g, load)
        elastic = 0.5 * ca.dot(robot.q, ca.DM(body.stiffness) * robot.q)
        return Expression(
            "flexible_energy",
            (x.pose, x.twist, x.elastic, x.elastic_rate),
            (
                port("kinetic", kinetic, ()),
                port("potential", potential, ()),
                port("elastic_energy", elastic, ()),
                port("quality", robot.quality(ca.SX(1)), ()),
            ),
        )

    def static_equilibrium(self, steps: int = 200) -> Iteration:
        """Elastic coordinates and forces at rest: q -> q - K^-1 (elastic residual), until they repeat.

        State: q (N), forces (n), change, steps, done.
        """
        x = self._inputs()
        robot = self._robot(x, ca.SX.zeros(6), False)
        push, bend = robot.external
        rigid_rows, elastic_rows = robot.rows
        force = solve_general(rigid_rows.T, robot.demand[0] - push).x
        residual = robot.demand[1] - bend - elastic_rows.T @ force
        n, legs = self.body.count, len(self.mechanism.legs)
        state = ca.SX.sym("state", n + legs + 3)
        held = [x.twist.symbols, x.elastic_rate.symbols, x.elastic.symbols]
        calm = [ca.SX.zeros(6), ca.SX.zeros(n), state[:n]]
        force, residual = ca.substitute([force, residual], held, calm)
        move = residual / ca.DM(self.body.stiffness)
        largest, change = ca.SX(0), ca.SX(0)
        for k in range(n):
            largest = ca.fmax(largest, ca.fabs(state[k]))
            change = ca.fmax(change, ca.fabs(move[k]))
        count = state[n + legs + 1]
        converged = change <= 1e-14 * largest + 1e-300
        lost = ca.logic_not(change <= 1e300)
        done = ca.logic_or(ca.logic_or(converged, lost), count + 1 >= steps)
        step = ca.vertcat(state[:n] - move, force, change, count + 1, done)
        outputs = (
            port("elastic", state[:n]),
            port("force", state[n : n + legs]),
            port("change", state[n + legs], ()),
            port("steps", count, ()),
        )
        start = ca.SX.zeros(n + legs + 3)
        return Iteration("static_equilibrium", (x.pose, x.wrench), outputs, state, start, step)
