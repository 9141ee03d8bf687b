"""How joints with dry friction slide: their rates w, the rates' directions G in the robot's velocity, and their drift.

w = G u and wdot = G udot + drift, with u the robot's own velocity (m + N) and drift what remains at udot = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..legs import Joint
from ..mechanism import LegAtState, Mechanism
from ..symbols.vectors import cross, dot
from .joints import Coefficients, FrictionPair, Key, friction_pairs


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
        ((leg.name, pair.joint.name), 1 if pair.actuator is not None or pair.joint.kind == "prismatic" else 3)
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
        self._inputs, self._velocity = model.all_inputs, ca.SX.sym("velocity", 12)
        unknowns, place, going = ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, 1)
        if model.unknowns is not None:
            still = ca.SX.zeros(model.unknowns.move.numel()), ca.SX.zeros(leg.place.numel())
            unknowns = ca.vertcat(model.unknowns.move, model.unknowns.place)
            place, going = ca.vertcat(still[0], leg.place), ca.vertcat(model.move_tape.taylor(*leg.series)[1], still[1])
        self._vectors, self._rates = ca.SX.sym("vectors", 3, count), ca.SX.sym("rates", 3, count)
        self._omega = ca.SX.sym("omega", 3)
        zero, first, half = (ca.vertcat(s, t) for s, t in zip(tip.series, tip.axes_series, strict=True))
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
