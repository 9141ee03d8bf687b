"""Virtual power: dynamics derived from the positions of the bodies alone.

For every virtual motion the power of inertia, gravity, friction and external forces equals that of the actuators:
J^T f = w with w the sum over platform and legs. A leg contributes sum_k (dc_k/dtip)^T W_k at its tip, where c_k are
its moving vectors and W_k = sum_l J_kl cddot_l - gamma_k g.
"""

from __future__ import annotations

import casadi as ca

from ..friction.joints import Loads, actuator_friction, joint_forces
from ..mechanism import Attached, Mechanism, Motion
from ..mechanism.inputs import Inputs
from ..symbols.expression import Expression, port
from ..symbols.linear import solve_general, solve_symmetric
from ..symbols.vectors import dot


def generalized_force(
    mechanism: Mechanism, motion: Motion, attached: list[Attached], friction: bool, loads: Loads | None = None
) -> ca.SX:
    """w of J^T f = w for a motion without external wrench, a wrench of six at the origin of {P}, base axes."""
    wrench = mechanism.platform.force(motion, mechanism.gravity)
    for leg in attached:
        model = leg.model
        forces = model.inertia_forces(model.half_accelerations(leg.series), mechanism.gravity)
        if friction:
            extra, moment = joint_forces(leg, motion, loads)
            forces = forces + extra
            wrench = wrench + ca.vertcat(ca.SX.zeros(3), moment)
        wrench = wrench + leg.wrench(model.pull_back(leg.values, forces))
    return wrench


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: J^T f = w - w_ext."""
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(motion)
    demand = generalized_force(mechanism, motion, attached, friction, loads) - x.wrench.symbols
    solution = solve_general(mechanism.jacobian(attached).T, mechanism.in_freedoms(demand))
    force = solution.x
    if friction:
        force = force + actuator_friction(mechanism, attached, motion, loads)
    return Expression(
        "inverse_dynamics",
        (x.pose, x.twist, x.acceleration, x.wrench, *(loads.ports if loads else ())),
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
    quality = mechanism.quality(attached, ca.SX(1))
    return Expression("mass_matrix", (x.pose,), (port("mass_matrix", matrix), port("quality", quality, ())))


def bias(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Generalized force of Coriolis, centripetal, gravity and friction terms: M udot + bias = J^T f + S^T w_ext."""
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, ca.SX.zeros(6))
    attached = mechanism.attach(motion)
    demand = mechanism.in_freedoms(generalized_force(mechanism, motion, attached, friction, loads))
    if friction:
        demand = demand + mechanism.jacobian(attached).T @ actuator_friction(mechanism, attached, motion, loads)
    quality = mechanism.quality(attached, ca.SX(1))
    return Expression("bias", (x.pose, x.twist), (port("bias", demand), port("quality", quality, ())))


def direct_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Acceleration of the platform from actuator forces: M udot = J^T f + S^T w_ext - bias."""
    x = Inputs(len(mechanism.legs))
    acceleration, quality = direct_solution(mechanism, x, friction, loads)
    return Expression(
        "direct_dynamics",
        (x.pose, x.twist, x.force, x.wrench, *(loads.ports if loads else ())),
        (port("acceleration", acceleration), port("quality", quality, ())),
    )


def direct_solution(mechanism: Mechanism, x: Inputs, friction: bool, loads: Loads | None) -> tuple[ca.SX, ca.SX]:
    """The platform's acceleration and the quality of its solution."""
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, ca.SX.zeros(6))
    attached = mechanism.attach(motion)
    force = x.force.symbols
    if friction:
        force = force - actuator_friction(mechanism, attached, motion, loads)
    demand = generalized_force(mechanism, motion, attached, friction, loads)
    push = mechanism.jacobian(attached).T @ force + mechanism.in_freedoms(x.wrench.symbols - demand)
    solution = solve_symmetric(mass_matrix(mechanism, attached, motion.frame.axes), push)
    acceleration = solution.x if mechanism.freedoms.full else ca.DM(mechanism.freedoms.basis) @ solution.x
    return acceleration, mechanism.quality(attached, ca.sqrt(solution.quality))


def energy(mechanism: Mechanism) -> Expression:
    """Kinetic and potential energy; the potential is -sum m g.r with r from the base frame's origin."""
    x = Inputs()
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, ca.SX.zeros(6))
    platform, g = mechanism.platform, mechanism.gravity
    twist = ca.vertcat(motion.v, motion.omega)
    kinetic = 0.5 * ca.dot(twist, platform.matrix(motion.frame.axes) @ twist)
    s, _ = platform.in_base(motion.frame.axes)
    potential = -dot(g, platform.mass * motion.frame.origin + s)
    attached = mechanism.attach(motion)
    for leg in attached:
        vectors, rates = leg.model.velocities(leg.series)
        kinetic = kinetic + 0.5 * ca.dot(rates, rates @ ca.DM(leg.model.weights))
        potential = potential - dot(g, vectors @ ca.DM(leg.model.loads) + ca.DM(leg.model.fixed_load))
    return Expression(
        "energy",
        (x.pose, x.twist),
        (
            port("kinetic", kinetic, ()),
            port("potential", potential, ()),
            port("quality", mechanism.quality(attached, ca.SX(1)), ()),
        ),
    )
