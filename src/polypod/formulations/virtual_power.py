"""Virtual power: dynamics derived from the positions of the bodies alone.

For every virtual motion the power of inertia, gravity, friction and external forces equals that of the actuators:
J^T f = w with w the sum over platform and legs. A leg contributes sum_k (dc_k/dtip)^T W_k at its tip, where c_k are
its moving vectors and W_k = sum_l J_kl cddot_l - gamma_k g.
"""

from __future__ import annotations

import casadi as ca

from ..kernels import Expression, port
from ..mechanism import Attached, Mechanism, Motion
from ..mechanism.inputs import Inputs
from ..symbols.linear import solve_general, solve_symmetric
from ..symbols.vectors import dot


def generalized_force(mechanism: Mechanism, motion: Motion, attached: list[Attached], friction: bool) -> ca.SX:
    """w of J^T f = w for a motion without external wrench, a wrench of six at the origin of {P}, base axes."""
    wrench = mechanism.platform.force(motion, mechanism.gravity)
    for leg in attached:
        model = leg.model
        forces = model.inertia_forces(model.half_accelerations(leg.series), mechanism.gravity)
        if friction:
            extra, moment = viscous_moments(leg, motion)
            forces = forces + extra
            wrench = wrench + ca.vertcat(ca.SX.zeros(3), moment)
        wrench = wrench + leg.wrench(model.pull_back(leg.values, forces))
    return wrench


def viscous_moments(leg: Attached, motion: Motion) -> tuple[ca.SX, ca.SX]:
    """What overcomes viscous friction in the rotary joints: forces (3, K) on the leg's vectors, moment on the platform.

    A joint with coefficient C and relative angular velocity omega_rel takes the moment C omega_rel on its child
    and the opposite on its parent.
    """
    model = leg.model
    forces, on_platform = ca.SX.zeros(3, len(model.columns)), ca.SX.zeros(3)
    joints = [j for j in model.placement.joints if j.kind != "prismatic" and _viscous(model.leg, j.friction)]
    if not joints:
        return forces, on_platform
    vectors, rates = model.velocities(leg.series)
    spin = {"base": ca.SX.zeros(3), "platform": motion.omega}
    bodies = {name for j in joints for name in (j.parent, j.child)}
    spin |= {name: model.angular_velocity(name, vectors, rates) for name in bodies if name not in spin}
    moments = {name: ca.SX.zeros(3) for name in bodies}
    for joint in joints:
        moment = _viscous(model.leg, joint.friction) * (spin[joint.child] - spin[joint.parent])
        moments[joint.child] += moment
        moments[joint.parent] -= moment
    for name, moment in moments.items():
        if name == "platform":
            on_platform = moment
        elif name != "base":
            forces = forces + model.moment_forces(name, vectors, moment)
    return forces, on_platform


def actuator_friction(mechanism: Mechanism, attached: list[Attached], motion: Motion) -> ca.SX:
    """Viscous friction in the actuated joints, C qdot (n)."""
    twist = ca.vertcat(motion.v, motion.omega)
    forces = []
    for leg in attached:
        sliding = (j.friction for j in leg.model.placement.joints if j.kind == "prismatic")
        coefficient = sum(_viscous(leg.model.leg, name) for name in sliding)
        rate = dot(leg.row[:3], twist[:3]) + dot(leg.row[3:], twist[3:])
        forces.append(coefficient * rate)
    return ca.vertcat(*forces)


def _viscous(leg: object, field: str) -> float:
    return float(getattr(leg, field).viscous) if field else 0.0


def inverse_dynamics(mechanism: Mechanism, friction: bool) -> Expression:
    """Actuator forces for a motion and an external wrench: J^T f = w - w_ext."""
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(motion)
    demand = generalized_force(mechanism, motion, attached, friction) - x.wrench.symbols
    solution = solve_general(mechanism.jacobian(attached).T, mechanism.in_freedoms(demand))
    force = solution.x + actuator_friction(mechanism, attached, motion) if friction else solution.x
    return Expression(
        "inverse_dynamics",
        (x.pose, x.twist, x.acceleration, x.wrench),
        (port("force", force), port("quality", mechanism.quality(attached, solution.quality), ())),
    )


