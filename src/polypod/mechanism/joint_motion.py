"""Bodies at a state, seen from where they are at home, and the displacements of all joints from there.

A joint's displacement is zero at home and grows as the joint's own coordinate does: the translation of a prismatic
joint, the rotation of a revolute one, both of a cylindrical one, the two angles of a universal joint, and the rotation
vector of a spherical one in base axes at home. Elements act along these displacements, and ``joint_positions`` are
these with what the file adds at home (``offset``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from ..description.element import COORDINATES, BodyEnd
from ..lazy import lazy
from ..legs import Joint
from ..platforms import PlatformState, Tip
from ..symbols.expression import Expression, port
from ..symbols.vectors import Frame, absent, cross, dot, skew
from .leg_at_state import LegAtState
from .mechanism import Mechanism

_SMALL_ANGLE = 1e-2
"""Sine of an angle below which its ratio to its sine is a series."""
SAME = 1e-9
"""Distance [m] up to which a point of a flexible platform is an attachment point."""


class BodyAtState:
    """A body: where points and directions of it are that are known at home, and how they move.

    ``leg`` is its leg's number, None for base and platform.
    """

    leg: int | None = None
    name = "base"
    tip_leg = 0

    def carried(self, direction: ca.SX) -> ca.SX:
        """A direction (or columns of them) fixed in the body, from where it is at home."""
        return direction

    def point(self, at: ca.SX) -> ca.SX:
        """A point fixed in the body, from where it is at home."""
        return at

    def velocity(self, point: ca.SX) -> ca.SX:
        """Velocity of the body's point that is there now."""
        return ca.SX.zeros(3)

    def unit_force(self, at: ca.SX, along: ca.SX) -> ca.SX | None:
        """Generalized force on the platform of a force ``along`` at a point fixed in it; None of other bodies."""
        return None

    def rate(self, point: ca.SX, along: ca.SX, unit_force: ca.SX | None = None) -> ca.SX:
        """Velocity along a direction of the body's point that is there now; ``unit_force`` is that of the two."""
        return dot(along, self.velocity(point))

    @property
    def spin(self) -> ca.SX:
        """Angular velocity."""
        return ca.SX.zeros(3)


class PlatformBody(BodyAtState):
    name = "platform"

    def __init__(self, state: PlatformState, home: Frame, tip: Tip, tip_leg: int, known: ca.SX | None) -> None:
        """``tip`` is an attachment point's, ``known`` that point at home where no other has its motion known."""
        self._state, self._home, self._tip, self.tip_leg, self._known = state, home, tip, tip_leg, known

    def carried(self, direction: ca.SX) -> ca.SX:
        return self._state.motion.frame.axes @ (self._home.axes.T @ direction)

    def point(self, at: ca.SX) -> ca.SX:
        if self._known is not None:
            return self._tip.series[0]
        return self._state.motion.frame.origin + self._arm(at)

    def _arm(self, at: ca.SX) -> ca.SX:
        """From the point that the state is referred to."""
        return self._state.motion.frame.axes @ self._state.from_reference(self._home.axes.T @ (at - self._home.origin))

    def unit_force(self, at: ca.SX, along: ca.SX) -> ca.SX | None:
        if self._known is not None:
            return None
        return self._state.force(self.tip_leg, replace(self._tip, arm=self._arm(at)), along)

    def rate(self, point: ca.SX, along: ca.SX, unit_force: ca.SX | None = None) -> ca.SX:
        if unit_force is None:
            return super().rate(point, along)
        return dot(along, self._state.motion.v) + dot(unit_force[3:6], self._state.motion.omega)

    def velocity(self, point: ca.SX) -> ca.SX:
        if self._known is not None:
            return self._tip.series[1]
        return self._state.motion.v + cross(self._state.motion.omega, point - self._state.motion.frame.origin)

    @property
    def spin(self) -> ca.SX:
        return self._tip.spin

    def tip_at(self, point: ca.SX) -> Tip:
        """The platform's point that is there now, as a tip."""
        if self._known is not None:
            return self._tip
        still = ca.SX.zeros(3)
        arm = point - self._state.motion.frame.origin
        return Tip(arm, self._tip.axes, (point, still, still), self._tip.axes_series, self._tip.spin)


