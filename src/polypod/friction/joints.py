"""Friction of a leg's joints at a state, as forces and moments on bodies and what actuators must add.

Each rotary joint resists its relative angular velocity w with (c + (k L + d)/|w|) w, L the load (its reaction force);
each slide resists its rate the same way, L the size of the force across it, or the sum of the sizes of its parts along
the stated normals of a guide (Kim-Ryu (30)-(31), corrected). Where friction at rest is s times that in motion, dry
friction at a rate w is 1 + (s - 1) exp(-(w/v)^2) times (k L + d), v the Stribeck speed (Armstrong-Helouvry, Dupont,
Canudas de Wit, Automatica 30 (1994), 1083-1138).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from ..description.paths import get
from ..legs import Joint, PlacedFriction, Placement
from ..mechanism import LegAtState, LegModel, Mechanism
from ..mechanism.free_bodies import JointWrench
from ..mechanism.leg import PlacedLeg
from ..mechanism.leg_at_state import joint_rate
from ..symbols.expression import Port
from ..symbols.vectors import absent, cross, dot, total
from .laws import FrictionLaw

Key = tuple[str, str]


@dataclass(frozen=True)
class Loads:
    """Reactions that dry friction depends on, one for each joint (leg, joint) with a Coulomb coefficient, and its law.

    As inputs of a function they are one port of k numbers in the order of ``loaded_joints``.
    """

    law: FrictionLaw
    port: Port | None = None
    values: dict[Key, ca.SX] = field(default_factory=dict)

    @staticmethod
    def symbols(mechanism: Mechanism, law: FrictionLaw) -> Loads:
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

    def dry(self, key: Key, coefficients: Coefficients, rate: ca.SX) -> ca.SX:
        """What overcomes dry friction of a joint at a rate: (k L + d) w/|w|, more where it moves slowly (Stribeck)."""
        limit = coefficients.limit(self.values.get(key, ca.SX(0)))
        if coefficients.static_exceeds_kinetic and not absent(coefficients.stribeck):
            limit = limit * coefficients.stribeck_factor(rate, coefficients.stribeck**2)
        return limit * self.direction(key, rate)

    def direction(self, key: Key, rate: ca.SX) -> ca.SX:
        """The direction of a joint's rate; bounds along motions take symbols in its place."""
        return self.law.direction(rate)

    def seen_in(self, axes: ca.SX) -> Loads:
        """The same in a frame with these axes (3, 3) instead of those of the base; sizes of reactions know no axes."""
        return self


@dataclass(frozen=True)
class GivenForces(Loads):
    """Dry friction of every joint as a force or moment that is known: ``values`` are what overcomes it.

    One number along a coordinate or an axis; moments (3) of passive rotary joints are in base axes.
    """

    def dry(self, key: Key, coefficients: Coefficients, rate: ca.SX) -> ca.SX:
        """The force that is given, whatever the rate."""
        return self.values[key]

    def seen_in(self, axes: ca.SX) -> GivenForces:
        """The same with moments in these axes (3, 3)."""
        turned = {key: axes.T @ value if value.numel() == 3 else value for key, value in self.values.items()}
        return replace(self, values=turned)


@dataclass(frozen=True)
class Coefficients:
    """Viscous, load-dependent and constant friction of one joint; static over kinetic, Stribeck speed.

    Numbers or symbols.
    """

    viscous: Any = 0.0
    coulomb: Any = 0.0
    drag: Any = 0.0
    static: Any = 1.0
    stribeck: Any = 0.0

    @property
    def frictionless(self) -> bool:
        """Whether the joint has no friction by the robot's topology."""
        return absent(self.viscous) and not self.dry

    @property
    def dry(self) -> bool:
        """Whether a part does not vanish with the rate."""
        return not (absent(self.coulomb) and absent(self.drag))

    @property
    def static_exceeds_kinetic(self) -> bool:
        """Whether dry friction is more at rest than in motion, by the robot's topology."""
        return self.dry and not absent(self.static - 1)

    def limit(self, load: ca.SX) -> ca.SX:
        """What dry friction resists with in motion, k L + d."""
        return ca.SX(self.drag) if absent(self.coulomb) else self.drag + self.coulomb * load

    def stribeck_factor(self, rate: ca.SX, speed2: Any) -> ca.SX:
        """Dry friction at a rate over its limit in motion: 1 + (s - 1) exp(-w.w/v^2), ``speed2`` is v^2 > 0."""
        return 1 + (self.static - 1) * ca.exp(-ca.dot(rate, rate) / speed2)

    def resistance(self, rate: ca.SX, key: Key, loads: Loads | None) -> ca.SX:
        """What overcomes friction at a rate: c w + (k L + d) w/|w|; without loads, only its viscous part."""
        result = self.viscous * rate
        if loads is not None and self.dry:
            result = result + loads.dry(key, self, rate)
        return result


