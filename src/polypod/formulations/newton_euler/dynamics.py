"""Newton-Euler: actuator forces and every joint's reaction, by the balance that suits the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...friction import JointFriction, Loads
from ...mechanism import LegAtState, Mechanism
from ...mechanism.free_bodies import FreeBodies, JointWrench, JointWrenches
from ...symbols.expression import Expression, port
from ...symbols.vectors import cross
from .. import virtual_power
from ..solution import ForceDistribution, motion_inputs
from .closed_form import LegBalance, balance, has_closed_form
from .general import general_balance


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench."""
    full = reactions(mechanism, friction, loads)
    return Expression("inverse_dynamics", full.inputs, full.outputs[2:], full.parameters)


def reactions(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Wrench [f; m] on the child of every joint at the joint's point (j, 6), base axes, joints in order of the legs.

    Numbers that inner stresses leave open are NaN.
    """
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    elastic: tuple[Any, ...] = ()
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
            port("quality", quality, ()),
        ),
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
        for slope in leg.coordinate_gradients:
            push, number = push + force[number] * slope, number + 1
        result += leg_wrenches(FreeBodies(leg, mechanism.gravity), push, state.frictions[leg.number])
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