class LegBody(BodyAtState):
    def __init__(self, state: LegAtState, home: Frame, name: str) -> None:
        self.leg, self.name, self._leg, self._home = state.number, name, state, home
        self._refs = state.model.vectors.bodies[name].refs

    def _vectors(self) -> tuple[ca.SX, ca.SX]:
        """Axes (3, 3) and origin."""
        *axes, origin = (self._leg.vectors[0][:, k] if isinstance(k, int) else k for k in self._refs)
        return ca.horzcat(*axes), origin

    def carried(self, direction: ca.SX) -> ca.SX:
        return self._vectors()[0] @ (self._home.axes.T @ direction)

    def point(self, at: ca.SX) -> ca.SX:
        return self._vectors()[1] + self.carried(at - self._home.origin)

    def velocity(self, point: ca.SX) -> ca.SX:
        return self._leg.model.point_velocity(self.name, *self._leg.vectors[:2], point)

    @property
    def spin(self) -> ca.SX:
        return self._leg.model.angular_velocity(self.name, *self._leg.vectors[:2])


@dataclass(frozen=True)
class JointMeasure:
    """How two bodies of a joint stand and move against each other; ``start`` and ``now`` are its axes.

    ``turn`` is its rotation from home where that is known in whole turns."""

    first: BodyAtState
    second: BodyAtState
    point: ca.SX
    at: ca.SX
    start: list[ca.SX]
    now: list[ca.SX]
    turn: ca.SX | None = None

    @property
    def spin(self) -> ca.SX:
        """Angular velocity of the second body against the first, base axes."""
        return self.second.spin - self.first.spin

    @property
    def relative_rotation(self) -> ca.SX:
        """Rotation (3, 3) of the second body against the first from home, in the first's axes, those of the base there.

        F^T S with F and S the bodies' rotations from home.
        """
        return self.first.carried(ca.SX.eye(3)).T @ self.second.carried(ca.SX.eye(3))

    def of(self, kind: str, known: tuple[ca.SX, ca.SX] | None) -> tuple[ca.SX, ca.SX, list[tuple[ca.SX, bool]]]:
        """Displacements and rates (k), and for each the axis along which it slides (True) or about which it turns."""
        if kind == "universal":
            a, b = self.now
            one, two = self.start
            carried, back = self.first.carried(two), self.second.carried(one)
            angles = [
                ca.atan2(dot(cross(a, carried), b), dot(carried, b)),
                ca.atan2(dot(cross(b, a), back), dot(a, back)),
            ]
            spin = self.spin
            return ca.vertcat(*angles), ca.vertcat(dot(a, spin), dot(b, spin)), [(a, False), (b, False)]
        parts = []
        axis = self.now[0]
        if kind in ("revolute", "cylindrical"):
            turn = self.relative_rotation
            sine = ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
            angle = ca.atan2(dot(self.start[0], sine), ca.trace(turn) - 1) if self.turn is None else self.turn
            parts.append((angle, dot(axis, self.spin), (axis, False)))
        if kind in ("prismatic", "cylindrical"):
            if known is None:
                gap = self.second.point(self.at) - self.first.point(self.at)
                speed = self.second.velocity(self.point) - self.first.velocity(self.point)
                known = dot(axis, gap), dot(axis, speed)
            parts.append((*known, (axis, True)))
        s, rate, columns = zip(*parts, strict=True)
        return ca.vertcat(*s), ca.vertcat(*rate), list(columns)


