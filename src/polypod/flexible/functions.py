"""What else is asked of a robot on a flexible platform: its kinematics, its energies, its shape in steady motion."""

from __future__ import annotations

import casadi as ca

from ..friction.dry import DryFriction, joint_loads
from ..friction.joints import Loads, has_dry_friction
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.linear import solve_general
from ..symbols.vectors import dot
from .body import sparse
from .dynamics import FlexibleDynamics


def inverse_kinematics(dynamics: FlexibleDynamics) -> Expression:
    """Actuated coordinates of the deformed robot (n)."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, ca.SX.zeros(6), False)
    q = ca.vertcat(*[leg.leg.values.y[-1] for leg in robot.legs])
    return Expression(
        "inverse_kinematics",
        (x.pose, x.elastic),
        (port("q", q), port("quality", robot.quality(ca.SX(1)), ())),
    )


def actuators(dynamics: FlexibleDynamics) -> Expression:
    """Rates and accelerations of the actuated coordinates (n) along a motion with its elastic accelerations."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, x.acceleration.symbols, False)
    bent = Port("elastic_acceleration", ca.SX.sym("bent", robot.body.count), (robot.body.count,))
    none = ca.SX.zeros(len(robot.legs))
    rates, accelerations = [], []
    for leg, _ in robot.pushes(none, bent.symbols):
        _, rate, half = leg.leg.model.coordinate_tape.taylor(*leg.leg.series)
        rates.append(rate)
        accelerations.append(2 * half)
    return Expression(
        "actuators",
        (x.pose, x.twist, x.elastic, x.elastic_rate, x.acceleration, bent),
        (
            port("qdot", ca.vertcat(*rates)),
            port("qddot", ca.vertcat(*accelerations)),
            port("quality", robot.quality(ca.SX(1)), ()),
        ),
    )


def jacobian(dynamics: FlexibleDynamics) -> Expression:
    """J_p^-1 of (19) (n, 6), base axes: rates of the actuated coordinates for a twist of the frame."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, ca.SX.zeros(6), False)
    rows = robot.rows[0]
    turned = ca.horzcat(rows[:, :3] @ robot.axes.T, rows[:, 3:] @ robot.axes.T)
    return Expression(
        "jacobian",
        (x.pose, x.elastic),
        (port("jacobian", turned), port("quality", robot.quality(ca.SX(1)), ())),
    )


def margins(dynamics: FlexibleDynamics) -> Expression:
    """For every condition of every leg its margin and by how much it is exceeded, leg by leg (k, 2)."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, ca.SX.zeros(6), False)
    rows = [
        leg.leg.at_tip(ca.horzcat(condition.margin, condition.excess))
        for leg in robot.legs
        for condition in leg.leg.model.placement.conditions
    ]
    return Expression("margins", (x.pose, x.elastic), (port("margins", ca.vertcat(*rows), (len(rows), 2)),))


def limited(dynamics: FlexibleDynamics) -> Expression:
    """Values of all limited quantities, leg by leg, led by a zero as some robots have none; angles as cosines."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, ca.SX.zeros(6), False)
    values = [leg.leg.at_tip(limit.value) for leg in robot.legs for limit in leg.leg.model.placement.limits]
    return Expression("limited", (x.pose, x.elastic), (port("values", ca.vertcat(0, *values)),))


def system(dynamics: FlexibleDynamics) -> Expression:
    """Mass matrix (6 + N, 6 + N), bias (6 + N) and actuator Jacobian (n, 6 + N), base axes, without friction."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, ca.SX.zeros(6), False)
    turn = ca.diagcat(robot.axes, robot.axes)
    rigid = turn @ robot.rigid_mass @ turn.T
    coupling = turn @ robot.coupling
    elastic = ca.triu2symm(ca.triu(robot.elastic_mass))
    mass = ca.vertcat(ca.horzcat(rigid, coupling), ca.horzcat(coupling.T, elastic))
    bias = ca.vertcat(robot.to_base(robot.demand[0]), robot.demand[1])
    rigid_rows, elastic_rows = robot.rows
    return Expression(
        "system",
        (x.pose, x.twist, x.elastic, x.elastic_rate),
        (
            port("mass_matrix", mass),
            port("bias", bias),
            port("jacobian", ca.horzcat(rigid_rows @ turn.T, elastic_rows)),
            port("quality", robot.quality(ca.SX(1)), ()),
        ),
    )


