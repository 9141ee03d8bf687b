"""Recursive matrix relations: Staicu et al. (10)-(18), corrected, for legs of any joints.

Outwards along every leg: relative rates from the conditions of connectivity (14), (15), then absolute velocities and
accelerations (10)-(13). Backwards: forces and moments (18). The actuators' forces (17) have the power of all joints,
sum of virtual rate times force or moment, in every virtual motion of the platform: with J by the same virtual rates,
J^T f = w. The platform is the last body of the last leg; the other legs end at their platform joints.
"""

from __future__ import annotations

import casadi as ca

from ...errors import InputError
from ...friction.joints import Loads
from ...mechanism import Attached, Mechanism, Motion
from ...mechanism.inputs import Inputs
from ...symbols.expression import Expression, port
from ...symbols.linear import solve_general
from ...symbols.vectors import cross
from .leg import RecursiveLeg, Resistance, TipMotion
from .recursions import Acceleration, Load, inertia_load, turning

_ZERO = ca.SX.zeros(3)


def platform_load(mechanism: Mechanism, motion: Motion, leg: Attached, tip: TipMotion, wrench: ca.SX) -> Load:
    """What the platform needs at a leg's tip, base axes: (18) in its own axes, about the tip, less the wrench on it."""
    axes, inertia, arm = motion.frame.axes, mechanism.platform, leg.model.arm
    first = inertia.first - inertia.mass * arm
    second = inertia.second - inertia.first @ arm.T - arm @ inertia.first.T + inertia.mass * arm @ arm.T
    tensor = ca.trace(second) * ca.SX.eye(3) - second
    omega, epsilon = axes.T @ tip.omega, axes.T @ tip.alpha
    moved = Acceleration(epsilon, axes.T @ (tip.a - mechanism.gravity), turning(omega, epsilon))
    load = inertia_load(inertia.mass, first, tensor, omega, moved)
    force = axes @ load.force - wrench[:3]
    return Load(force, axes @ load.moment - wrench[3:] + cross(leg.arm, wrench[:3]))


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: J^T f = w, all from the recursions."""
    if mechanism.simplify == "no-spin":
        raise InputError("recursive-matrix: no-spin contradicts the joints, whose rates this formulation is made of")
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(motion)
    resistance = Resistance(loads) if friction else None
    rows, demand = [], ca.SX.zeros(6)
    for leg in attached:
        tip = TipMotion(leg.series[1][:3], motion.omega, 2 * leg.series[2][:3], motion.alpha)
        carried = platform_load(mechanism, motion, leg, tip, x.wrench.symbols) if leg is attached[-1] else None
        force, moment, row_force, row_moment = _leg_at(mechanism, leg, tip, carried, resistance)
        demand = demand + ca.vertcat(force, cross(leg.arm, force) + moment)
        rows.append(ca.vertcat(row_force, cross(leg.arm, row_force) + row_moment))
    matrix = mechanism.in_freedoms(ca.horzcat(*rows))
    solution = solve_general(matrix, mechanism.in_freedoms(demand))
    return Expression(
        "inverse_dynamics",
        (x.pose, x.twist, x.acceleration, x.wrench, *(loads.ports if loads else ())),
        (port("force", solution.x), port("quality", mechanism.quality(attached, solution.quality), ())),
    )


def _leg_at(
    mechanism: Mechanism, leg: Attached, tip: TipMotion, carried: Load | None, resistance: Resistance | None
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Force and moment of a leg at its tip, and of its actuator's unit force, at this state."""
    recursive, motion = RecursiveLeg(mechanism, leg.model), TipMotion.symbols()
    load = Load(ca.SX.sym("F", 3), ca.SX.sym("M", 3))
    outputs = [*recursive.power(motion, load if carried is not None else None, resistance), *recursive.row()]
    symbols = [leg.model.all_inputs, motion.v, motion.omega, motion.a, motion.alpha, load.force, load.moment]
    pressed = resistance.loads.ports if resistance is not None and resistance.loads is not None else ()
    extra = [p.symbols for p in pressed]
    function = ca.Function("leg", [*symbols, *extra], outputs)
    here = ca.vertcat(leg.series[0][:3], ca.vec(leg.axes))
    at = carried if carried is not None else Load(_ZERO, _ZERO)
    values = [here, tip.v, tip.omega, tip.a, tip.alpha, at.force, at.moment]
    force, moment, row_force, row_moment = function(*values, *extra)
    return force, moment, row_force, row_moment