@dataclass(frozen=True)
class FrictionPair:
    """Two bodies that rub: a joint, or the rotation or the translation of a cylindrical one as a joint by itself.

    ``of`` is the name of the whole joint; ``actuator`` the number in the leg of what drives this motion, if anything.
    ``along`` is the one axis of a rotary joint about which it rubs, if that is not its whole angular velocity;
    ``coupling`` the number of the coupling in the leg whose reaction, times ``factor``, is its load.
    """

    joint: Joint
    of: str
    friction: Coefficients
    actuator: int | None
    along: ca.SX | None = None
    coupling: int | None = None
    factor: Any = 1.0
    beside: bool = False
    """Whether it is friction beside the joint's own: its name is not that of the joint."""

    @property
    def size(self) -> int:
        """Number of components of its friction: 1 along a coordinate or an axis, else 3."""
        single = self.actuator is not None or self.along is not None or self.joint.kind == "prismatic"
        return 1 if single else 3


def friction_pairs(leg: LegModel | PlacedLeg) -> list[FrictionPair]:
    """Every joint of a leg that has friction."""
    found = []
    actuators = leg.placement.actuators
    for whole in leg.placement.joints:
        for joint in whole.motions if whole.friction else ():
            data = get(leg.leg, joint.friction)
            friction = Coefficients(data.viscous, data.coulomb, data.drag, data.static, data.stribeck_speed)
            unit = "m" if joint.kind == "prismatic" else "rad"
            driven = [
                k for k, a in enumerate(actuators) if a.joint == whole.name and (joint is whole or a.unit == unit)
            ]
            if not friction.frictionless:
                found.append(FrictionPair(joint, whole.name, friction, driven[0] if driven else None))
    pairs = [_beside(leg.placement, one) for one in leg.placement.frictions]
    return [*found, *(pair for pair in pairs if not pair.friction.frictionless)]


def _beside(placement: Placement, own: PlacedFriction) -> FrictionPair:
    """Friction along a free direction of a joint beside the joint's own."""
    whole, data = placement.joint(own.joint), own.friction
    slides = whole.kind == "prismatic" or (whole.kind == "cylindrical" and own.direction == 0)
    axis = whole.axes[own.direction if whole.kind == "universal" else 0]
    joint = replace(whole, name=own.name, kind="prismatic" if slides else "revolute", axes=(axis,), normals=())
    unit = "m" if slides else "rad"
    both = whole.kind == "cylindrical"
    driven = [k for k, a in enumerate(placement.actuators) if a.joint == whole.name and (not both or a.unit == unit)]
    number, factor = None, 1.0
    if own.coupling:
        number = [one.name for one in placement.couplings].index(own.coupling)
        term = next(
            t for t in placement.couplings[number].joints if (t.joint, t.direction) == (own.joint, own.direction)
        )
        factor = term.factor
    friction = Coefficients(data.viscous, data.coulomb, data.drag, data.static, data.stribeck_speed)
    along = None if slides else axis
    return FrictionPair(joint, whole.name, friction, driven[0] if driven else None, along, number, factor, True)


def loaded_joints(mechanism: Mechanism) -> list[Key]:
    """Joints whose friction depends on their reaction."""
    return list(loaded_pairs(mechanism))


def loaded_pairs(mechanism: Mechanism) -> dict[Key, FrictionPair]:
    """Friction that depends on reactions."""
    return {
        (leg.name, pair.joint.name): pair
        for leg in mechanism.legs
        for pair in friction_pairs(leg)
        if not absent(pair.friction.coulomb)
    }


