"""Inverse and direct dynamics of robots with a flexible platform: Long, Khalil and Martinet (44)-(49), corrected.

Generalized velocity (v_p, omega_p, qdot_e); inputs and outputs are in base axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from ..mechanism import Mechanism
from ..symbols.expression import Expression, Iteration, port
from ..symbols.linear import SymmetricFactor, solve_general
from ..symbols.vectors import dot
from .body import FlexibleBody, sparse
from .modes import Modes
from .robot import FlexibleInputs, FlexibleRobot


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
