"""Friction of a leg's joints at a state, as moments on bodies and forces on actuators.

Each rotary joint resists its relative angular velocity w with (c + (k L + d)/|w|) w, L the load (its reaction force);
each slide resists its rate the same way, L the sum of the normal forces' sizes (Kim-Ryu (30)-(31), corrected).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from ..description import Friction
from ..legs import Joint
from ..mechanism import Attached, LegModel, Mechanism, Motion
from ..symbols.expression import Port
from ..symbols.vectors import total

Key = tuple[str, str]


@dataclass(frozen=True)
class Law:
    """How the sign of a rate is taken: smoothly over a stated width [m/s or rad/s], or exactly (width 0).

    smooth: w/sqrt(w.w + width^2), short of 1 by (width/|w|)^2/2 at a rate w; exact: w/|w|, and 0 at rest.
    """

    width: float = 1e-6

    def direction(self, rate: ca.SX) -> ca.SX:
        """The unit vector (or sign) of a rate."""
        square = ca.dot(rate, rate)
        if self.width > 0:
            return rate * (1 / ca.sqrt(square + self.width**2))
        return rate * (1 / ca.fmax(ca.sqrt(square), 1e-150))


@dataclass(frozen=True)
class Loads:
    """Reactions that dry friction depends on, one for each joint (leg, joint) with a Coulomb coefficient, and its law.

    As inputs of a function they are one port of k numbers in the order of :func:`loaded_joints`.
    """

    law: Law
    port: Port | None = None
    values: dict[Key, ca.SX] = field(default_factory=dict)

    @staticmethod
    def symbols(mechanism: Mechanism, law: Law) -> Loads:
        """Fresh symbols for the loads of a robot's joints; no port if no friction depends on them."""
        keys = loaded_joints(mechanism)
        if not keys:
            return Loads(law)
        symbols = ca.SX.sym("loads", len(keys))
        return Loads(law, Port("loads", symbols, (len(keys),)), {key: symbols[i] for i, key in enumerate(keys)})

    @property
    def ports(self) -> tuple[Port, ...]:
        """The inputs they add to a function."""
        return () if self.port is None else (self.port,)


def friction_of(leg: LegModel, joint: Joint) -> Friction:
    """The friction data of a joint; none if its leg kind has none."""
    return getattr(leg.leg, joint.friction) if joint.friction else Friction()


def loaded_joints(mechanism: Mechanism) -> list[Key]:
    """Joints whose friction depends on their reaction."""
    return [
        (leg.name, joint.name)
        for leg in mechanism.legs
        for joint in leg.placement.joints
        if friction_of(leg, joint).coulomb
    ]


def has_dry_friction(mechanism: Mechanism) -> bool:
    """Whether any joint resists with a force that does not vanish with its rate."""
    data = [friction_of(leg, joint) for leg in mechanism.legs for joint in leg.placement.joints]
    return any(f.coulomb or f.drag for f in data)


@dataclass(frozen=True)
class JointFriction:
    """Friction of one leg: moments ON its bodies (the platform among them), and what the actuator must add.

    ``by_joint`` are the moments ON each joint's child.
    """

    on_bodies: dict[str, ca.SX]
    by_joint: dict[str, ca.SX]
    at_actuator: ca.SX

    @property
    def on_platform(self) -> ca.SX:
        """Moment on the platform."""
        return self.on_bodies.get("platform", ca.SX.zeros(3))

    @staticmethod
    def of(leg: Attached, motion: Motion, loads: Loads | None) -> JointFriction:
        """All friction of a leg at a motion; without loads, only its viscous part."""
        on_bodies: dict[str, ca.SX] = {}
        by_joint: dict[str, ca.SX] = {}
        actuator = ca.SX(0)
        spins = _Spins(leg, motion)
        for joint in leg.model.placement.joints:
            data = friction_of(leg.model, joint)
            if data == Friction():
                continue
            key = (leg.model.name, joint.name)
            if joint.kind == "prismatic":
                actuator = actuator + _resistance(data, leg.rate, key, loads)
                continue
            moment = -_resistance(data, spins[joint.child] - spins[joint.parent], key, loads)
            by_joint[joint.name] = moment
            on_bodies[joint.child] = on_bodies.get(joint.child, ca.SX.zeros(3)) + moment
            on_bodies[joint.parent] = on_bodies.get(joint.parent, ca.SX.zeros(3)) - moment
        return JointFriction(on_bodies, by_joint, actuator)

    @staticmethod
    def none() -> JointFriction:
        """No friction."""
        return JointFriction({}, {}, ca.SX(0))


def joint_forces(leg: Attached, motion: Motion, loads: Loads | None = None) -> tuple[ca.SX, ca.SX]:
    """What overcomes friction in rotary joints: forces (3, K) on the leg's moving vectors, moment on the platform."""
    friction = JointFriction.of(leg, motion, loads)
    model = leg.model
    vectors, _ = model.velocities(leg.series)
    on_leg = [
        model.moment_forces(body, vectors, -moment)
        for body, moment in friction.on_bodies.items()
        if body not in ("base", "platform")
    ]
    return total(on_leg, (3, len(model.columns))), -friction.on_platform


def actuator_friction(
    mechanism: Mechanism, attached: list[Attached], motion: Motion, loads: Loads | None = None
) -> ca.SX:
    """What overcomes friction in the actuated slides (n) [N]."""
    return ca.vertcat(*[JointFriction.of(leg, motion, loads).at_actuator for leg in attached])


def _resistance(data: Friction, rate: ca.SX, key: Key, loads: Loads | None) -> ca.SX:
    """What overcomes friction at a rate."""
    result = data.viscous * rate
    if loads is not None and (data.coulomb or data.drag):
        dry = ca.SX(data.drag)
        if data.coulomb:
            dry = dry + data.coulomb * loads.values[key]
        result = result + dry * loads.law.direction(rate)
    return result


class _Spins(dict[str, ca.SX]):
    """Angular velocities of a leg's bodies, computed when asked for."""

    def __init__(self, leg: Attached, motion: Motion) -> None:
        super().__init__({"base": ca.SX.zeros(3), "platform": motion.omega})
        self._leg = leg

    def __missing__(self, body: str) -> ca.SX:
        vectors, rates = self._leg.model.velocities(self._leg.series)
        self[body] = self._leg.model.angular_velocity(body, vectors, rates)
        return self[body]