def has_friction(mechanism: Mechanism) -> bool:
    """Whether any joint has friction at all."""
    return any(friction_pairs(leg) for leg in mechanism.placed)


def has_dry_friction(mechanism: Mechanism) -> bool:
    """Whether any joint resists with a force that does not vanish with its rate."""
    pairs = (pair for leg in mechanism.placed for pair in friction_pairs(leg))
    return mechanism.kept((__name__, "dry"), lambda: any(pair.friction.dry for pair in pairs))


def dry_drives(leg: LegModel | PlacedLeg) -> list[bool]:
    """Whether the motion that each actuator of a leg drives has dry friction."""
    dry = {pair.actuator for pair in friction_pairs(leg) if pair.friction.dry}
    return [k in dry for k in range(len(leg.placement.actuators))]


@dataclass(frozen=True)
class JointFriction:
    """Friction of one leg at a state.

    ``by_joint`` are the wrenches of passive joints ON their child, moments about the joint's point; ``points`` are
    these points. ``at_actuators`` (a) is what the leg's actuators must add for the joints they drive. ``power`` [W] is
    what all joints of the leg lose.
    """

    leg: LegAtState
    by_joint: dict[str, JointWrench]
    points: dict[str, ca.SX]
    at_actuators: ca.SX
    power: ca.SX

    @staticmethod
    def of(leg: LegAtState, friction: bool, loads: Loads | None) -> JointFriction:
        """All friction of a leg; without loads, only its viscous part; none at all if not asked for."""
        by_joint: dict[str, JointWrench] = {}
        points: dict[str, ca.SX] = {}
        at_actuators, power = ca.SX.zeros(len(leg.model.actuators)), ca.SX(0)
        for pair in friction_pairs(leg.model) if friction else ():
            joint, data, k = pair.joint, pair.friction, pair.actuator
            key = (leg.model.name, joint.name)
            if k is not None:
                ratio = leg.model.actuators[k].ratio
                own = data.resistance(leg.rates[k] / ratio, key, loads) / ratio
                at_actuators[k] = own if at_actuators[k].is_zero() else at_actuators[k] + own
                power = power + own * leg.rates[k]
                continue
            points[pair.of] = leg.at_tip(joint.point)
            before = by_joint.get(pair.of, JointWrench(ca.SX.zeros(3), ca.SX.zeros(3)))
            rate = joint_rate(leg, joint)
            if pair.along is not None:
                axis = leg.at_tip(pair.along)
                size = data.resistance(dot(axis, rate), key, loads)
                by_joint[pair.of] = JointWrench(before.force, before.moment - size * axis)
                power = power + size * dot(axis, rate)
                continue
            resistance = data.resistance(rate, key, loads)
            if joint.kind == "prismatic":
                by_joint[pair.of] = JointWrench(before.force - resistance * leg.at_tip(joint.axes[0]), before.moment)
            else:
                by_joint[pair.of] = JointWrench(before.force, before.moment - resistance)
            power = power + ca.dot(resistance, rate)
        return JointFriction(leg, by_joint, points, at_actuators, power)

    def joint(self, name: str) -> JointWrench:
        """The wrench of a passive joint on its child; zero where it has no friction."""
        return self.by_joint.get(name, JointWrench(ca.SX.zeros(3), ca.SX.zeros(3)))

    def on_body(self, body: str, about: ca.SX) -> JointWrench:
        """Sum of the friction on a body, moment about a point."""
        force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
        for joint in self.leg.model.placement.joints:
            sign = float(joint.child == body) - float(joint.parent == body)
            if sign and joint.name in self.by_joint:
                wrench = self.by_joint[joint.name].about(self.points[joint.name], about)
                force, moment = force + sign * wrench.force, moment + sign * wrench.moment
        return JointWrench(force, moment)

    @property
    def on_platform(self) -> JointWrench:
        """On the platform, moment about the leg's tip."""
        return self.on_body("platform", self.leg.tip.series[0])

    def overcoming(self) -> tuple[ca.SX, ca.SX]:
        """What overcomes it: forces (3, K) on the leg's moving vectors, generalized force (6 + N) on the platform."""
        model = self.leg.model
        vectors = self.leg.vectors[0]
        on_leg: list[ca.SX] = []
        for joint in model.placement.joints:
            if joint.name not in self.by_joint:
                continue
            wrench, point = self.by_joint[joint.name], self.points[joint.name]
            for body, sign in ((joint.child, -1.0), (joint.parent, 1.0)):
                if body in ("base", "platform"):
                    continue
                if not wrench.force.is_zero():
                    on_leg.append(model.point_forces(body, vectors, point, sign * wrench.force))
                if not wrench.moment.is_zero():
                    on_leg.append(model.moment_forces(body, vectors, sign * wrench.moment))
        wrench = self.on_platform
        platform = self.leg.platform
        pull = platform.moment(self.leg.number, -wrench.moment)
        if not wrench.force.is_zero():
            pull = pull + self.leg.force(-wrench.force)
        return total(on_leg, (3, len(model.columns))), pull


