"""Newton-Euler: free bodies and every joint's reaction (Kim-Ryu, Pedrammehr).

Newton-Euler: actuator forces and every joint's reaction, by the balance that suits the robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError
from ..friction import JointFriction, Loads
from ..legs import Actuator, Joint
from ..mechanism import LegAtState, Mechanism
from ..mechanism.acting_elements import ActingElements
from ..mechanism.free_bodies import Applied, FreeBodies, JointTree, JointWrench, JointWrenches
from ..mechanism.samples import closed_around_home
from ..platforms import Inputs, PlatformState
from ..symbols.expression import Expression, Port, port
from ..symbols.linear import solve_general, solve_sparse
from ..symbols.vectors import absent, cross, dot
from . import virtual_power
from .solution import ForceDistribution, motion_inputs


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench."""
    full = reactions(mechanism, friction, loads)
    outputs = tuple(p for p in full.outputs if p.name in ("force", "elastic_acceleration", "quality"))
    return Expression("inverse_dynamics", full.inputs, outputs, full.parameters)


def reactions(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Wrench [f; m] on the child of every joint at the joint's point (j, 6), base axes, joints in order of the legs.

    Numbers that inner stresses leave open are NaN.
    """
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    elastic: tuple[Any, ...] = ()
    couplings: tuple[Any, ...] = ()
    if mechanism.platform.elastic:
        solved = _on_flexible_platform(mechanism, x, friction, loads)
        named, force, quality = solved.wrenches, solved.force, solved.quality
        undetermined = np.zeros((len(named), 6), dtype=bool)
        elastic = (port("elastic_acceleration", solved.elastic),)
    elif has_closed_form(mechanism):
        rigid = balance(mechanism, platform, x.wrench.symbols, friction, loads)
        named, force, quality = joint_wrenches(rigid.legs, rigid.mu), rigid.force, rigid.quality
        undetermined = np.zeros((len(named), 6), dtype=bool)
    else:
        shared = None
        if distribution is not None:
            state = virtual_power.State.of(mechanism, platform, friction, loads)
            shared = virtual_power.inverse_solution(state, x.wrench.symbols, distribution).force + state.driven_friction
        general = general_balance(mechanism, x, platform, friction, loads, shared)
        named, force, quality = general.wrenches, general.force, general.quality
        couplings = (port("couplings", general.couplings),) if general.couplings.numel() else ()
        undetermined = ~general.determined
    rows = ca.vertcat(*[ca.horzcat(w.force.T, w.moment.T) for _, _, w in named])
    for i, j in np.argwhere(undetermined).tolist():
        rows[i, j] = np.nan
    return Expression(
        "reactions",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (
            port("wrenches", rows),
            port("axes", joint_axes(mechanism.attach(platform))),
            port("force", force),
            *elastic,
            *couplings,
            port("base", -supporting_wrench(mechanism, x, solved.elastic if elastic else None)),
            port("quality", quality, ()),
        ),
        mechanism.port,
    )


def supporting_wrench(mechanism: Mechanism, x: Inputs, elastic_acceleration: ca.SX | None = None) -> ca.SX:
    """Wrench [f; m] (6) of the base on the robot at a motion, moment about the origin of {B}, base axes.

    The rate of momentum of all bodies less their weight and the external wrench: forces between bodies, friction among
    them, have no part in it.
    """
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols, elastic_acceleration)
    if mechanism.base is not None and elastic_acceleration is None:
        at_tip = virtual_power.at_a_tip(mechanism, platform)
        state, w = virtual_power.State.of(mechanism, at_tip, False, None), x.wrench.symbols
        acting = ca.vertcat(w[:3], w[3:] + cross(platform.motion.frame.origin, w[:3]))
        for weight in state.elements.weights:
            for push in weight.pushes:
                acting = acting + ca.vertcat(*push.about(ca.SX.zeros(3)))
        return state.supporting_wrench - acting
    need = platform.required_wrench - platform.external(x.wrench.symbols)
    if elastic_acceleration is not None:
        need = need + platform.inertia[:, 6:] @ elastic_acceleration
    need = platform.to_base(need)[:6]
    force, moment = need[:3], need[3:] + cross(platform.motion.frame.origin, need[:3])
    attached, origin = mechanism.attach(platform), ca.SX.zeros(3)
    for leg in attached:
        own = FreeBodies(leg, mechanism.gravity).required_wrench(tuple(leg.model.vectors.bodies), origin)
        force, moment = force + own.force, moment + own.moment
    for weight in ActingElements.of(mechanism, platform, attached).weights:
        for push in weight.pushes:
            down, turn = push.about(origin)
            force, moment = force - down, moment - turn
    return ca.vertcat(force, moment)


def base_wrench(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Wrench of the robot on its base, at the origin of {B}; friction counts on a flexible platform, which it bends."""
    x = mechanism.inputs()
    elastic, quality = None, ca.SX(1)
    more: tuple[Port, ...] = ()
    if mechanism.platform.elastic:
        solved = _on_flexible_platform(mechanism, x, friction, loads)
        elastic, quality = solved.elastic, solved.quality
        more = loads.ports if loads else ()
    quality = mechanism.quality(mechanism.attach(mechanism.platform.rest(x)), quality)
    return Expression(
        "base_wrench",
        (*x.state, x.acceleration, x.wrench, *more),
        (port("base", -supporting_wrench(mechanism, x, elastic)), port("quality", quality, ())),
        mechanism.port,
    )


@dataclass(frozen=True)
class FlexibleBalance:
    """Wrenches, actuator forces, elastic accelerations and quality of a robot on a flexible platform."""

    wrenches: JointWrenches
    force: ca.SX
    elastic: ca.SX
    quality: ca.SX


def _on_flexible_platform(mechanism: Mechanism, x: Any, friction: bool, loads: Loads | None) -> FlexibleBalance:
    """Forces by virtual power; every leg's free bodies with the elastic acceleration of its tip."""
    still = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = virtual_power.State.of(mechanism, still, friction, loads)
    solution = virtual_power.inverse_solution(state, x.wrench.symbols)
    wrenches = flexible_wrenches(
        mechanism, x, x.acceleration.symbols, solution.elastic, solution.force, friction, loads
    )
    force = solution.force + state.driven_friction if friction else solution.force
    return FlexibleBalance(wrenches, force, solution.elastic, mechanism.quality(state.legs, solution.quality))


def flexible_wrenches(
    mechanism: Mechanism,
    x: Any,
    acceleration: ca.SX,
    elastic: ca.SX,
    force: ca.SX,
    friction: bool,
    loads: Loads | None,
) -> JointWrenches:
    """Every joint's wrench from a motion and the actuator forces without driven friction.

    What an actuator gives and its leg does not need for itself pushes the platform: f_i of Long (39).
    """
    moving = mechanism.platform.at(x, x.twist.symbols, acceleration, elastic)
    state = virtual_power.State.of(mechanism, moving, friction, loads)
    result, number = [], 0
    for leg in state.legs:
        push = -state.tip_force(leg.number)
        for gradient in leg.coordinate_gradients:
            push, number = push + force[number] * gradient, number + 1
        bodies = FreeBodies(leg, mechanism.gravity, state.elements.on_bodies(leg.number))
        result += leg_wrenches(bodies, push, state.frictions[leg.number])
    return result


def joint_wrenches(legs: list[LegBalance], mu: ca.SX) -> JointWrenches:
    """The wrench of every joint of solved legs."""
    result = []
    for number, leg in enumerate(legs):
        result += leg_wrenches(leg.bodies, leg.tip_force(mu[number]), leg.friction)
    return result


def leg_wrenches(bodies: FreeBodies, tip_force: ca.SX, friction: JointFriction) -> JointWrenches:
    """The same for one leg that pushes the platform with a known force at its tip."""
    tip_point = bodies.leg.series[0][:3]
    on_platform = friction.on_platform.moment
    wrenches = {joint.name: JointWrench(tip_force, on_platform) for joint in bodies.tree.cuts}
    for joint in bodies.tree.tree:
        point = bodies.at_tip(joint.point)
        carried = bodies.required_wrench(bodies.tree.beyond(joint), point)
        moment = carried.moment + cross(tip_point - point, tip_force) + on_platform
        wrenches[joint.name] = JointWrench(carried.force + tip_force, moment)
    return [(bodies.leg.model.name, joint.name, wrenches[joint.name]) for joint in bodies.tree.joints]


def joint_axes(legs: list[LegAtState]) -> ca.SX:
    """The free directions of every joint, one row of two vectors a joint (j, 6), zero where it has fewer."""
    rows = []
    for leg in legs:
        for joint in leg.model.placement.joints:
            axes = [leg.at_tip(axis).T for axis in joint.axes]
            rows.append(ca.horzcat(*axes, ca.SX.zeros(1, 6 - 3 * len(axes))))
    return ca.vertcat(*rows)


# ----------------------------------------------------------------------------------------------------------------------
# Six legs of one universal joint each, free bodies leg by leg, then the platform.
#
# Kim-Ryu (20)-(29), Pedrammehr (31)-(49), corrected.
#
# A leg with one universal joint and a spherical tip leaves one component of its tip force unknown, that along the line
# n from one joint to the other: with N the moment about the universal joint that inertia, gravity and friction ask
# for,
# m c + L x (-R) = N gives R = mu n + ((m c - N) x n)/l, m = N.n/(c.n), where c is perpendicular to both axes of the
# joint. The platform's six equations give the six mu; the actuated joint's balance gives its force.


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
    return simple and mechanism.platform.full and len(mechanism.legs) == 6 and not mechanism.platform.internal


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
    elements = ActingElements.of(mechanism, platform, attached)
    legs = [
        _leg_balance(mechanism, leg, JointFriction.of(leg, friction, loads), elements.on_bodies(leg.number))
        for leg in attached
    ]
    need = platform.required_wrench - wrench
    if elements.overcoming_platform is not None:
        need = need + elements.overcoming_platform
    lines = []
    for leg in legs:
        need = need - leg.leg.force(leg.fixed) - platform.moment(leg.leg.number, leg.friction.on_platform.moment)
        lines.append(ca.vertcat(leg.n, cross(leg.leg.arm, leg.n)))
    return legs, ca.horzcat(*lines), need


def _leg_balance(
    mechanism: Mechanism, leg: LegAtState, friction: JointFriction, applied: Mapping[str, Sequence[Applied]]
) -> LegBalance:
    bodies = FreeBodies(leg, mechanism.gravity, applied)
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


# ----------------------------------------------------------------------------------------------------------------------
# Newton-Euler for any legs: all free bodies at once, with reactions that statics alone cannot determine.
#
# The unknowns x are the constraint forces and moments of the joints that close loops (the platform's, and one in each
# loop inside a leg). The wrench any other joint passes on follows from the bodies beyond it; its passive axes pass on
# nothing. These conditions and the platform's six equations are A x = b. An overconstrained robot has more unknowns
# than equations: any solution gives the same actuator forces, so a fixed choice of columns of A is solved, and a
# reaction is determined if no solution of A x = 0 changes it.


@dataclass(frozen=True)
class GeneralBalance:
    """A solved state: wrench on the child of every joint, actuator forces, quality, and which numbers are determined.

    ``couplings`` are the reactions (c) of couplings, leg by leg. ``determined`` is (joints, 6); the others depend on
    inner stresses that no motion or load decides.
    """

    wrenches: JointWrenches
    force: ca.SX
    couplings: ca.SX
    quality: ca.SX
    determined: NDArray[np.bool_]


class _LegUnknowns:
    """One leg with the unknowns of its loop-closing joints and of its couplings."""

    def __init__(
        self, leg: LegAtState, gravity: ca.SX, friction: JointFriction, applied: Mapping[str, Sequence[Applied]]
    ) -> None:
        self.bodies, self.friction = FreeBodies(leg, gravity, applied), friction
        self.leg, self.tree = leg, self.bodies.tree
        self.x: list[ca.SX] = []
        self.driving: dict[str, ca.SX] = {}
        self.couplings = [ca.SX.sym("coupling") for _ in leg.model.placement.couplings]
        self.x += self.couplings
        self.cut: dict[str, JointWrench] = {joint.name: self._constraint(joint) for joint in self.tree.cuts}

    def _constraint(self, joint: Joint) -> JointWrench:
        """The wrench a joint can pass on to its child: forces, moments about the axes it blocks, its drive."""
        slides = joint.kind in ("prismatic", "cylindrical")
        x = ca.SX.sym("force", 2 if slides else 3)
        self.x.append(x)
        given = self.friction.joint(joint.name)
        force = given.force + (ca.SX.zeros(3) if slides else x)
        moment = given.moment
        axes = [self.bodies.at_tip(axis) for axis in joint.axes]
        blocked: list[ca.SX] = []
        if joint.kind == "universal":
            blocked = [cross(axes[0], axes[1])]
            moment = moment - self._of_cross(joint) * axes[0]
        elif joint.kind in ("revolute", "cylindrical"):
            one = cross(axes[0], _not_along(axes[0]))
            blocked = [one, cross(axes[0], one)]
        if slides:
            # a slide passes no force along itself but friction
            side = cross(axes[0], _not_along(axes[0]))
            force = given.force + x[0] * side + x[1] * cross(axes[0], side)
        if joint.kind == "prismatic":
            blocked = [ca.SX.eye(3)[:, k] for k in range(3)]
        if blocked:
            sizes = ca.SX.sym("moment", len(blocked))
            self.x.append(sizes)
            for k, direction in enumerate(blocked):
                moment = moment + sizes[k] * direction
        for k in range(len(axes)) if self.couplings else ():
            coupled = self._coupling_force(joint, k)
            if joint.kind == "prismatic":
                force = force + coupled * axes[0]
            elif joint.kind == "cylindrical":
                force, moment = force + coupled * axes[0], moment + self._coupling_force(joint, 1) * axes[0]
            else:
                moment = moment + coupled * axes[k]
        actuator = self.leg.model.placement.holder_of(joint.name)
        if actuator is not None:
            drive = self.driving[joint.name] = ca.SX.sym("drive")
            self.x.append(drive)
            if _turns(joint, actuator):
                moment = moment + drive * axes[0]
            else:
                force = force + drive * axes[0]
        return JointWrench(force, moment)

    def _coupling_force(self, joint: Joint, direction: int) -> ca.SX:
        """What couplings apply along a free direction of a joint: each its factor times its reaction."""
        total = ca.SX(0)
        for size, coupling in zip(self.couplings, self.leg.model.placement.couplings, strict=True):
            for term in coupling.joints:
                if (term.joint, term.direction) == (joint.name, direction):
                    total = total + term.factor * size
        return total

    def _of_cross(self, joint: Joint) -> ca.SX:
        """Moment about a universal joint's first axis that its cross takes before anything reaches the child."""
        if not joint.cross_body:
            return ca.SX(0)
        need = self.bodies.required_wrench([joint.cross_body], self.bodies.at_tip(joint.point))
        return dot(self.bodies.at_tip(joint.axes[0]), need.moment)

    def passed_on(self, joint: Joint) -> JointWrench:
        """Wrench on a tree joint's child, moment about the joint's point."""
        point = self.bodies.at_tip(joint.point)
        beyond = self.tree.beyond(joint)
        need = self.bodies.required_wrench(beyond, point)
        force, moment = need.force, need.moment
        for cut in self.tree.cuts:
            sign = float(cut.child in beyond) - float(cut.parent in beyond)
            if sign:
                wrench = self.cut[cut.name].about(self.bodies.at_tip(cut.point), point)
                force, moment = force - sign * wrench.force, moment - sign * wrench.moment
        return JointWrench(force, moment)

    def conditions(self) -> list[ca.SX]:
        """Passive directions of tree joints pass on friction and what couplings apply only."""
        rows = []
        for joint in self.tree.tree:
            actuator, passed = self.leg.model.placement.holder_of(joint.name), self._along_free(joint)
            driven = None if actuator is None else _driven_direction(joint, actuator)
            rows += [row for k, row in enumerate(passed) if k != driven]
        return rows

    def _along_free(self, joint: Joint) -> list[ca.SX]:
        """What a tree joint passes on along its free directions, without friction and couplings."""
        passed = self._passed_along(joint)
        return [row - self._coupling_force(joint, k) for k, row in enumerate(passed)] if self.couplings else passed

    def _passed_along(self, joint: Joint) -> list[ca.SX]:
        """What a tree joint passes on along its free directions, without friction."""
        passed, friction = self.passed_on(joint), self.friction.joint(joint.name)
        axes = [self.bodies.at_tip(axis) for axis in joint.axes]
        along = dot(axes[0], passed.force - friction.force) if axes else ca.SX(0)
        if joint.kind == "prismatic":
            return [along]
        if joint.kind == "cylindrical":
            return [along, dot(axes[0], passed.moment - friction.moment)]
        directions = axes if joint.kind != "spherical" else [ca.SX.eye(3)[:, k] for k in range(3)]
        if joint.kind == "universal" and self.leg.model.without_spin(joint.child):
            # the moment of a joint whose link does not spin is along the link
            link = self.leg.model.vectors.bodies[joint.child]
            assert link.along is not None
            directions = [self.bodies.vector(link.refs[(link.along + k) % 3]) for k in (1, 2)]
        moments = [dot(axis, passed.moment - friction.moment) for axis in directions]
        return [moments[0] + self._of_cross(joint), *moments[1:]]

    def actuator_forces(self) -> list[ca.SX]:
        """Force along each driven joint, with what the rotor and friction take, conjugate to the coordinate."""
        forces, rotors = [], self.leg.rotor_forces
        for k, actuator in enumerate(self.leg.model.actuators):
            passed = self.driving.get(actuator.joint)
            if passed is None:
                joint = self.leg.model.placement.joint(actuator.joint)
                passed = self._along_free(joint)[_driven_direction(joint, actuator)]
            forces.append(passed / actuator.ratio + rotors[k] + self.friction.at_actuators[k])
        return forces

    def on_platform(self) -> JointWrench:
        """Sum over the joints at the platform, moment about the origin of {P}."""
        force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
        for joint in self.tree.cuts:
            if joint.child == "platform":
                arm = self.bodies.at_tip(joint.point) - (self.leg.series[0][:3] - self.leg.arm)
                wrench = self.cut[joint.name]
                force, moment = force + wrench.force, moment + wrench.moment + cross(arm, wrench.force)
        return JointWrench(force, moment)

    def fixed_to_platform(self) -> ca.SX:
        """What the motion of bodies fixed to the platform takes (6), moment about the origin of {P}."""
        origin = self.leg.series[0][:3] - self.leg.arm
        need = self.bodies.required_wrench(self.tree.on_platform, origin)
        return ca.vertcat(need.force, need.moment)

    def wrenches(self) -> JointWrenches:
        """(leg, joint, wrench on its child) in the order of the leg's joints."""
        known = {joint.name: self.passed_on(joint) for joint in self.tree.tree} | self.cut
        return [(self.leg.model.name, joint.name, known[joint.name]) for joint in self.tree.joints]


def general_balance(
    mechanism: Mechanism,
    x: Inputs,
    platform: PlatformState,
    friction: bool,
    loads: Loads | None,
    shared: ca.SX | None,
) -> GeneralBalance:
    """Solve the free bodies of a robot with legs of any kind.

    Statics leaves the forces of more actuators than degrees of freedom open: ``shared`` (n) are what they apply.
    """
    attached = mechanism.attach(platform)
    elements = ActingElements.of(mechanism, platform, attached)
    legs = [
        _LegUnknowns(leg, mechanism.gravity, JointFriction.of(leg, friction, loads), elements.on_bodies(leg.number))
        for leg in attached
    ]
    unknowns = ca.vertcat(*[part for leg in legs for part in leg.x])
    rows = [row for leg in legs for row in leg.conditions()]
    rest = platform.required_wrench - platform.external(x.wrench.symbols)
    if elements.overcoming_platform is not None:
        rest = rest + elements.overcoming_platform
    rest = rest[:6]  # internal coordinates move bodies of legs alone
    for leg in legs:
        pull = leg.on_platform()
        rest = rest + leg.fixed_to_platform() - ca.vertcat(pull.force, pull.moment)
    forces = ca.vertcat(*[force for leg in legs for force in leg.actuator_forces()])
    if shared is not None:
        rows.append(forces - shared)
    residual = ca.vertcat(*rows, rest)
    zero = ca.SX.zeros(unknowns.numel())
    matrix, right = ca.jacobian(residual, unknowns), -ca.substitute(residual, unknowns, zero)
    named = [item for leg in legs for item in leg.wrenches()]
    couplings = ca.vertcat(*[part for leg in legs for part in leg.couplings], ca.SX(0, 1))
    stacked = ca.vertcat(*[ca.vertcat(w.force, w.moment) for _, _, w in named], couplings)
    samples = _samples(mechanism, x, [matrix, ca.jacobian(stacked, unknowns)])
    used = _rows([a for a, _ in samples])
    if len(used) < matrix.size1():
        owners = [leg.leg.model.name for leg in legs for row in leg.conditions()]
        _refuse_contradictions(mechanism, x, matrix, right, owners)
    chosen = _columns([a[used] for a, _ in samples])
    solution = solve_sparse(matrix[used, chosen], right[used])
    values = ca.SX.zeros(unknowns.numel())
    values[chosen] = solution.x
    solved_forces, solved = ca.substitute([forces, stacked], [unknowns], [values])
    determined, solved_couplings = _determined(samples), solved[6 * len(named) :]
    solved_couplings[np.flatnonzero(~determined[6 * len(named) :]).tolist(), 0] = np.nan
    wrenches = [
        (leg, joint, JointWrench(solved[6 * k : 6 * k + 3], solved[6 * k + 3 : 6 * k + 6]))
        for k, (leg, joint, _) in enumerate(named)
    ]
    if mechanism.simplify == "no-spin" and shared is None:
        _refuse_spin(mechanism, x, platform, solved_forces, friction, loads)
    quality = mechanism.quality(attached, solution.quality)
    joints = determined[: 6 * len(named)].reshape(-1, 6)
    return GeneralBalance(wrenches, solved_forces, solved_couplings, quality, joints)


def _turns(joint: Joint, actuator: Actuator) -> bool:
    """Whether an actuator turns its joint: of a cylindrical one its unit says so, of others their kind.

    A slide behind a screw has a coordinate in rad all the same.
    """
    return joint.kind == "revolute" or (joint.kind == "cylindrical" and actuator.unit == "rad")


def _driven_direction(joint: Joint, actuator: Actuator) -> int:
    """Which of a joint's free directions its actuator drives; a cylindrical joint slides along the first."""
    return int(joint.kind == "cylindrical" and _turns(joint, actuator))


def _not_along(axis: ca.SX) -> ca.SX:
    """A direction that is not along an axis (a constant one for hinges that do not move)."""
    zeros = [k for k in range(3) if axis[k].is_zero()]
    if zeros:
        return ca.SX.eye(3)[:, zeros[0]]
    return ca.vertcat(axis[1], axis[2], axis[0]) + ca.DM([0.3, 0.5, 0.7])


_ENOUGH = 8
_AROUND_HOME = ((_ENOUGH, 0.3), (64, 0.1), (64, 0.01), (64, 1e-3))
"""How many poses are tried, and how far from home [platform sizes, rad], one after the other until legs close."""


def _samples(mechanism: Mechanism, x: Inputs, expressions: list[ca.SX]) -> list[tuple[Array, Array]]:
    """The matrices at a few poses around home, for choices that must hold in all of them."""
    inputs = [x.place_symbols, mechanism.places, mechanism.numbers.symbols]
    function = ca.Function("sample", inputs, [ca.densify(e) for e in expressions])
    still = np.zeros(mechanism.platform.internal)
    result: list[tuple[Array, Array]] = []
    for count, reach in _AROUND_HOME:  # legs of a home that is nearly out of reach close very near to it only
        for pose, places in closed_around_home(mechanism, count, reach):
            place = np.r_[pose.ravel(), still]
            a, b = (np.array(value) for value in function(place, places, mechanism.numbers.values))
            if np.isfinite(a).all() and np.isfinite(b).all():
                result.append((a, b))
        if result:
            return result[:_ENOUGH]
    raise InputError(
        f"newton-euler: {mechanism.robot.name!r}: at none of {sum(n for n, _ in _AROUND_HOME)} poses around home all "
        "legs close, so its free bodies cannot be analysed; move home to where they do, or use virtual-power",
        code="does_not_close",
    )


def _refuse_contradictions(mechanism: Mechanism, x: Inputs, matrix: ca.SX, right: ca.SX, owners: list[str]) -> None:
    """Raise if equations that follow from others ask for something else: at random motions A x = b has no solution.

    ``owners`` are the legs of the first equations.
    """
    for a, b in _at_random_motions(mechanism, x, [matrix, right]):
        left = np.abs(a @ np.linalg.lstsq(a, b, rcond=1e-9)[0] - b).ravel()
        if left.max() > 1e-9 * np.abs(b).max():
            worst = int(left.argmax())
            leg = owners[worst] if worst < len(owners) else mechanism.robot.name
            raise InputError(
                f"newton-euler: {leg}: place() prescribes a motion that its joints leave free (such as the spin "
                "of a strut between two spherical joints), and no moment causes it; constrain it by a joint, or use "
                "virtual-power",
                code="idle_motion",
            )


def _refuse_spin(
    mechanism: Mechanism, x: Inputs, platform: PlatformState, forces: ca.SX, friction: bool, loads: Loads | None
) -> None:
    """Raise if links that are taken not to spin have no free bodies: forces are not those of virtual power then."""
    state = virtual_power.State.of(mechanism, platform, friction, loads)
    wanted = virtual_power.inverse_solution(state, x.wrench.symbols).force + state.driven_friction
    for found, known in _at_random_motions(mechanism, x, [forces, wanted]):
        if np.abs(found - known).max() > 1e-9 * np.abs(known).max():
            raise InputError(
                f"newton-euler: no-spin: joints of {mechanism.robot.name!r} make its links spin differently from "
                "a universal joint, which no free body does; use virtual-power or lagrange"
            )


def _at_random_motions(mechanism: Mechanism, x: Inputs, expressions: list[ca.SX]) -> Iterator[list[Array]]:
    """Expressions at random motions in a few poses around home, where all are finite."""
    motion = [x.twist.symbols, x.acceleration.symbols, x.wrench.symbols]
    given = [x.place_symbols, *motion, mechanism.places, mechanism.numbers.symbols]
    wide = 6 + mechanism.platform.internal
    # loads, weights, preloads and the motion of a base: their values do not matter
    others = [s for s in ca.symvar(ca.veccat(*expressions)) if not ca.depends_on(ca.vertcat(*given), s)]
    function = ca.Function("sample", [*given, ca.vertcat(*others)], [ca.densify(e) for e in expressions])
    draw = np.random.default_rng(1)
    for pose, places in closed_around_home(mechanism, 8, 0.3)[:4]:
        numbers = [
            *(draw.normal(size=k) for k in (wide, wide, 6)),
            places,
            mechanism.numbers.values,
            np.ones(len(others)),
        ]
        values = [np.array(v) for v in function(np.r_[pose.ravel(), np.zeros(wide - 6)], *numbers)]
        if all(np.isfinite(value).all() for value in values):
            yield values


def _rows(matrices: list[Array]) -> list[int]:
    """Rows that are independent at all samples; the others follow from them."""
    rank = max(int(np.linalg.matrix_rank(a, tol=1e-9 * np.abs(a).max())) for a in matrices)
    if rank == matrices[0].shape[0]:
        return list(range(rank))
    picks = [sorted(scipy.linalg.qr(a.T, pivoting=True)[2][:rank].tolist()) for a in matrices]
    worst = [min(np.linalg.svd(a[p], compute_uv=False)[-1] for a in matrices) for p in picks]
    return picks[int(np.argmax(worst))]


def _columns(matrices: list[Array]) -> list[int]:
    """As many columns as there are rows, as independent as can be at all samples."""
    rows = matrices[0].shape[0]
    candidates = [sorted(scipy.linalg.qr(a, pivoting=True)[2][:rows].tolist()) for a in matrices]
    worst = [min(np.linalg.svd(a[:, c], compute_uv=False)[-1] for a in matrices) for c in candidates]
    return candidates[int(np.argmax(worst))]


def _determined(samples: list[tuple[Array, Array]]) -> NDArray[np.bool_]:
    """Which numbers of the joints' wrenches and the couplings no inner stress changes, at any sample."""
    moved = np.zeros(samples[0][1].shape[0])
    for matrix, dependence in samples:
        stresses = scipy.linalg.null_space(matrix, rcond=1e-9)
        if stresses.size:
            moved = np.maximum(moved, np.abs(dependence @ stresses).max(axis=1))
    return moved < 1e-9