def mass_matrix(mechanism: Mechanism, attached: list[Attached], axes: ca.SX) -> ca.SX:
    """Inertia matrix of the whole robot with respect to its freedoms, (m, m), symmetric."""
    total = mechanism.platform.matrix(axes)
    for leg in attached:
        total = total + leg.transported(leg.model.inertia(leg.values))
    if mechanism.freedoms.full:
        return total
    basis = ca.DM(mechanism.freedoms.basis)
    return basis.T @ total @ basis


def mass(mechanism: Mechanism) -> Expression:
    """The mass matrix as a function of the pose."""
    x = Inputs()
    zero = ca.SX.zeros(6)
    motion = mechanism.freedoms.motion(x.pose.symbols, zero, zero)
    attached = mechanism.attach(motion)
    matrix = mass_matrix(mechanism, attached, motion.frame.axes)
    return Expression("mass_matrix", (x.pose,), (port("mass_matrix", matrix),))


def bias(mechanism: Mechanism, friction: bool) -> Expression:
    """Generalized force of Coriolis, centripetal, gravity and viscous terms: M udot + bias = J^T f + S^T w_ext."""
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, ca.SX.zeros(6))
    attached = mechanism.attach(motion)
    demand = mechanism.in_freedoms(generalized_force(mechanism, motion, attached, friction))
    if friction:
        demand = demand + mechanism.jacobian(attached).T @ actuator_friction(mechanism, attached, motion)
    return Expression("bias", (x.pose, x.twist), (port("bias", demand),))


def direct_dynamics(mechanism: Mechanism, friction: bool) -> Expression:
    """Acceleration of the platform from actuator forces: M udot = J^T f + S^T w_ext - bias."""
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, ca.SX.zeros(6))
    attached = mechanism.attach(motion)
    force = x.force.symbols
    if friction:
        force = force - actuator_friction(mechanism, attached, motion)
    demand = generalized_force(mechanism, motion, attached, friction)
    push = mechanism.jacobian(attached).T @ force + mechanism.in_freedoms(x.wrench.symbols - demand)
    solution = solve_symmetric(mass_matrix(mechanism, attached, motion.frame.axes), push)
    acceleration = ca.DM(mechanism.freedoms.basis) @ solution.x if not mechanism.freedoms.full else solution.x
    return Expression(
        "direct_dynamics",
        (x.pose, x.twist, x.force, x.wrench),
        (port("acceleration", acceleration), port("quality", mechanism.quality(attached, ca.sqrt(solution.quality)), ())),
    )


def energy(mechanism: Mechanism) -> Expression:
    """Kinetic and potential energy; the potential is -sum m g.r with r from the base frame's origin."""
    x = Inputs()
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, ca.SX.zeros(6))
    platform, g = mechanism.platform, mechanism.gravity
    twist = ca.vertcat(motion.v, motion.omega)
    kinetic = 0.5 * ca.dot(twist, platform.matrix(motion.frame.axes) @ twist)
    s, _ = platform.in_base(motion.frame.axes)
    potential = -dot(g, platform.mass * motion.frame.origin + s)
    for leg in mechanism.attach(motion):
        vectors, rates = leg.model.velocities(leg.series)
        kinetic = kinetic + 0.5 * ca.dot(rates, rates @ ca.DM(leg.model.weights))
        potential = potential - dot(g, vectors @ ca.DM(leg.model.loads) + ca.DM(leg.model.fixed_load))
    return Expression(
        "energy",
        (x.pose, x.twist),
        (port("kinetic", kinetic, ()), port("potential", potential, ())),
    )
