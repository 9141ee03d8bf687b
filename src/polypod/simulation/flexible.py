"""A robot with a flexible platform, for the kernels of a simulation."""

from __future__ import annotations

from dataclasses import fields

import casadi as ca

from ..flexible.dynamics import FlexibleDynamics
from ..flexible.robot import FlexibleInputs, FlexibleRobot
from ..symbols.vectors import dot
from .dynamics import Dynamics, Rates, Sensed, sensed


class FlexiblePlatform(Dynamics):
    """Direct dynamics of Long, Khalil and Martinet (44), (46); friction's power includes the platform's damping."""

    def __init__(self, dynamics: FlexibleDynamics, friction: bool) -> None:
        self._dynamics, self._friction = dynamics, friction
        self.actuators, self.modes = len(dynamics.mechanism.legs), dynamics.body.count

    def rates(
        self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> Rates:
        """Rigid and elastic accelerations; power by the rates of the deformed robot."""
        robot, given = self._robot()
        solved = self._dynamics.direct_dynamics(self._friction)
        rigid, bent, quality = solved.function.call([*given, robot.x.force.symbols, robot.x.wrench.symbols])
        qdot = self._qdot(robot)
        push, bend = robot.external
        inside = robot.axes.T
        moving = ca.vertcat(inside @ robot.motion.v, inside @ robot.motion.omega)
        external = ca.dot(push, moving) + ca.dot(bend, robot.rate)
        lost = ca.dot(ca.DM(self._dynamics.body.damping) * robot.rate, robot.rate)
        if self._friction:
            lost = lost + self._friction_power(robot, qdot)
        power = ca.vertcat(ca.dot(robot.x.force.symbols, qdot), external, lost)
        old = ca.vertcat(*given, robot.x.force.symbols, robot.x.wrench.symbols)
        new = ca.vertcat(pose, twist, elastic, elastic_rate, force, wrench)
        found = ca.substitute(ca.vertcat(rigid, bent, power, quality), old, new)
        n = self.modes
        return Rates(found[:6], found[6 : 6 + n], found[6 + n : 9 + n], found[9 + n], ca.SX(0, 1))

    def sensed(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """The legs at the deformed platform's attachment points; J of the frame's motion."""
        robot, given = self._robot()
        rows = robot.rows[0]
        jacobian = ca.horzcat(rows[:, :3] @ robot.axes.T, rows[:, 3:] @ robot.axes.T)
        found = sensed(self._dynamics.mechanism, [leg.leg for leg in robot.legs], self._qdot(robot), jacobian)
        parts = [getattr(found, field.name) for field in fields(found)]
        return Sensed(*ca.substitute(parts, given, [pose, twist, elastic, elastic_rate]))

    def _robot(self) -> tuple[FlexibleRobot, list[ca.SX]]:
        x = FlexibleInputs(self.modes, self.actuators)
        own = self._dynamics
        robot = FlexibleRobot(own.mechanism, own.body, own.modes, x, ca.SX.zeros(6), self._friction)
        return robot, [x.pose.symbols, x.twist.symbols, x.elastic.symbols, x.elastic_rate.symbols]

    def _qdot(self, robot: FlexibleRobot) -> ca.SX:
        """qdot_a = J_p^-1 V_p + J_e^-1 qdot_e, Long (19)-(21)."""
        inside = robot.axes.T
        rigid, elastic = robot.rows
        return rigid @ ca.vertcat(inside @ robot.motion.v, inside @ robot.motion.omega) + elastic @ robot.rate

    def _friction_power(self, robot: FlexibleRobot, qdot: ca.SX) -> ca.SX:
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
