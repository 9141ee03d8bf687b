"""Newton-Euler: free bodies leg by leg, then the platform (Kim-Ryu (20)-(29), Pedrammehr (31)-(49), corrected).

A leg with one universal joint and a spherical tip leaves one component of its tip force unknown, that along the line
n from one joint to the other: with N the moment about the universal joint that inertia, gravity and friction ask for,
m c + L x (-R) = N gives R = mu n + ((m c - N) x n)/l, m = N.n/(c.n), where c is square to both axes of the joint.
The platform's six equations give the six mu; the actuated joint's balance gives its force.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...friction.joints import JointFriction, Loads
from ...legs import Joint
from ...mechanism import Attached, Mechanism, Motion
from ...mechanism.free_bodies import FreeBodies, JointTree, Wrench
from ...mechanism.inputs import Inputs
from ...symbols.expression import Expression, port
from ...symbols.linear import solve_general
from ...symbols.vectors import cross, dot
from . import overconstrained


@dataclass(frozen=True)
class LegBalance:
    """A leg's tip force R on the platform, R = mu n + fixed, and what its joints need."""

    bodies: FreeBodies
    n: ca.SX
    fixed: ca.SX
    friction: JointFriction
    universal_moment: ca.SX

    @property
    def leg(self) -> Attached:
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

    @property
    def attached(self) -> list[Attached]:
        """The legs at the state."""
        return [leg.leg for leg in self.legs]


def universal_of(bodies: FreeBodies) -> Joint:
    """The leg's universal joint."""
    return next(joint for joint in bodies.tree.tree if joint.kind == "universal")


def closed_form(mechanism: Mechanism) -> bool:
    """Whether every leg has one universal joint and a spherical tip; other robots need all bodies at once."""
    return mechanism.freedoms.full and all(JointTree(leg.placement).single_universal for leg in mechanism.legs)


def balance(mechanism: Mechanism, motion: Motion, wrench: ca.SX, friction: bool, loads: Loads | None = None) -> Balance:
    """Solve the free bodies of a whole robot at a motion."""
    attached = mechanism.attach(motion)
    legs = [_leg_balance(mechanism, leg, motion, friction, loads) for leg in attached]
    need = mechanism.platform.force(motion, mechanism.gravity) - wrench
    lines = []
    for leg in legs:
        arm = leg.leg.arm
        need = need - leg.leg.wrench(leg.fixed) - ca.vertcat(ca.SX.zeros(3), leg.friction.on_platform)
        lines.append(ca.vertcat(leg.n, cross(arm, leg.n)))
    solution = solve_general(ca.horzcat(*lines), need)
    forces = [_actuator_force(leg, solution.x[i]) for i, leg in enumerate(legs)]
    return Balance(legs, solution.x, ca.vertcat(*forces), mechanism.quality(attached, solution.quality))


def _leg_balance(
    mechanism: Mechanism, leg: Attached, motion: Motion, friction: bool, loads: Loads | None
) -> LegBalance:
    bodies = FreeBodies(leg, mechanism.gravity)
    joint = universal_of(bodies)
    centre = bodies.at_tip(joint.point)
    first, second = (bodies.at_tip(axis) for axis in joint.axes)
    link = LinkMoments.of(bodies, joint, centre)
    rubbing = JointFriction.of(leg, motion, loads) if friction else JointFriction.none()
    # Friction in the joint and the platform's friction on the tip are moments the pod already gets.
    extra = rubbing.on_platform - rubbing.by_joint.get(joint.name, ca.SX.zeros(3))
    if joint.cross:
        extra = extra + dot(first, bodies.demand([joint.cross], centre).moment) * first
    n = link.n
    along_n = link.along + dot(extra, n)
    across_n = link.across + link.shorter * cross(extra, n)
    if mechanism.simplify == "no-spin":
        # Without spin the joint's moment does no work only if it is along the link.
        constraint, turned = along_n * n, ca.SX.zeros(3)
    else:
        # c = first x second, so c x n = (first . n) second - (second . n) first; a link's own axis is square to n.
        size = along_n / dot(first, cross(second, n))
        constraint, turned = size * cross(first, second), (size * dot(first, n) * link.shorter) * second
        if not link.square:
            turned = turned - (size * dot(second, n) * link.shorter) * first
    return LegBalance(bodies, n, turned - across_n, rubbing, constraint)


@dataclass(frozen=True)
class LinkMoments:
    """Moment N about a universal joint that the bodies beyond it need, as N.n and N x n/l, n towards the tip.

    With axes (n, e, f) of the link and forces P on them, N = n x P_n + e x P_e + f x P_f: N.n = P_e.f - P_f.e and
    N x n = P_n - (P_n.n) n - (P_e.n) e - (P_f.n) f. Forces at the tip are l times as strong on n. ``square`` says that
    the joint's second axis is one of the link's own, square to n.
    """

    n: ca.SX
    shorter: ca.SX
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
            need = bodies.demand(bodies.tree.beyond(joint), centre).moment
            shorter = 1 / dot(line, n)
            return LinkMoments(n, shorter, dot(need, n), shorter * cross(need, n))
        order = [link.places[(link.along + k) % 3] for k in range(3)]
        n, e, f = (bodies.vector(place) for place in order)
        fixed_length = bodies.link_length(joint.child)
        # A known length divides the constant weights instead of the moments.
        on_axes, on_tip, rest = bodies.pushes(bodies.tree.beyond(joint), order, centre, 1 / (fixed_length or 1.0))
        length = fixed_length or dot(tip - centre, n)
        p_n, p_e, p_f = on_axes[0] + length * on_tip, on_axes[1], on_axes[2]
        along = dot(p_e, f) - dot(p_f, e) + dot(rest, n)
        across = p_n - dot(p_n, n) * n - dot(p_e, n) * e - dot(p_f, n) * f + cross(rest, n)
        shorter = ca.SX(1 / length)
        square = _is_own_axis(bodies, joint)
        if fixed_length:
            return LinkMoments(n, shorter, fixed_length * along, across, square)
        return LinkMoments(n, shorter, along, shorter * across, square)


