"""Six legs of one universal joint each, free bodies leg by leg, then the platform.

Kim-Ryu (20)-(29), Pedrammehr (31)-(49), corrected.

A leg with one universal joint and a spherical tip leaves one component of its tip force unknown, that along the line
n from one joint to the other: with N the moment about the universal joint that inertia, gravity and friction ask for,
m c + L x (-R) = N gives R = mu n + ((m c - N) x n)/l, m = N.n/(c.n), where c is perpendicular to both axes of the
joint. The platform's six equations give the six mu; the actuated joint's balance gives its force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...friction import JointFriction, Loads
from ...legs import Joint
from ...mechanism import LegAtState, Mechanism
from ...mechanism.free_bodies import FreeBodies, JointTree
from ...platforms import PlatformState
from ...symbols.linear import solve_general
from ...symbols.vectors import absent, cross, dot


@dataclass(frozen=True)
class LegBalance:
    """A leg's tip force R on the platform, R = mu n + fixed, and its friction."""

    bodies: FreeBodies
    n: ca.SX
    fixed: ca.SX
    friction: JointFriction

    @property
    def leg(self) -> LegAtState:
        """The leg at its state."""
        return self.bodies.leg

    def tip_force(self, mu: ca.SX) -> ca.SX:
        """R on the platform, base axes."""
        return mu * self.n + self.fixed


@dataclass(frozen=True)
class Balance:
    """A solved state: mu of every leg, actuator forces, the platform solve's quality."""

    legs: list[LegBalance]
    mu: ca.SX
    force: ca.SX
    quality: ca.SX


def _universal(bodies: FreeBodies) -> Joint:
    """The leg's universal joint."""
    return next(joint for joint in bodies.tree.tree if joint.kind == "universal")


def has_closed_form(mechanism: Mechanism) -> bool:
    """Whether six legs have one universal joint and a spherical tip each; other robots need all bodies at once."""
    simple = all(JointTree(leg.placement).single_universal for leg in mechanism.legs)
    return simple and mechanism.platform.full and len(mechanism.legs) == 6


def balance(
    mechanism: Mechanism, platform: PlatformState, wrench: ca.SX, friction: bool, loads: Loads | None = None
) -> Balance:
    """Solve the free bodies of a whole robot at a motion."""
    legs, lines, need = platform_balance(mechanism, platform, wrench, friction, loads)
    solution = solve_general(lines, need)
    forces = [_actuator_force(leg, solution.x[i]) for i, leg in enumerate(legs)]
    quality = mechanism.quality([leg.leg for leg in legs], solution.quality)
    return Balance(legs, solution.x, ca.vertcat(*forces), quality)


def platform_balance(
    mechanism: Mechanism, platform: PlatformState, wrench: ca.SX, friction: bool, loads: Loads | None
) -> tuple[list[LegBalance], ca.SX, ca.SX]:
    """The legs, and A (6, 6) and b (6) of the platform's balance A mu = b, mu the legs' forces along their lines."""
    attached = mechanism.attach(platform)
    legs = [_leg_balance(mechanism, leg, JointFriction.of(leg, friction, loads)) for leg in attached]
    need = platform.required_wrench - wrench
    lines = []
    for leg in legs:
        need = need - leg.leg.force(leg.fixed) - platform.moment(leg.leg.number, leg.friction.on_platform.moment)
        lines.append(ca.vertcat(leg.n, cross(leg.leg.arm, leg.n)))
    return legs, ca.horzcat(*lines), need


def _leg_balance(mechanism: Mechanism, leg: LegAtState, friction: JointFriction) -> LegBalance:
    bodies = FreeBodies(leg, mechanism.gravity)
    joint = _universal(bodies)
    centre = bodies.at_tip(joint.point)
    first, second = (bodies.at_tip(axis) for axis in joint.axes)
    link = LinkMoments.of(bodies, joint, centre)
    # Friction in the joint and the platform's friction on the tip are moments the pod already gets.
    extra = friction.on_platform.moment - friction.joint(joint.name).moment
    if joint.cross_body:
        extra = extra + dot(first, bodies.required_wrench([joint.cross_body], centre).moment) * first
    n = link.n
    along_n = link.along + dot(extra, n)
    across_n = link.across + link.inverse_length * cross(extra, n)
    if leg.model.without_spin(joint.child):
        # Without spin the joint's moment does no work only if it is along the link.
        turned = ca.SX.zeros(3)
    else:
        # c = first x second, so c x n = (first . n) second - (second . n) first; a link's own axis is perpendicular to
        # n.
        size = along_n / dot(first, cross(second, n))
        turned = (size * dot(first, n) * link.inverse_length) * second
        if not link.square:
            turned = turned - (size * dot(second, n) * link.inverse_length) * first
    return LegBalance(bodies, n, turned - across_n, friction)


