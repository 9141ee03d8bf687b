"""Kinematics in symbols: coordinates, rates, Jacobian, bodies, margins, limits."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..legs.contract import SMALLEST_MARGIN
from ..platforms import ConstrainedState, DegreesOfFreedom
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.linear import (
    MAX_ITERATIONS,
    ROUNDING,
    Solution,
    extreme_singular_values,
    solve_general,
    solve_least_squares,
)
from .leg_at_state import LegAtState
from .mechanism import Mechanism


def inverse_kinematics(mechanism: Mechanism) -> Expression:
    """Actuated coordinates q of a pose, and the smallest margin of the legs' conditions."""
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    outputs = port("q", mechanism.coordinates(legs)), port("quality", mechanism.quality(legs), ())
    return Expression("inverse_kinematics", x.place, outputs, mechanism.port)


def jacobian(mechanism: Mechanism) -> Expression:
    """J with qdot = J u, (n, m + N), base axes."""
    x = mechanism.inputs()
    state, legs = mechanism.resting(x)
    matrix = state.to_base(mechanism.jacobian(legs).T).T
    return Expression(
        "jacobian",
        x.place,
        (port("jacobian", matrix, matrix.shape), port("quality", mechanism.quality(legs), ())),
        mechanism.port,
    )


def conditioning(mechanism: Mechanism) -> Iteration:
    """Condition number and smallest singular value of the Jacobian of rigid motions, in lengths: rows are motions of
    the joints without their gears, and rotations of joints and platform are arcs at the platform's size.

    Where the legs do not close they are infinite and 0.
    """
    x = mechanism.inputs()
    state, legs = mechanism.resting(x)
    m = mechanism.platform.count
    turns = DegreesOfFreedom(mechanism.robot).all_turns
    scale = ca.horzcat(*[1 / mechanism.size if turns[k] else 1 for k in range(m)])
    matrix = state.to_base(mechanism.jacobian(legs).T).T[:, :m]
    scaled = matrix * (mechanism.joint_scale(mechanism.size) @ scale)
    values = extreme_singular_values(scaled, mechanism.tolerance(ROUNDING))
    smallest, largest, quality = values.smallest, values.largest, mechanism.quality(legs)
    good = ca.logic_and(quality > SMALLEST_MARGIN, values.scale <= 1e300)
    outputs = (
        port("condition", ca.if_else(ca.logic_and(good, smallest > 0), largest / smallest, ca.inf), ()),
        port("distance", ca.if_else(good, smallest, 0), ()),
    )
    return Iteration(
        "conditioning",
        x.place,
        outputs,
        values.state,
        values.start,
        values.step,
        mechanism.port,
        max_iterations=MAX_ITERATIONS,
    )


def accelerations(mechanism: Mechanism) -> Expression:
    """Actuated coordinates, rates and accelerations of a motion, by Taylor series."""
    x = mechanism.inputs()
    elastic = (x.elastic_acceleration,) if mechanism.platform.elastic else ()
    state = mechanism.platform.at(
        x, x.twist.symbols, x.acceleration.symbols, x.elastic_acceleration.symbols if elastic else None
    )
    legs = mechanism.attach(state)
    series = [leg.model.coordinate_tape.taylor(*leg.series) for leg in legs]
    q, rate, half = (ca.vertcat(*[s[order] for s in series]) for order in range(3))
    return Expression(
        "accelerations",
        (*x.state, x.acceleration, *elastic),
        (port("q", q), port("qdot", rate), port("qddot", 2 * half), port("quality", mechanism.quality(legs), ())),
        mechanism.port,
    )


def rates(mechanism: Mechanism) -> Expression:
    """Rates of the actuated coordinates of a motion."""
    x = mechanism.inputs()
    state = mechanism.platform.at(x, x.twist.symbols, x.still)
    legs = mechanism.attach(state)
    qdot = ca.vertcat(*[rate for leg in legs for rate in leg.rates])
    outputs = port("qdot", qdot), port("quality", mechanism.quality(legs), ())
    return Expression("rates", x.state, outputs, mechanism.port)


def twist(mechanism: Mechanism) -> Expression:
    """Twist of the platform from the rates of the actuated coordinates: J u = qdot."""
    x = mechanism.inputs()
    state, legs = mechanism.resting(x)
    n = len(mechanism.actuators)
    qdot = Port("qdot", ca.SX.sym("qdot", n), (n,))
    solution = solve_jacobian(mechanism, legs, qdot.symbols)
    outputs = (
        port("twist", state.acceleration(solution.x)),
        port("quality", mechanism.quality(legs, solution.quality), ()),
    )
    return Expression("twist", (*x.place, qdot), outputs, mechanism.port)


def acceleration(mechanism: Mechanism) -> Expression:
    """Acceleration of the platform from those of the actuated coordinates: J udot = qddot - Jdot u."""
    x = mechanism.inputs()
    state, legs = mechanism.moving(x, acceleration=False)
    n = len(mechanism.actuators)
    qddot = Port("qddot", ca.SX.sym("qddot", n), (n,))
    drift = ca.vertcat(*[leg.accelerations for leg in legs])
    solution = solve_jacobian(mechanism, legs, qddot.symbols - drift)
    outputs = (
        port("acceleration", state.acceleration(solution.x) + mechanism.drift_acceleration(x)),
        port("quality", mechanism.quality(legs, solution.quality), ()),
    )
    return Expression("acceleration", (*x.state, qddot), outputs, mechanism.port)