def _is_own_axis(bodies: FreeBodies, joint: Joint) -> bool:
    """Whether a universal joint's second axis is an axis of its child other than that along it."""
    body = next(b for b in bodies.leg.model.placement.bodies if b.name == joint.child)
    second = joint.axes[1]
    others = [body.frame.axes[:, k] for k in range(3) if k != body.along]
    return any(all(second[i].element_hash() == axis[i].element_hash() for i in range(3)) for axis in others)


def _actuator_force(leg: LegBalance, mu: ca.SX) -> ca.SX:
    """Balance of all that the actuated joint carries, along its axis."""
    tree = leg.bodies.tree
    actuated = next(joint for joint in tree.tree if joint.kind != "universal")
    axis = leg.bodies.at_tip(actuated.axes[0])
    point = leg.bodies.at_tip(actuated.point)
    rest = _rotor_force(leg.leg) + leg.friction.at_actuator
    if actuated.kind == "revolute":
        turn = leg.bodies.demand(tree.beyond(actuated), point).moment + cross(
            leg.leg.series[0][:3] - point, leg.tip_force(mu)
        )
        own = leg.friction.by_joint.get(actuated.name, ca.SX.zeros(3))
        return dot(axis, turn + leg.friction.on_platform - own) + rest
    force = leg.bodies.force(tree.beyond(actuated))
    if tree.tree[0].kind == "universal":
        # The slide lies along n: of the tip force only mu acts on it.
        return dot(axis, force) + mu + rest
    return dot(axis, force + leg.tip_force(mu)) + rest


def _rotor_force(leg: Attached) -> ca.SX:
    masses = sum(inertance.mass for inertance in leg.model.placement.inertances)
    if not masses:
        return ca.SX(0)
    return 2 * masses * leg.model.coordinate_tape.taylor(*leg.series)[2]


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench."""
    full = reactions(mechanism, friction, loads)
    return Expression("inverse_dynamics", full.inputs, full.outputs[2:])


def reactions(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Wrench [f; m] on the child of every joint at the joint's point (j, 6), base axes, joints in order of the legs.

    Numbers that inner stresses leave open are NaN.
    """
    x = Inputs(len(mechanism.legs))
    pose, wrench = x.pose.symbols, x.wrench.symbols
    motion = mechanism.freedoms.motion(pose, x.twist.symbols, x.acceleration.symbols)
    if closed_form(mechanism):
        solved = balance(mechanism, motion, wrench, friction, loads)
        named, force, quality = joint_wrenches(solved), solved.force, solved.quality
        open_numbers = np.zeros((len(named), 6), dtype=bool)
    else:
        general = overconstrained.balance(mechanism, pose, motion, wrench, friction, loads)
        named, force, quality = general.wrenches, general.force, general.quality
        open_numbers = ~general.determined
    rows = ca.vertcat(*[ca.horzcat(w.force.T, w.moment.T) for _, _, w in named])
    for i, j in np.argwhere(open_numbers).tolist():
        rows[i, j] = np.nan
    return Expression(
        "reactions",
        (x.pose, x.twist, x.acceleration, x.wrench, *(loads.ports if loads else ())),
        (
            port("wrenches", rows),
            port("axes", joint_axes(mechanism.attach(motion))),
            port("force", force),
            port("quality", quality, ()),
        ),
    )


def joint_wrenches(solved: Balance) -> list[tuple[str, str, Wrench]]:
    """(leg, joint, wrench on its child at its point) for every joint, in the order of the legs' joints."""
    result = []
    for number, leg in enumerate(solved.legs):
        result += leg_wrenches(leg.bodies, leg.tip_force(solved.mu[number]), leg.friction)
    return result


def leg_wrenches(bodies: FreeBodies, tip_force: ca.SX, friction: JointFriction) -> list[tuple[str, str, Wrench]]:
    """The same for one leg that pushes the platform with a known force at its tip."""
    tip_point = bodies.leg.series[0][:3]
    wrenches = {joint.name: Wrench(tip_force, friction.on_platform) for joint in bodies.tree.cuts}
    for joint in bodies.tree.tree:
        point = bodies.at_tip(joint.point)
        carried = bodies.demand(bodies.tree.beyond(joint), point)
        moment = carried.moment + cross(tip_point - point, tip_force) + friction.on_platform
        wrenches[joint.name] = Wrench(carried.force + tip_force, moment)
    return [(bodies.leg.model.name, joint.name, wrenches[joint.name]) for joint in bodies.tree.joints]


def joint_axes(attached: list[Attached]) -> ca.SX:
    """The free directions of every joint, one row of two vectors a joint (j, 6), zero where it has fewer."""
    rows = []
    for leg in attached:
        for joint in leg.model.placement.joints:
            axes = [leg.at_tip(axis).T for axis in joint.axes]
            rows.append(ca.horzcat(*axes, ca.SX.zeros(1, 6 - 3 * len(axes))))
    return ca.vertcat(*rows)
