"""Recursive matrix relations: Staicu et al. (10)-(18), corrected, for legs of any joints.

Outwards along every leg: relative rates from the conditions of connectivity (14), (15), then absolute velocities and
accelerations (10)-(13). Backwards: forces and moments (18). The actuators' forces (17) have the power of all joints,
sum of virtual rate times force or moment, in every virtual motion of the platform: with J by the same virtual rates,
J^T f = w. The platform is the last body of the last leg; the other legs end at their platform joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...errors import InputError
from ...friction import Loads
from ...mechanism import LegAtState, Mechanism
from ...platforms import PlatformState
from ...platforms.motion import pose_of
from ...symbols.expression import Expression, port
from ...symbols.vectors import Frame, cross
from ..solution import ForceDistribution, actuator_forces, motion_inputs
from .leg import RecursiveLeg, TipMotion
from .recursions import Acceleration, Load, inertia_load, turning

_ZERO = ca.SX.zeros(3)


def platform_load(mechanism: Mechanism, platform: PlatformState, leg: LegAtState, wrench: ca.SX) -> Load:
    """What the platform needs at a leg's tip, base axes: (18) in its own axes, about the tip, less the wrench on it."""
    motion, inertia, arm = platform.motion, mechanism.numbers.platform, leg.model.arm
    axes = motion.frame.axes
    first = inertia.first - inertia.mass * arm
    second = inertia.second - inertia.first @ arm.T - arm @ inertia.first.T + inertia.mass * arm @ arm.T
    tensor = ca.trace(second) * ca.SX.eye(3) - second
    omega, epsilon = axes.T @ motion.omega, axes.T @ motion.alpha
    lift = axes.T @ (2 * leg.tip.series[2] - mechanism.gravity)
    load = inertia_load(inertia.mass, first, tensor, omega, Acceleration(epsilon, lift, turning(omega, epsilon)))
    force = axes @ load.force - wrench[:3]
    return Load(force, axes @ load.moment - wrench[3:] + cross(leg.arm, wrench[:3]))


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: J^T f = w, all from the recursions."""
    if mechanism.platform.elastic:
        raise InputError("recursive-matrix: a flexible platform has virtual-power and newton-euler forms only")
    if mechanism.simplify == "no-spin":
        raise InputError("recursive-matrix: no-spin contradicts the joints, whose rates this formulation is made of")
    if mechanism.implicit_legs:
        names = ", ".join(mechanism.robot.legs[k].name for k in mechanism.implicit_legs)
        raise InputError(
            f"recursive-matrix: {names} of {mechanism.robot.name!r} close by iterating and their angles are needed in "
            "closed form; use virtual-power, newton-euler or lagrange"
        )
    if mechanism.platform.is_constrained:
        raise InputError(
            f"recursive-matrix: what the platform of {mechanism.robot.name!r} can do changes from pose to pose, and "
            "the joints that carry it are chosen once; use virtual-power, newton-euler or lagrange"
        )
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(platform)
    rows, required, at_actuators = [], ca.SX.zeros(6), []
    for leg in attached:
        last = leg is attached[-1]
        carried = platform_load(mechanism, platform, leg, x.wrench.symbols) if last else None
        forces = _LegForces.at(mechanism, leg, platform, carried, friction, loads)
        required = required + _at_origin(leg, forces.force, forces.moment)
        rows += [_at_origin(leg, *row) for row in forces.rows]
        at_actuators.append(forces.driven_friction)
    jacobian, driven = platform.reduced(ca.horzcat(*rows)).T, ca.vertcat(*at_actuators)
    solution = actuator_forces(jacobian, platform.reduced(required), distribution, driven)
    quality = mechanism.quality(attached, solution.quality)
    if mechanism.port is not None:
        quality = ca.fmin(quality, _quality_at_home(mechanism))
    return Expression(
        "inverse_dynamics",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (port("force", solution.x + ca.vertcat(*at_actuators)), port("quality", quality, ())),
        mechanism.port,
    )


@dataclass(frozen=True)
class _LegForces:
    """A leg at a state: force and moment that it needs at its tip, those of its actuators' unit forces, friction."""

    force: ca.SX
    moment: ca.SX
    rows: list[tuple[ca.SX, ca.SX]]
    driven_friction: ca.SX

    @staticmethod
    def at(
        mechanism: Mechanism,
        leg: LegAtState,
        platform: PlatformState,
        carried: Load | None,
        friction: bool,
        loads: Loads | None,
    ) -> _LegForces:
        """The leg's recursions in the symbols of its placement, then at the state."""
        recursive, tip = RecursiveLeg(mechanism, leg.model), TipMotion.symbols()
        need = Load(ca.SX.sym("F", 3), ca.SX.sym("M", 3))
        moved = recursive.motion(tip)
        power = recursive.power(tip, moved, need if carried is not None else None, friction, loads)
        rows = [part for row in recursive.rows() for part in row]
        symbols = [leg.model.all_inputs, tip.v, tip.omega, tip.a, tip.alpha, need.force, need.moment]
        point, velocity, half = leg.tip.series
        motion, load = platform.motion, carried if carried is not None else Load(_ZERO, _ZERO)
        here = ca.vertcat(point, ca.vec(leg.axes))
        values = [here, velocity, motion.omega, 2 * half, motion.alpha, load.force, load.moment]
        outputs = [*power, recursive.driven_friction(moved, friction, loads), *rows]
        force, moment, driven, *flat = ca.substitute(outputs, symbols, [ca.densify(value) for value in values])
        return _LegForces(force, moment, list(zip(flat[::2], flat[1::2], strict=True)), driven)


def _at_origin(leg: LegAtState, force: ca.SX, moment: ca.SX) -> ca.SX:
    """A force at a leg's tip and a moment as a wrench at the origin of {P}, base axes."""
    return ca.vertcat(force, cross(leg.arm, force) + moment)


def _quality_at_home(mechanism: Mechanism) -> ca.SX:
    """The smallest margin of the legs at home, where constants of a design are computed: a design must reach it."""
    numbers = mechanism.numbers
    x = mechanism.inputs()
    x.pose = port("pose", pose_of(Frame(numbers.home_position, ca.densify(numbers.home_rotation))), (4, 4))
    return mechanism.quality(mechanism.resting(x)[1])
