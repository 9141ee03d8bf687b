"""A robot with a flexible platform, for the kernels of a simulation."""

from __future__ import annotations

from dataclasses import fields

import casadi as ca

from ..flexible.kernels import FlexibleKernels
from ..flexible.robot import FlexibleRobot
from ..friction.joints import Loads, has_dry_friction
from ..symbols.vectors import dot
from .dynamics import Dynamics, Rates, Sensed, sensed


class BendingDynamics(Dynamics):
    """Direct dynamics of Long, Khalil and Martinet (44), (46); friction's power includes the platform's damping."""

    def __init__(self, kernels: FlexibleKernels, friction: bool) -> None:
        if friction:
            kernels.check_friction()
        self._dynamics, self._friction = kernels.dynamics, friction
        self.actuators, self.modes = len(kernels.mechanism.legs), kernels.modes.count
        self.explicit = kernels.dry.coupling == "explicit"
        self._loads: Loads | None = None
        if friction and has_dry_friction(kernels.mechanism):
            self._loads = Loads.symbols(kernels.mechanism, kernels.dry.law)
            self.loads = 0 if self._loads.port is None else self._loads.port.length

    def rates(
        self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> Rates:
        """Rigid and elastic accelerations; power by the rates of the deformed robot."""
        x = self._dynamics.inputs()
        robot = self._dynamics.robot(x, ca.SX.zeros(6), self._friction, self._loads)
        push = x.force.symbols - robot.actuator_friction if self._friction else x.force.symbols
        rigid, bent, quality = self._dynamics.direct_solution(robot, push)
        fresh, symbols = ca.SX(0, 1), ca.SX(0, 1)
        if self._loads is not None and self._loads.port is not None:
            symbols = self._loads.port.symbols
            fresh = self._dynamics.loads_found(x, self._loads, direct=True)
        old = ca.vertcat(*_state(robot), x.force.symbols, x.wrench.symbols, symbols)
        new = ca.vertcat(pose, twist, elastic, elastic_rate, force, wrench, loads)
        found = ca.substitute(ca.vertcat(rigid, bent, self._power(robot), quality, fresh), old, new)
        n = self.modes
        return Rates(found[:6], found[6 : 6 + n], found[6 + n : 9 + n], found[9 + n], found[10 + n :])

    def sensed(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """The legs at the deformed platform's attachment points; J of the frame's motion."""
        robot = self._dynamics.robot(self._dynamics.inputs(), ca.SX.zeros(6), False)
        rows = robot.rows[0]
        jacobian = ca.horzcat(rows[:, :3] @ robot.axes.T, rows[:, 3:] @ robot.axes.T)
        found = sensed(robot.mechanism, [leg.leg for leg in robot.legs], _qdot(robot), jacobian)
        parts = [getattr(found, field.name) for field in fields(found)]
        return Sensed(*ca.substitute(parts, _state(robot), [pose, twist, elastic, elastic_rate]))

    def _power(self, robot: FlexibleRobot) -> ca.SX:
        """Power of actuators, external wrench, and friction with the platform's damping."""
        push, bend = robot.external
        inside, qdot = robot.axes.T, _qdot(robot)
        moving = ca.vertcat(inside @ robot.motion.v, inside @ robot.motion.omega)
        external = ca.dot(push, moving) + ca.dot(bend, robot.rate)
        lost = ca.dot(ca.DM(robot.body.damping) * robot.rate, robot.rate)
        if self._friction:
            lost = lost + _friction_power(robot, qdot)
        return ca.vertcat(ca.dot(robot.x.force.symbols, qdot), external, lost)


def _state(robot: FlexibleRobot) -> list[ca.SX]:
    x = robot.x
    return [x.pose.symbols, x.twist.symbols, x.elastic.symbols, x.elastic_rate.symbols]


def _qdot(robot: FlexibleRobot) -> ca.SX:
    """Rates of the actuated coordinates, Long (19)-(21)."""
    return ca.vertcat(*[leg.leg.rate for leg in robot.legs])


def _friction_power(robot: FlexibleRobot, qdot: ca.SX) -> ca.SX:
    lost = ca.dot(robot.actuator_friction, qdot)
    for leg in robot.legs:
        model = leg.leg.model
        vectors, rates = model.velocities(leg.leg.series)
        for body, moment in leg.friction.on_bodies.items():
            if body == "platform":
                spin = robot.motion.omega + robot.axes @ (leg.rotation @ robot.rate)
            elif body != "base":
                spin = model.angular_velocity(body, vectors, rates)
            else:
                continue
            lost = lost - dot(moment, spin)
    return lost