def actuator_friction(frictions: list[JointFriction]) -> ca.SX:
    """What overcomes friction in the actuated joints of all legs (n) [N or N m]."""
    return ca.vertcat(*[friction.at_actuators for friction in frictions])


# ----------------------------------------------------------------------------------------------------------------------
# How joints with dry friction slide: their rates w, the rates' directions G in the robot's velocity, and their drift.
#
# w = G u and wdot = G udot + drift, with u the robot's own velocity (m + N) and drift what remains at udot = 0.


@dataclass(frozen=True)
class SlidingJoint:
    """One joint with dry friction at a state: rate (s), drift (s) and rows (s, m + N) with wdot = rows udot + drift.

    s is 1 for slides and driven joints, along their own coordinate, and 3 for passive rotary joints, base axes.
    """

    key: Key
    friction: Coefficients
    rate: ca.SX
    drift: ca.SX
    rows: ca.SX

    @property
    def size(self) -> int:
        """Number s of components."""
        return int(self.rate.numel())


def dry_joints(mechanism: Mechanism) -> list[tuple[Key, int]]:
    """Joints (leg, joint) with dry friction and how many components their friction has, in order."""
    return [
        ((leg.name, pair.joint.name), pair.size)
        for leg in mechanism.legs
        for pair in friction_pairs(leg)
        if pair.friction.dry
    ]


def sliding_joints(legs: list[LegAtState]) -> list[SlidingJoint]:
    """All joints with dry friction, of legs attached to a platform that does not accelerate."""
    return [_sliding(leg, pair) for leg in legs for pair in friction_pairs(leg.model) if pair.friction.dry]


def _sliding(leg: LegAtState, pair: FrictionPair) -> SlidingJoint:
    joint, friction, key, k = pair.joint, pair.friction, (leg.model.name, pair.joint.name), pair.actuator
    if k is not None:
        ratio = leg.model.actuators[k].ratio
        rate, drift = leg.rates[k] / ratio, leg.accelerations[k] / ratio
        return SlidingJoint(key, friction, rate, drift, leg.platform.reduced(leg.rows[k] / ratio).T)
    passive = _Passive(leg)
    rate = passive.slide(joint) if joint.kind == "prismatic" else passive.spin(joint)
    rate = rate if pair.along is None else dot(ca.SX(pair.along), rate)
    drift = passive.drift(rate)
    if joint.spins_about is not None:
        line = leg.at_tip(joint.spins_about)
        drift = drift - dot(drift, line) * line
    return SlidingJoint(key, friction, passive.here(rate), drift, passive.rows(rate))


def _across(rate: ca.SX, joint: Joint) -> ca.SX:
    """A rate (3) without its part along the line that a joint's body spins about freely."""
    if joint.spins_about is None:
        return rate
    line = ca.SX(joint.spins_about)
    return rate - dot(rate, line) * line