def energy(dynamics: FlexibleDynamics) -> Expression:
    """Kinetic energy, gravity's potential -sum m g.r and elastic energy."""
    x = dynamics.inputs()
    robot = dynamics.robot(x, ca.SX.zeros(6), False)
    body, g = dynamics.body, dynamics.mechanism.gravity
    v, w = robot.axes.T @ robot.motion.v, robot.axes.T @ robot.motion.omega
    rigid, rate = ca.vertcat(v, w), robot.rate
    kinetic = 0.5 * ca.dot(rigid, body.rigid_inertia(robot.q) @ rigid)
    kinetic = kinetic + ca.dot(rigid, body.coupling(robot.q) @ rate)
    kinetic = kinetic + 0.5 * ca.dot(rate, ca.SX(sparse(body.generalized_mass)) @ rate)
    centre = body.mass * robot.motion.frame.origin + robot.axes @ body.first_moment(robot.q)
    potential = -dot(g, centre)
    for leg in robot.legs:
        vectors, rates = leg.leg.model.velocities(leg.leg.series)
        kinetic = kinetic + 0.5 * ca.dot(rates, rates @ ca.DM(leg.leg.model.weights))
        load = vectors @ ca.DM(leg.leg.model.loads) + ca.DM(leg.leg.model.fixed_load)
        potential = potential - dot(g, load)
    elastic = 0.5 * ca.dot(robot.q, ca.DM(body.stiffness) * robot.q)
    return Expression(
        "energy",
        (x.pose, x.twist, x.elastic, x.elastic_rate),
        (
            port("kinetic", kinetic, ()),
            port("potential", potential, ()),
            port("elastic_energy", elastic, ()),
            port("quality", robot.quality(ca.SX(1)), ()),
        ),
    )


def steady_shape(dynamics: FlexibleDynamics, friction: bool, dry: DryFriction, steps: int = 200) -> Iteration:
    """Elastic coordinates that stay as they are at a motion, and forces: q -> q - K^-1 (residual), until they repeat.

    Loads that dry friction depends on are iterated with them. State: q (N), forces (n), loads, converged, steps, done.
    """
    x = dynamics.inputs()
    loads = None
    if friction and has_dry_friction(dynamics.mechanism):
        loads = Loads.symbols(dynamics.mechanism, dry.law)
    held = loads.port.symbols if loads is not None and loads.port is not None else ca.SX(0, 1)
    robot = dynamics.robot(x, x.acceleration.symbols, friction, loads)
    push, bend = robot.external
    rigid_rows, elastic_rows = robot.rows
    force = solve_general(rigid_rows.T, robot.demand[0] - push).x
    residual = robot.demand[1] - bend - elastic_rows.T @ force
    n, legs, k = dynamics.body.count, len(dynamics.mechanism.legs), held.numel()
    fresh = ca.SX(0, 1)
    if k:
        wrenches = robot.joint_wrenches(force, ca.SX.zeros(n))
        fresh = joint_loads(dynamics.mechanism, wrenches, [leg.leg for leg in robot.legs])
    total = force + robot.actuator_friction if friction else force
    state = ca.SX.sym("state", n + legs + k + 3)
    old = [x.elastic_rate.symbols, x.elastic.symbols, held]
    new = [ca.SX.zeros(n), state[:n], state[n + legs : n + legs + k]]
    total, residual, fresh = ca.substitute([total, residual, fresh], old, new)
    move = residual / ca.DM(dynamics.body.stiffness)
    still, near, lost = _repeats(state[:n], move, dynamics.scale)
    if k:
        same, alike, gone = _repeats(new[2], fresh - new[2], 0.0)
        still, near, lost = ca.logic_and(still, same), ca.logic_and(near, alike), ca.logic_or(lost, gone)
    count = state[n + legs + k + 1]
    done = ca.logic_or(ca.logic_or(still, lost), count + 1 >= steps)
    step = ca.vertcat(state[:n] - move, total, fresh, near, count + 1, done)
    outputs = (
        port("elastic", state[:n]),
        port("force", state[n : n + legs]),
        port("converged", state[n + legs + k], ()),
        port("steps", count, ()),
    )
    start = ca.SX.zeros(n + legs + k + 3)
    return Iteration("steady_shape", (x.pose, x.twist, x.acceleration, x.wrench), outputs, state, start, step)


def _repeats(values: ca.SX, change: ca.SX, scale: float) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Whether values repeat to rounding, well enough for an answer, and whether any is no number.

    Relative to the largest of them, or to ``scale`` where all are zero but for rounding.
    """
    largest, most = ca.SX(0), ca.SX(0)
    for i in range(values.numel()):
        largest = ca.fmax(largest, ca.fabs(values[i]))
        most = ca.fmax(most, ca.fabs(change[i]))
    still = most <= 1e-14 * largest + 1e-16 * scale + 1e-300
    return still, most <= 1e-10 * largest + 1e-12 * scale, ca.logic_not(most <= 1e300)