@dataclass(frozen=True)
class LinkMoments:
    """Moment N about a universal joint that the bodies beyond it need, as N.n and N x n/l, n towards the tip.

    With axes (n, e, f) of the link and forces P on them, N = n x P_n + e x P_e + f x P_f: N.n = P_e.f - P_f.e and
    N x n = P_n - (P_n.n) n - (P_e.n) e - (P_f.n) f. Forces at the tip are l times as strong on n. ``square`` says that
    the joint's second axis is one of the link's own, perpendicular to n.
    """

    n: ca.SX
    inverse_length: ca.SX
    along: ca.SX
    across: ca.SX
    square: bool = False

    @staticmethod
    def of(bodies: FreeBodies, joint: Joint, centre: ca.SX) -> LinkMoments:
        """From the link's own axes where they lie along the leg, else from the moment itself."""
        tip = bodies.leg.series[0][:3]
        link = bodies.leg.model.vectors.bodies[joint.child]
        if link.along is None:
            line = tip - centre
            n = line * (1 / ca.sqrt(dot(line, line)))
            need = bodies.required_wrench(bodies.tree.beyond(joint), centre).moment
            inverse_length = 1 / dot(line, n)
            return LinkMoments(n, inverse_length, dot(need, n), inverse_length * cross(need, n))
        order = [link.refs[(link.along + k) % 3] for k in range(3)]
        n, e, f = (bodies.vector(ref) for ref in order)
        given: Any = bodies.link_length(joint.child)
        fixed = not absent(given)
        # A known length divides the constant weights instead of the moments.
        scale = 1 / given if fixed else 1.0
        on_axes, on_tip, rest = bodies.inertial_forces(bodies.tree.beyond(joint), order, centre, scale)
        length = given if fixed else dot(tip - centre, n)
        p_n, p_e, p_f = on_axes[0] + length * on_tip, on_axes[1], on_axes[2]
        along = dot(p_e, f) - dot(p_f, e) + dot(rest, n)
        across = p_n - dot(p_n, n) * n - dot(p_e, n) * e - dot(p_f, n) * f + cross(rest, n)
        inverse_length = ca.SX(1 / length)
        square = _is_own_axis(bodies, joint)
        if fixed:
            return LinkMoments(n, inverse_length, given * along, across, square)
        return LinkMoments(n, inverse_length, along, inverse_length * across, square)


def _is_own_axis(bodies: FreeBodies, joint: Joint) -> bool:
    """Whether a universal joint's second axis is an axis of its child other than that along it."""
    body = next(b for b in bodies.leg.model.placement.bodies if b.name == joint.child)
    second = joint.axes[1]
    others = [body.frame.axes[:, k] for k in range(3) if k != body.along]
    return any(_same_direction(second, axis) for axis in others)


def _actuator_force(leg: LegBalance, mu: ca.SX) -> ca.SX:
    """Balance of all that the actuated joint carries, along its axis; forces are conjugate to the coordinate."""
    tree, actuator = leg.bodies.tree, leg.leg.model.actuators[0]
    driven = next(joint for joint in tree.tree if joint.name == actuator.joint)
    axis = leg.bodies.at_tip(driven.axes[0])
    point = leg.bodies.at_tip(driven.point)
    if driven.kind == "revolute":
        turn = leg.bodies.required_wrench(tree.beyond(driven), point).moment + cross(
            leg.leg.series[0][:3] - point, leg.tip_force(mu)
        )
        in_joint = dot(axis, turn + leg.friction.on_platform.moment)
    elif _same_direction(axis, leg.n):
        # Of the tip force only mu acts along n.
        in_joint = dot(axis, leg.bodies.force(tree.beyond(driven))) + mu
    else:
        in_joint = dot(axis, leg.bodies.force(tree.beyond(driven)) + leg.tip_force(mu))
    force: ca.SX = in_joint / actuator.ratio + leg.leg.rotor_forces[0] + leg.friction.at_actuators[0]
    return force


def _same_direction(a: ca.SX, b: ca.SX) -> bool:
    """Whether two vectors are one expression."""
    return all(a[i].element_hash() == b[i].element_hash() for i in range(3))