class _Passive:
    """Symbols of a leg's motion that rates of passive joints are written in, and what they stand for.

    Place and velocity of the leg's inputs (after them move and place of its unknowns) and moving vectors, the angular
    velocity of the platform at the tip.
    """

    def __init__(self, leg: LegAtState) -> None:
        self._leg, model, tip = leg, leg.model, leg.tip
        count = len(model.columns)
        self._inputs, self._velocity = model.all_inputs, ca.SX.sym("velocity", model.all_inputs.numel())
        unknowns, place, going = ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, 1)
        if model.unknowns is not None:
            still = ca.SX.zeros(model.unknowns.move.numel()), ca.SX.zeros(leg.place.numel())
            unknowns = ca.vertcat(model.unknowns.move, model.unknowns.place)
            place, going = ca.vertcat(still[0], leg.place), ca.vertcat(model.move_tape.taylor(*leg.series)[1], still[1])
        self._vectors, self._rates = ca.SX.sym("vectors", 3, count), ca.SX.sym("rates", 3, count)
        self._omega = ca.SX.sym("omega", 3)
        orders = zip(tip.series, tip.axes_series, tip.internal, strict=True)
        zero, first, half = (ca.vertcat(*parts) for parts in orders)
        vectors, rates, bends = model.series(leg.series)
        # the platform's own elastic turning is carried round by its frame
        spin_drift = cross(leg.platform.motion.omega, tip.spin) + leg.platform.motion.alpha
        self._symbols = [
            ca.vertcat(self._inputs, unknowns),
            self._velocity,
            ca.vec(self._vectors),
            ca.vec(self._rates),
            self._omega,
        ]
        values = (ca.vertcat(zero, place), first, ca.vec(vectors), ca.vec(rates), tip.spin)
        changes = (ca.vertcat(first, going), 2 * half, ca.vec(rates), 2 * ca.vec(bends), spin_drift)
        self._values, self._changes = ([ca.densify(part) for part in parts] for parts in (values, changes))

    def here(self, expression: ca.SX) -> ca.SX:
        """An expression of the symbols at the state."""
        return ca.densify(ca.substitute([expression], self._symbols, self._values)[0])

    def spin(self, joint: Joint) -> ca.SX:
        """Angular velocity of a joint's child against its parent (3), without what spins freely."""
        return _across(self._spin_of(joint.child) - self._spin_of(joint.parent), joint)

    def _spin_of(self, body: str) -> ca.SX:
        if body == "base":
            return ca.SX.zeros(3)
        if body == "platform":
            return self._omega
        return self._leg.model.angular_velocity(body, self._vectors, self._rates)

    def slide(self, joint: Joint) -> ca.SX:
        """Velocity of a joint's child against its parent along its axis."""
        point = ca.SX(joint.point)
        return dot(ca.SX(joint.axes[0]), self._velocity_of(joint.child, point) - self._velocity_of(joint.parent, point))

    def _velocity_of(self, body: str, point: ca.SX) -> ca.SX:
        if body == "base":
            return ca.SX.zeros(3)
        if body == "platform":
            return self._velocity[:3] + cross(self._omega, point - self._inputs[:3])
        return self._leg.model.point_velocity(body, self._vectors, self._rates, point)

    def drift(self, rate: ca.SX) -> ca.SX:
        """The rate's own rate while the platform does not accelerate."""
        return self.here(ca.jtimes(rate, ca.vertcat(*self._symbols), ca.vertcat(*self._changes)))

    def rows(self, rate: ca.SX) -> ca.SX:
        """d(rate)/d(velocity of the robot), (s, m + N)."""
        leg, model = self._leg, self._leg.model
        motion, count = ca.SX.sym("motion", model.inputs.numel()), leg.series[0].numel()
        moved = ca.vertcat(motion, ca.SX.zeros(count - motion.numel()))
        _, rates, _ = model.series((leg.series[0], moved, ca.SX.zeros(count)))
        place = [self._symbols[0], ca.vec(self._vectors)]
        here = [self._values[0], self._values[2]]
        along = ca.substitute([rate], [*place, ca.vec(self._rates)], [*here, ca.vec(rates)])[0]
        along = ca.substitute(along, self._velocity[:3], motion[:3])
        by_motion, by_spin = ca.jacobian(along, motion), ca.jacobian(along, self._omega)
        columns = []
        for k in range(rate.numel()):
            column = leg.force(by_motion[k, :].T)
            if by_spin[k, :].nnz():
                column = column + leg.platform.moment(leg.number, by_spin[k, :].T)
            columns.append(column)
        return leg.platform.reduced(ca.horzcat(*columns)).T
