"""What a simulation needs of a model, in symbols: rates of a state from forces, and what encoders see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..description import Robot
from ..errors import InputError
from ..formulations import newton_euler, virtual_power
from ..friction.dry import DryFriction, joint_loads
from ..friction.joints import JointFriction, Loads, actuator_friction, has_dry_friction
from ..mechanism import Attached, Freedoms, Mechanism, Motion
from ..mechanism.inputs import Inputs
from ..symbols.linear import SymmetricFactor
from ..symbols.vectors import dot


@dataclass(frozen=True)
class Rates:
    """Accelerations of a state; power of actuators, external wrench and friction (3) [W]; quality; loads found."""

    acceleration: ca.SX
    elastic_acceleration: ca.SX
    power: ca.SX
    quality: ca.SX
    loads: ca.SX


@dataclass(frozen=True)
class Sensed:
    """Actuated coordinates q and rates (n), limited quantities, J (n, 6), and three numbers that tell trouble early.

    ``margin`` is the smallest of the legs' conditions, ``room`` how far the nearest limit is, ``safety`` a lower bound
    of the distance to singularity: 1/|J^-1| (Frobenius), rotations scaled by the platform's size.
    """

    q: ca.SX
    qdot: ca.SX
    limited: ca.SX
    jacobian: ca.SX
    margin: ca.SX
    room: ca.SX
    safety: ca.SX


class Dynamics(ABC):
    """A model in symbols, for the kernels of a simulation; poses are row-major columns of 16.

    ``loads`` counts the joint loads that dry friction depends on; they are found by iterating :meth:`rates`.
    ``explicit`` says that one round from loads of zero is wanted, not a fixed point.
    """

    actuators: int
    modes: int = 0
    loads: int = 0
    explicit: bool = False

    @abstractmethod
    def rates(
        self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> Rates:
        """Direct dynamics with its power balance, at given joint loads."""

    @abstractmethod
    def sensed(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """What the actuators' encoders see."""


class RigidDynamics(Dynamics):
    """M udot = J^T f + S^T w_ext - bias of a robot of rigid bodies."""

    def __init__(self, mechanism: Mechanism, dry: DryFriction, friction: bool) -> None:
        self._mechanism, self._friction = mechanism, friction
        self.actuators = len(mechanism.legs)
        self.explicit = dry.coupling == "explicit"
        self._loads: Loads | None = None
        if friction and has_dry_friction(mechanism):
            self._loads = Loads.symbols(mechanism, dry.law)
            self.loads = 0 if self._loads.port is None else self._loads.port.length
        if self.loads and not newton_euler.closed_form(mechanism):
            raise InputError(
                f"friction: {mechanism.robot.name!r} is overconstrained, so reactions that Coulomb friction depends on "
                "are not determined; simulate with friction=False"
            )

    def rates(
        self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> Rates:
        """Direct dynamics by virtual power; loads by Newton-Euler at the acceleration found."""
        mechanism, x = self._mechanism, Inputs(self.actuators)
        acceleration, quality = virtual_power.direct_solution(mechanism, x, self._friction, self._loads)
        motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, acceleration)
        attached = mechanism.attach(motion)
        qdot = _rates(attached)
        rubbed = self._friction_power(attached, motion, qdot) if self._friction else ca.SX(0)
        given = ca.vertcat(motion.v, motion.omega)
        power = ca.vertcat(ca.dot(x.force.symbols, qdot), ca.dot(x.wrench.symbols, given), rubbed)
        fresh, symbols = ca.SX(0, 1), ca.SX(0, 1)
        if self._loads is not None and self._loads.port is not None:
            symbols = self._loads.port.symbols
            solved = newton_euler.balance(mechanism, motion, x.wrench.symbols, True, self._loads)
            fresh = joint_loads(mechanism, newton_euler.joint_wrenches(solved), solved.attached)
        old = ca.vertcat(x.pose.symbols, x.twist.symbols, x.force.symbols, x.wrench.symbols, symbols)
        new = ca.vertcat(pose, twist, force, wrench, loads)
        found = ca.substitute(ca.vertcat(acceleration, power, quality, fresh), old, new)
        return Rates(found[:6], ca.SX(0, 1), found[6:9], found[9], found[10:])

    def sensed(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """q, qdot = J u and more of the legs."""
        motion = self._mechanism.freedoms.motion(pose, twist, ca.SX.zeros(6))
        attached = self._mechanism.attach(motion)
        jacobian = ca.horzcat(*[leg.row for leg in attached]).T
        return sensed(self._mechanism, attached, _rates(attached), jacobian)

    def _friction_power(self, attached: list[Attached], motion: Motion, qdot: ca.SX) -> ca.SX:
        """Power lost in all joints: what actuators overcome, and moments on bodies times their spins."""
        lost = ca.dot(actuator_friction(self._mechanism, attached, motion, self._loads), qdot)
        for leg in attached:
            vectors, rates = leg.model.velocities(leg.series)
            for body, moment in JointFriction.of(leg, motion, self._loads).on_bodies.items():
                if body == "base":
                    continue
                spin = motion.omega if body == "platform" else leg.model.angular_velocity(body, vectors, rates)
                lost = lost - dot(moment, spin)
        return lost


def sensed(mechanism: Mechanism, attached: list[Attached], qdot: ca.SX, jacobian: ca.SX) -> Sensed:
    """What is known of legs at a state; the limited quantities are led by a zero, as some robots have none."""
    limited, room = [ca.SX(0)], ca.SX(1e300)
    for leg in attached:
        for limit in leg.model.placement.limits:
            value = leg.at_tip(limit.value)
            limited.append(value)
            room = ca.fmin(room, ca.fmin(value - limit.low, limit.high - value))
    q = ca.vertcat(*[leg.values.y[-1] for leg in attached])
    scaled = jacobian @ ca.DM(scaled_basis(mechanism.freedoms, size_of(mechanism.robot)))
    factor = SymmetricFactor(scaled.T @ scaled)
    unit = ca.SX.eye(scaled.size2())
    inverse = sum((factor.solve(unit[:, k])[k] for k in range(scaled.size2())), ca.SX(0))
    margin = mechanism.quality(attached, ca.SX(1))
    return Sensed(q, qdot, ca.vertcat(*limited), jacobian, margin, room, 1 / ca.sqrt(inverse))


def size_of(robot: Robot) -> float:
    """Mean distance of the platform's joints from its origin [m]: what rotations are scaled by."""
    return float(np.mean([np.linalg.norm(leg.platform) for leg in robot.legs])) or 1.0


def scaled_basis(freedoms: Freedoms, size: float) -> NDArray[np.float64]:
    """Motions of the freedoms (6, m), rotations by 1/size rad."""
    turning = np.abs(freedoms.basis[3:]).sum(axis=0) > 0
    return freedoms.basis * np.where(turning, 1 / size, 1.0)


def _rates(attached: list[Attached]) -> ca.SX:
    return ca.vertcat(*[leg.rate for leg in attached])