class BodiesAtState:
    """Bodies of a robot at a state, and how those of a joint stand and move against each other."""

    def __init__(self, mechanism: Mechanism, platform: PlatformState, legs: list[LegAtState]) -> None:
        self.mechanism, self.platform, self.legs = mechanism, platform, legs
        self._bodies: dict[tuple[int | None, str], BodyAtState] = {}

    def at_home(self, number: int, expression: ca.SX) -> ca.SX:
        """An expression of a leg's placement where it is at home: one of the numbers alone."""
        model, home = self.legs[number].model, self.mechanism.home
        still = ca.SX.zeros(model.internal.numel())
        at_home = ca.vertcat(home.origin + home.axes @ model.arm, ca.vec(home.axes), still)
        symbols, values = [model.all_inputs], [at_home]
        if model.unknowns is not None:
            symbols += [model.unknowns.place, model.unknowns.move]
            values += [model.unknowns.home, ca.SX.zeros(model.unknowns.move.numel())]
        return ca.substitute([ca.densify(ca.SX(expression))], symbols, [ca.densify(v) for v in values])[0]

    def body(self, end: BodyEnd) -> BodyAtState:
        """A body of a leg, or the base."""
        if end.name == "base":
            return BodyAtState()
        key = (end.leg, end.name)
        if key not in self._bodies:
            assert end.leg is not None
            frame = next(b.frame for b in self.legs[end.leg].model.placement.bodies if b.name == end.name)
            home = Frame(self.at_home(end.leg, frame.origin), self.at_home(end.leg, frame.axes))
            self._bodies[key] = LegBody(self.legs[end.leg], home, end.name)
        return self._bodies[key]

    @lazy
    def _platform_frame(self) -> BodyAtState:
        """The platform as joints see it: its frame, without what a flexible one turns at their places."""
        tip = self.platform.tip(0, ca.SX.zeros(3))
        if self.mechanism.platform.elastic:
            tip = replace(tip, spin=self.platform.motion.omega)
        return PlatformBody(self.platform, self.mechanism.home, tip, 0, None)

    def measure(self, number: int, joint: Joint) -> JointMeasure:
        """How the bodies of a leg's joint stand and move against each other, in the order of the joint's coordinate."""
        leg = self.legs[number]
        ends = (joint.parent, joint.child)
        bodies = [self._platform_frame if name == "platform" else self.body(BodyEnd(number, name)) for name in ends]
        axes = joint.axes
        if joint.name in leg.model.leg.reversed_joints():
            bodies, axes = bodies[::-1], tuple(-axis for axis in axes[::-1])
        first, second = bodies
        start = [self.at_home(number, axis) for axis in axes]
        now = [leg.at_tip(axis) for axis in axes]
        turn = None if joint.turn is None else leg.at_tip(joint.turn)
        return JointMeasure(first, second, leg.at_tip(joint.point), self.at_home(number, joint.point), start, now, turn)

    def slide(self, leg: LegAtState, joint: Joint) -> tuple[ca.SX, ca.SX] | None:
        """Displacement and rate of a driven slide, which its actuator's coordinate knows."""
        for k, actuator in enumerate(leg.model.actuators):
            if actuator.joint == joint.name and joint.kind == "prismatic":
                home = self.at_home(leg.number, actuator.coordinate)
                return (leg.coordinates[k] - home) / actuator.ratio, leg.rates[k] / actuator.ratio
        return None

    def displacement(self, number: int, joint: Joint) -> tuple[ca.SX, ca.SX]:
        """Displacements (k) of a leg's joint from home, and their derivatives in time."""
        measure = self.measure(number, joint)
        if joint.kind != "spherical":
            return measure.of(joint.kind, self.slide(self.legs[number], joint))[:2]
        frame = measure.first.carried(ca.SX.eye(3))
        spin = frame.T @ measure.spin
        if joint.spins_about is None:
            turned = rotation_vector(measure.relative_rotation)
            return turned, inverse_left_jacobian(turned) @ spin
        # a rod's tilt is known, its spin is not: the shortest turn between its line and where that was at home
        home = self.at_home(number, joint.spins_about)
        now = frame.T @ measure.second.carried(home)
        turned = shortest_turn(home, now)
        back = inverse_left_jacobian(turned)
        tilt, own = back @ (spin - dot(spin, now) * now), back @ now
        return turned, tilt - dot(home, tilt) / dot(home, own) * own