def solve_jacobian(mechanism: Mechanism, legs: list[LegAtState], right: ca.SX) -> Solution:
    """u (m) of J u = ``right`` (n), by least squares of the joints' own motions for more actuators than degrees of
    freedom. Where some of these slide and others turn they are compared in lengths, turns as arcs at the platform's
    size."""
    solve, m = solve_least_squares if mechanism.redundant else solve_general, mechanism.platform.count
    matrix = mechanism.jacobian(legs)[:, :m]
    if len(set(mechanism.rotary_drives)) < 2:
        scale = mechanism.joint_scale(1.0)
        return solve(matrix * scale, right * scale)
    scale, turns = mechanism.joint_scale(mechanism.size), DegreesOfFreedom(mechanism.robot).all_turns
    by_rate = ca.vertcat(*[1 / mechanism.size if turns[k] else ca.SX(1) for k in range(m)])
    solution = solve(matrix * (scale @ by_rate.T), right * scale)
    return replace(solution, x=by_rate * solution.x)


def solve_whole(mechanism: Mechanism, legs: list[LegAtState], error: ca.SX, gap: ca.SX) -> Solution:
    """Twist and internal rates (6 + k) that move actuated coordinates by ``error`` and close constraints by ``gap``."""
    rows, size = ca.horzcat(*[row for leg in legs for row in leg.rows]).T, mechanism.size
    # in lengths: coordinates and constraints are motions of joints without gears, turns are arcs at the platform's size
    scale = ca.vertcat(mechanism.joint_scale(size), mechanism.constraint_scale(size))
    by_twist = ca.vertcat(1, 1, 1, *[1 / size] * 3, ca.SX.ones(mechanism.platform.internal))
    matrix = ca.vertcat(rows, mechanism.constraint_rows(legs)) * (scale @ by_twist.T)
    solve = solve_least_squares if mechanism.redundant else solve_general
    solution = solve(matrix, scale * ca.vertcat(error, gap))
    return replace(solution, x=by_twist * solution.x)


def side_of(legs: list[LegAtState], solution: Solution) -> ca.SX:
    """On which side of all singularities legs are, as one number: a digit 0 or 1 for the sign of each determinant.

    These are that of Newton's matrix (``solution``) and, for a platform that moves as its legs let it, those that
    vanish where its degrees of freedom no longer say how it moves: there the Jacobian changes its sign and Newton's
    matrix does not.
    """
    platform = legs[0].platform
    determinants = [solution.determinant, *(platform.determinants if isinstance(platform, ConstrainedState) else ())]
    return sum((2**k * (value > 0) for k, value in enumerate(determinants)), ca.SX(0))


def sides(mechanism: Mechanism) -> Expression:
    """The side of all singularities that a pose is on (:func:`side_of`), and the smallest margin."""
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    n = len(mechanism.actuators)
    if mechanism.platform.is_constrained:
        gap = ca.SX.zeros(mechanism.constraint_rows(legs).size1())
        solution = solve_whole(mechanism, legs, ca.SX.zeros(n), gap)
    else:
        solution = solve_jacobian(mechanism, legs, ca.SX.zeros(n))
    outputs = port("side", side_of(legs, solution), ()), port("quality", mechanism.quality(legs, solution.quality), ())
    return Expression("sides", x.place, outputs, mechanism.port)


def bodies(mechanism: Mechanism) -> Expression:
    """Pose (b, 4, 4) of every body of every leg in the order of ``body_names``, and the smallest margin."""
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    frames = []
    for leg in legs:
        for body in leg.model.placement.bodies:
            placed = leg.at_tip(ca.horzcat(body.frame.axes, body.frame.origin))
            frames.append(ca.vertcat(ca.vec(placed.T), 0, 0, 0, 1))
    outputs = (
        port("bodies", ca.vertcat(*frames), (len(frames), 4, 4)),
        port("quality", mechanism.quality(legs), ()),
    )
    return Expression("bodies", x.place, outputs, mechanism.port)


def body_names(mechanism: Mechanism) -> tuple[str, ...]:
    """``leg.body`` for every body of every leg."""
    return tuple(leg.leg.label(body.name) for leg in mechanism.legs for body in leg.placement.bodies)


def margins(mechanism: Mechanism) -> Expression:
    """For every condition of every leg its margin and by how much it is exceeded, leg by leg (k, 2)."""
    x = mechanism.inputs()
    rows = [
        leg.at_tip(ca.horzcat(condition.margin, condition.excess))
        for leg in mechanism.resting(x)[1]
        for condition in leg.model.placement.conditions
    ]
    # A robot without conditions has one row that is never lost.
    rows = rows or [ca.SX([[1.0, 0.0]])]
    return Expression("margins", x.place, (port("margins", ca.vertcat(*rows), (len(rows), 2)),), mechanism.port)


def limited(mechanism: Mechanism) -> Expression:
    """Values of all limited quantities (1 + k), leg by leg, angles as cosines; a zero leads as robots may have none."""
    x = mechanism.inputs()
    legs = mechanism.resting(x)[1]
    values = [leg.at_tip(limit.value) for leg in legs for limit in leg.model.placement.limits]
    return Expression("limited", x.place, (port("values", ca.vertcat(0, *values)),), mechanism.port)
