"""Lagrange: inertia, Coriolis and gravity matrices from the energies of the bodies, Lopes sections 3.1-3.3.

I du/dt + V u + G = J^T f + w_ext, each of I, V and G the sum of the parts ``platform``, ``actuators`` (what moves only
along an actuated coordinate), ``translating links`` (every other leg body's mass at its centre) and ``rotating links``
(its inertia about the centre), (73)-(75). u is the twist (``base``), or the rates of [p, Euler angles] (``euler``).
"""

from __future__ import annotations

import casadi as ca

from ...errors import InputError, UnknownNameError
from ...friction import JointFriction, Loads, actuator_friction
from ...mechanism import Mechanism
from ...platforms import Motion
from ...symbols.expression import Expression, port
from ...symbols.vectors import dot
from ..solution import Distribution, actuator_forces, motion_inputs
from .coordinates import State, tip_maps
from .legs import LegEnergies, carriers
from .parts import PARTS, Matrices, platform_matrices


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: tau = J^-T (I du/dt + V u + G - w_ext), (2) and (70)-(72).

    Every leg's I, V and G act on its tip's coordinates; only their force is carried to the platform.
    """
    if mechanism.platform.elastic:
        raise InputError("lagrange: a flexible platform has virtual-power and newton-euler forms only")
    x, distribution = mechanism.inputs(), Distribution.of(mechanism)
    platform, attached = mechanism.moving(x)
    motion = platform.motion
    twist, change = ca.vertcat(motion.v, motion.omega), ca.vertcat(motion.a, motion.alpha)
    demand = _platform(mechanism, motion).force(twist, change) - x.wrench.symbols
    frictions = [JointFriction.of(leg, friction, loads) for leg in attached]
    rows = []
    for leg, joints in zip(attached, frictions, strict=True):
        energies = LegEnergies(leg, mechanism.gravity)
        place, rate, half = energies.series
        force = Matrices(*energies.matrices(PARTS)(place, rate)).force(rate, 2 * half)
        if joints.by_joint:
            extra, on_platform = joints.overcoming()
            force = force + leg.model.pull_back(leg.values, extra)
            demand = demand + on_platform
        demand = demand + leg.force(force)
        slopes = energies.coordinate_slopes()(place, rate)
        rows += [platform.reduced(leg.force(slopes[:, k])) for k in range(len(leg.model.actuators))]
    driven = actuator_friction(frictions)
    solution = actuator_forces(ca.horzcat(*rows).T, platform.reduced(demand), distribution, driven)
    result = solution.x + driven if friction else solution.x
    return Expression(
        "inverse_dynamics",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (port("force", result), port("quality", mechanism.quality(attached, solution.quality), ())),
        mechanism.port,
    )


def matrices(mechanism: Mechanism, part: str | None = None, coordinates: str = "base") -> Expression:
    """I (m, m), V (m, m) and G (m) of one part, or of the whole robot, without friction.

    ``base``: inputs pose and twist. ``euler``: inputs x = [p, angles] in the robot's convention and xdot; the
    matrices are T^T I T (28), T^T (V T + I Tdot) and T^T G, which is (76)-(79) of I_E.
    """
    if part is not None and part not in PARTS:
        raise UnknownNameError("part", part, PARTS)
    parts = PARTS if part is None else (part,)
    state = State(mechanism, coordinates)
    platform, motion = state.platform, state.platform.motion
    result = Matrices(ca.SX.zeros(6, 6), ca.SX.zeros(6, 6), ca.SX.zeros(6))
    if "platform" in parts:
        result = result + _platform(mechanism, motion)
    for leg in mechanism.attach(platform) if parts != ("platform",) else []:
        energies = LegEnergies(leg, mechanism.gravity)
        own = Matrices(*energies.matrices(parts)(*energies.series[:2]))
        result = result + own.carried(*tip_maps(leg, motion.omega))
    if not mechanism.platform.full:
        basis = platform.reduced(ca.SX.eye(6)).T
        result = result.carried(basis, ca.SX.zeros(*basis.shape))
    if state.carry is not None:
        result = result.carried(*state.carry)
    outputs = (port("inertia", result.inertia), port("coriolis", result.coriolis), port("gravity", result.gravity))
    return Expression("lagrange_matrices", state.inputs, outputs, mechanism.port)


def energies(mechanism: Mechanism, coordinates: str = "base") -> Expression:
    """Kinetic and potential energy (k,) [J] of every body in the order of :func:`body_names`, (15) and (66)."""
    state = State(mechanism, coordinates)
    motion = state.platform.motion
    twist = ca.vertcat(motion.v, motion.omega)
    body = mechanism.numbers.platform
    centre = motion.frame.origin + motion.frame.axes @ body.com
    kinetic = [0.5 * ca.dot(twist, _platform(mechanism, motion).inertia @ twist)]
    potential = [-body.mass * dot(mechanism.gravity, centre)]
    for leg in mechanism.attach(state.platform):
        found = LegEnergies(leg, mechanism.gravity)
        k, p = found.by_body()(*found.series[:2])
        kinetic.append(k)
        potential.append(p)
    outputs = (port("kinetic", ca.vertcat(*kinetic)), port("potential", ca.vertcat(*potential)))
    return Expression("lagrange_energies", state.inputs, outputs, mechanism.port)


def body_names(mechanism: Mechanism) -> tuple[str, ...]:
    """``platform``, then ``leg.body`` for every body and every mass that moves with a coordinate."""
    return ("platform", *(f"{leg.name}.{body}" for leg in mechanism.legs for body in carriers(leg)))


def _platform(mechanism: Mechanism, motion: Motion) -> Matrices:
    body, axes = mechanism.numbers.platform, motion.frame.axes
    tensor = axes @ body.central_tensor @ axes.T
    twist = ca.vertcat(motion.v, motion.omega)
    return platform_matrices(body.mass, axes @ body.com, tensor, mechanism.gravity, twist)
