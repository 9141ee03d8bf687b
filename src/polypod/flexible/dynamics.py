"""Inverse and direct dynamics of robots with a flexible platform: Long, Khalil and Martinet (44)-(49), corrected.

Generalized velocity (v_p, omega_p, qdot_e); inputs and outputs are in base axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..description.modes import Modes
from ..formulations.newton_euler import joint_axes
from ..friction.dry import DryFriction, joint_loads, repeated
from ..friction.joints import Loads
from ..mechanism import Mechanism
from ..symbols.expression import Expression, Iteration, port
from ..symbols.linear import SymmetricFactor, solve_general
from .body import FlexibleBody
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

    @cached_property
    def scale(self) -> float:
        """An elastic coordinate that moves an attachment point by the platform's size: what rounding is relative to."""
        size = np.linalg.norm(self.modes.attachments, axis=1).mean() or 1.0
        return float(size / (np.abs(self.modes.attachment_shapes).max() or 1.0))

    def robot(
        self, x: FlexibleInputs, acceleration: ca.SX, friction: bool, loads: Loads | None = None
    ) -> FlexibleRobot:
        """The robot at a state of the inputs, with an acceleration of its frame."""
        return FlexibleRobot(self.mechanism, self.body, self.modes, x, acceleration, friction, loads)

    def inputs(self) -> FlexibleInputs:
        """Fresh symbols of a state."""
        return FlexibleInputs(self.body.count, len(self.mechanism.legs))

    def inverse_solution(self, robot: FlexibleRobot) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Actuator forces without slide friction, elastic accelerations and the solve's quality: (44), (46)-(49).

        q_e'' = A_ee^-1 (J_e^-T f - d_e), and (J_p^-T - C A_ee^-1 J_e^-T) f = d_r - C A_ee^-1 d_e with d the demand of
        the motion without elastic acceleration and C the coupling.
        """
        factor = SymmetricFactor(robot.elastic_mass)
        push, bend = robot.external
        wrench, elastic = robot.demand[0] - push, robot.demand[1] - bend
        rigid_rows, elastic_rows = robot.rows
        n = len(self.mechanism.legs)
        spread = ca.horzcat(*[factor.solve(elastic_rows[i, :].T) for i in range(n)])
        rest = factor.solve(elastic)
        system = rigid_rows.T - robot.coupling @ spread
        solution = solve_general(system, wrench - robot.coupling @ rest)
        return solution.x, spread @ solution.x - rest, solution.quality

    def inverse_dynamics(self, friction: bool, loads: Loads | None = None) -> Expression:
        """Actuator forces and elastic accelerations for a rigid acceleration."""
        x = self.inputs()
        robot = self.robot(x, x.acceleration.symbols, friction, loads)
        force, bent, quality = self.inverse_solution(robot)
        if friction:
            force = force + robot.actuator_friction
        return Expression(
            "inverse_dynamics",
            (x.pose, x.twist, x.elastic, x.elastic_rate, x.acceleration, x.wrench, *(loads.ports if loads else ())),
            (
                port("force", force),
                port("elastic_acceleration", bent),
                port("quality", robot.quality(quality), ()),
            ),
        )

    def reactions(self, friction: bool, loads: Loads | None = None) -> Expression:
        """Wrench [f; m] on the child of every joint at its point (j, 6), base axes, for the inverse model's motion."""
        x = self.inputs()
        robot = self.robot(x, x.acceleration.symbols, friction, loads)
        force, bent, quality = self.inverse_solution(robot)
        rows = [ca.horzcat(w.force.T, w.moment.T) for _, _, w in robot.joint_wrenches(force, bent)]
        if friction:
            force = force + robot.actuator_friction
        return Expression(
            "reactions",
            (x.pose, x.twist, x.elastic, x.elastic_rate, x.acceleration, x.wrench, *(loads.ports if loads else ())),
            (
                port("wrenches", ca.vertcat(*rows)),
                port("axes", joint_axes([leg.leg for leg in robot.legs])),
                port("force", force),
                port("quality", robot.quality(quality), ()),
            ),
        )

    def direct_solution(self, robot: FlexibleRobot, force: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Rigid acceleration in base axes, elastic accelerations and quality, from forces without slide friction.

        M (A, q_e'') = (J_p^-T f, J_e^-T f) - bias; the robot's acceleration must be zero.
        """
        factor = SymmetricFactor(robot.elastic_mass)
        push, bend = robot.external
        rigid_rows, elastic_rows = robot.rows
        wrench = rigid_rows.T @ force + push - robot.demand[0]
        elastic = elastic_rows.T @ force + bend - robot.demand[1]
        coupling = robot.coupling
        spread = ca.horzcat(*[factor.solve(coupling[i, :].T) for i in range(6)])
        rest = factor.solve(elastic)
        outer = SymmetricFactor(robot.rigid_mass - coupling @ spread)
        rigid = outer.solve(wrench - coupling @ rest)
        return robot.to_base(rigid), rest - spread @ rigid, robot.quality(ca.sqrt(outer.quality))

    def direct_dynamics(self, friction: bool, loads: Loads | None = None) -> Expression:
        """Rigid and elastic accelerations from actuator forces."""
        x = self.inputs()
        robot = self.robot(x, ca.SX.zeros(6), friction, loads)
        force = x.force.symbols - robot.actuator_friction if friction else x.force.symbols
        rigid, bent, quality = self.direct_solution(robot, force)
        return Expression(
            "direct_dynamics",
            (x.pose, x.twist, x.elastic, x.elastic_rate, x.force, x.wrench, *(loads.ports if loads else ())),
            (port("acceleration", rigid), port("elastic_acceleration", bent), port("quality", quality, ())),
        )

    def with_dry_friction(self, name: str, dry: DryFriction) -> Expression | Iteration:
        """A function (``inverse_dynamics``, ``direct_dynamics``, ``reactions``) whose friction depends on reactions.

        The loads of the joints follow from the motion with its elastic accelerations, and are iterated.
        """
        loads = Loads.symbols(self.mechanism, dry.law)
        make: Callable[[bool, Loads], Expression] = getattr(self, name)
        target = make(True, loads)
        if loads.port is None:
            return target
        x = self.inputs()
        inputs = tuple(x.by_name[p.name] for p in target.inputs if p.name != "loads")
        fresh = self.loads_found(x, loads, direct=name == "direct_dynamics")
        return repeated(target, loads.port, inputs, fresh, dry)

    def loads_found(self, x: FlexibleInputs, loads: Loads, direct: bool) -> ca.SX:
        """Loads of the joints with Coulomb friction (k), from loads assumed."""
        if direct:
            still = self.robot(x, ca.SX.zeros(6), True, loads)
            force = x.force.symbols - still.actuator_friction
            rigid, bent, _ = self.direct_solution(still, force)
            robot = self.robot(x, rigid, True, loads)
        else:
            robot = self.robot(x, x.acceleration.symbols, True, loads)
            force, bent, _ = self.inverse_solution(robot)
        return joint_loads(self.mechanism, robot.joint_wrenches(force, bent), [leg.leg for leg in robot.legs])