def joint_names(mechanism: Mechanism) -> dict[str, tuple[str, ...]]:
    """``leg.joint`` of every joint of every leg, with the names of its displacements."""
    return {
        leg.leg.label(joint.name): COORDINATES[joint.kind] for leg in mechanism.placed for joint in leg.placement.joints
    }


def joint_positions(mechanism: Mechanism) -> Expression:
    """Positions of all joints of all legs one after another: displacements from home, and what the file adds there."""
    x = mechanism.inputs()
    platform, legs = mechanism.resting(x)
    state, values = BodiesAtState(mechanism, platform, legs), []
    for leg in legs:
        for joint in leg.model.placement.joints:
            s, _ = state.displacement(leg.number, joint)
            values.append(s if absent(joint.start) else s + joint.start)
    outputs = port("joint_positions", ca.vertcat(*values)), port("quality", mechanism.quality(legs), ())
    return Expression("joint_positions", x.place, outputs, mechanism.port)


def joint_rates(mechanism: Mechanism) -> Expression:
    """Derivatives in time of the positions of all joints of all legs, one after another."""
    x = mechanism.inputs()
    platform, legs = mechanism.moving(x, acceleration=False)
    state = BodiesAtState(mechanism, platform, legs)
    rates = [state.displacement(leg.number, joint)[1] for leg in legs for joint in leg.model.placement.joints]
    outputs = port("joint_rates", ca.vertcat(*rates)), port("quality", mechanism.quality(legs), ())
    return Expression("joint_rates", x.state, outputs, mechanism.port)


# ----------------------------------------------------------------------------------------------------------------------
# Rotation vectors.


def rotation_vector(turn: ca.SX) -> ca.SX:
    """The rotation vector (3) of a rotation (3, 3) by less than half a turn."""
    half = 0.5 * ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
    return _angle_over_sine(dot(half, half), 0.5 * (ca.trace(turn) - 1)) * half


def _angle_over_sine(sine2: ca.SX, cosine: ca.SX) -> ca.SX:
    """angle/sin(angle) from the square of its sine and its cosine; a series where it is small."""
    small = ca.logic_and(sine2 < _SMALL_ANGLE**2, cosine > 0)
    sine = ca.sqrt(ca.if_else(small, 1, sine2))
    series = 1 + sine2 * (1 / 6 + sine2 * (3 / 40 + sine2 * (15 / 336 + sine2 * (105 / 3456))))
    return ca.if_else(small, series, ca.atan2(sine, cosine) / sine)


def inverse_left_jacobian(r: ca.SX) -> ca.SX:
    """L^-1 (3, 3) with rdot = L^-1 omega for a rotation vector r: 1 - r~/2 + c r~ r~, c = (1 - (a/2) cot(a/2))/a^2."""
    square = dot(r, r)
    small = square < _SMALL_ANGLE
    angle = ca.sqrt(ca.if_else(small, 1, square))
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600 + square / 47900160)))
    c = ca.if_else(small, series, (1 - 0.5 * angle / ca.tan(0.5 * angle)) / ca.if_else(small, 1, square))
    tilde = skew(r)
    return ca.SX.eye(3) - 0.5 * tilde + c * (tilde @ tilde)


def shortest_turn(start: ca.SX, now: ca.SX) -> ca.SX:
    """The rotation vector of the shortest turn from one direction to another."""
    sine = cross(start, now)
    return _angle_over_sine(dot(sine, sine), dot(start, now)) * sine
