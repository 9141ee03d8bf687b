"""Lagrange: inertia, Coriolis and gravity matrices from the energies of the bodies, Lopes sections 3.1-3.3.

I du/dt + V u + G = J^T f + w_ext, each of I, V and G the sum of the parts ``platform``, ``actuators`` (what moves only
along an actuated coordinate), ``translating links`` (every other leg body's mass at its centre) and ``rotating links``
(its inertia about the centre), (73)-(75). u is the twist.
"""

from __future__ import annotations

import casadi as ca

from ...errors import InputError
from ...friction import JointFriction, Loads, actuator_friction
from ...mechanism import Mechanism
from ...platforms import FrameMotion
from ...symbols.expression import Expression, port
from ..solution import ForceDistribution, actuator_forces, motion_inputs
from .legs import LegEnergies
from .parts import PARTS, Matrices, platform_matrices


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: tau = J^-T (I du/dt + V u + G - w_ext), (2) and (70)-(72).

    Every leg's I, V and G act on its tip's coordinates; only their force is carried to the platform.
    """
    if mechanism.platform.elastic:
        raise InputError("lagrange: a flexible platform has virtual-power and newton-euler forms only")
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform, attached = mechanism.moving(x)
    motion = platform.motion
    twist, change = ca.vertcat(motion.v, motion.omega), ca.vertcat(motion.a, motion.alpha)
    required = platform_part(mechanism, motion).force(twist, change) - x.wrench.symbols
    frictions = [JointFriction.of(leg, friction, loads) for leg in attached]
    rows = []
    for leg, joints in zip(attached, frictions, strict=True):
        energies = LegEnergies(leg, mechanism.gravity)
        place, rate, half = energies.series
        force = Matrices(*energies.matrices(PARTS)(place, rate)).force(rate, 2 * half)
        if joints.by_joint:
            extra, on_platform = joints.overcoming()
            force = force + leg.model.pull_back(leg.values, extra)
            required = required + on_platform
        required = required + leg.force(force)
        derivatives = energies.coordinate_jacobian()(place, rate)
        rows += [platform.reduced(leg.force(derivatives[:, k])) for k in range(len(leg.model.actuators))]
    driven = actuator_friction(frictions)
    solution = actuator_forces(ca.horzcat(*rows).T, platform.reduced(required), distribution, driven)
    result = solution.x + driven if friction else solution.x
    return Expression(
        "inverse_dynamics",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (port("force", result), port("quality", mechanism.quality(attached, solution.quality), ())),
        mechanism.port,
    )


def platform_part(mechanism: Mechanism, motion: FrameMotion) -> Matrices:
    """I, V and G of the platform at a motion, with respect to its twist."""
    body, axes = mechanism.numbers.platform, motion.frame.axes
    tensor = axes @ body.central_tensor @ axes.T
    twist = ca.vertcat(motion.v, motion.omega)
    return platform_matrices(body.mass, axes @ body.com, tensor, mechanism.gravity, twist)
