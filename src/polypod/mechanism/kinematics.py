"""Kinematics in symbols: coordinates, rates, Jacobian, bodies, margins, limits, and forward kinematics by Newton."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..legs.contract import SMALLEST_MARGIN
from ..platforms import Freedoms, Inputs
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.implicit import ImplicitReplay
from ..symbols.linear import Solution, solve_general, solve_least_squares
from ..symbols.singular_values import extreme_singular_values
from ..symbols.vectors import Frame, orthonormalised
from .leg_at_state import LegAtState
from .mechanism import Mechanism

FOUND = 1e-12
"""Largest error of coordinates with which a pose counts as the one that has them, relative to the robot's size."""


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
    """Condition number and smallest singular value of the Jacobian of rigid motions, rotations scaled by the size.

    Where the legs do not close they are infinite and 0.
    """
    x = mechanism.inputs()
    state, legs = mechanism.resting(x)
    m = mechanism.platform.count
    turns = Freedoms(mechanism.robot).turns
    scale = ca.horzcat(*[1 / mechanism.size if turns[k] else 1 for k in range(m)])
    matrix = state.to_base(mechanism.jacobian(legs).T).T[:, :m]
    values = extreme_singular_values(matrix * ca.repmat(scale, matrix.size1(), 1))
    smallest, largest, quality = values.smallest, values.largest, mechanism.quality(legs)
    good = ca.logic_and(quality > SMALLEST_MARGIN, values.scale <= 1e300)
    outputs = (
        port("condition", ca.if_else(ca.logic_and(good, smallest > 0), largest / smallest, ca.inf), ()),
        port("distance", ca.if_else(good, smallest, 0), ()),
    )
    return Iteration("conditioning", x.place, outputs, values.state, values.start, values.step, mechanism.port)


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
    state = mechanism.platform.at(x, x.twist.symbols, ca.SX.zeros(6))
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
    solution = _solved(mechanism, legs, qdot.symbols)
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
    solution = _solved(mechanism, legs, qddot.symbols - drift)
    outputs = (
        port("acceleration", state.acceleration(solution.x) + mechanism.coasting(x)),
        port("quality", mechanism.quality(legs, solution.quality), ()),
    )
    return Expression("acceleration", (*x.state, qddot), outputs, mechanism.port)


def found(mechanism: Mechanism, residual: ca.SX, quality: ca.SX) -> ca.SX:
    """Whether forward kinematics ended in a pose that has the coordinates and is not singular."""
    scale = mechanism.size + ca.norm_2(mechanism.numbers.home_position)
    return ca.logic_and(residual <= FOUND * scale, quality > SMALLEST_MARGIN)


def _solved(mechanism: Mechanism, legs: list[LegAtState], right: ca.SX) -> Solution:
    """u of J u = right."""
    solve = solve_least_squares if mechanism.redundant else solve_general
    return solve(mechanism.jacobian(legs)[:, : mechanism.platform.count], right)


def bodies(mechanism: Mechanism) -> Expression:
    """Pose (b, 4, 4) of every body of every leg in the order of :func:`body_names`, and the smallest margin."""
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
    return tuple(f"{leg.name}.{body.name}" for leg in mechanism.legs for body in leg.placement.bodies)


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


def forward_kinematics(mechanism: Mechanism, steps: int = 50) -> Iteration:
    """Pose with q(pose) = q, by damped Newton iterations from a guess.

    Each step tries pose + t delta with J delta = q - q(pose); if the error does not fall, t is halved. Rotations
    turn by Cayley's map, so they stay rotations. The last step is taken once more at the end, undamped: the error
    then is that of rounding. A pose beyond a singularity as seen from the guess (det J, or the closing determinant of a
    leg, has another sign) has a negative quality. State: frame (12), delta (m), places of unknowns, t, squared error,
    quality, the guess's determinants, steps, done.
    """
    platform = mechanism.platform
    x, m = mechanism.inputs(), 6 if mechanism.platform.follows_legs else mechanism.platform.count
    opened = mechanism.places.numel()
    frame, delta, places = (ca.SX.sym(name, k) for name, k in (("frame", 12), ("delta", m), ("places", opened)))
    t, error2, quality, count, done = (ca.SX.sym(name) for name in ("t", "error2", "quality", "count", "done"))
    scale = mechanism.size + 1e-3

    trial = platform.displaced(_pose(frame), t * delta)
    legs = _at(mechanism, x, trial, places)
    error = x.q.symbols - mechanism.coordinates(legs)
    new_error2 = ca.dot(error, error)
    if platform.follows_legs:
        value = mechanism.constraint_values(legs)
        solution = _solved_whole(mechanism, legs, error, -value)
        new_error2 = new_error2 + ca.dot(value, value)
    else:
        solution = _solved(mechanism, legs, error)
    for leg in legs:
        if leg.model.unknowns is not None:
            left = leg.gap
            new_error2 = new_error2 + ca.dot(left, left)
    determinants = _determinants(legs, solution)
    guessed = ca.SX.sym("guessed", determinants.numel())
    sides = ca.if_else(count > 0, guessed, determinants)
    better = new_error2 < error2
    chosen = [
        ca.if_else(better, new, old)
        for new, old in (
            (trial[:12], frame),
            (solution.x, delta),
            (_places(legs), places),
            (ca.SX(1), 0.5 * t),
            (new_error2, error2),
            (_signed(solution.quality, determinants, sides), quality),
        )
    ]
    converged = chosen[4] <= (1e-10 * scale) ** 2
    stuck = ca.logic_and(ca.logic_not(better), t <= 2.0**-12)
    ended = ca.logic_or(ca.logic_or(converged, stuck), count + 1 >= steps)
    state = ca.vertcat(frame, delta, places, t, error2, quality, guessed, count, done)
    step = ca.vertcat(*chosen, sides, count + 1, ended)

    guess = platform.projected(x.pose.symbols)[:12]
    start = ca.vertcat(guess, ca.SX.zeros(m), mechanism.places, 0, 1e300, 0, ca.SX.zeros(guessed.numel()), 0, 0)
    # in a singularity the last step would go anywhere
    regular = ca.fabs(quality) > SMALLEST_MARGIN
    end = frame_of(platform.displaced(_pose(frame), ca.if_else(regular, delta, 0)))
    last = pose_of(Frame(end.origin, orthonormalised(end.axes)))
    final = _at(mechanism, x, last, places)
    residual = x.q.symbols - mechanism.coordinates(final)
    if platform.follows_legs:
        residual = ca.vertcat(residual, mechanism.constraint_values(final))
    worst = ca.SX(0)
    for k in range(residual.numel()):
        worst = ca.fmax(worst, ca.fabs(residual[k]))
    for leg in final:
        if leg.model.unknowns is not None:
            left = leg.gap
            worst = ca.fmax(worst, ca.sqrt(ca.dot(left, left)))
    outputs = (
        port("pose", last, (4, 4)),
        port("residual", worst, ()),
        port("steps", count, ()),
        port("quality", quality, ()),
    )
    inputs = (x.q, *x.place)
    return Iteration("forward_kinematics", inputs, outputs, state, start, step, mechanism.port)


def forward_kinematics_along(mechanism: Mechanism) -> Iteration:
    """Forward kinematics with the guess for the next row of a log, ``next``: the pose found, else the guess before."""
    once = forward_kinematics(mechanism)
    outputs = {p.name: p.symbols for p in once.outputs}
    guess = next(p.symbols for p in once.inputs if p.name == "pose")
    good = found(mechanism, outputs["residual"], outputs["quality"])
    following = port("next", ca.if_else(good, outputs["pose"], guess), (4, 4))
    return replace(once, name="forward_kinematics_along", outputs=(*once.outputs, following))


def _determinants(legs: list[LegAtState], solution: Solution) -> ca.SX:
    """Numbers that vanish in a singularity: the determinants of the solved matrix and of the legs' closing."""
    closing: list[ca.SX] = []
    for leg in legs:
        if leg.model.unknowns is not None:
            values = leg.values
            assert isinstance(values, ImplicitReplay)
            closing += values.factor.determinants
    return ca.vertcat(solution.determinant, *closing)


def _signed(quality: ca.SX, determinants: ca.SX, sides: ca.SX) -> ca.SX:
    """A quality, negative where a determinant has another sign than it should."""
    same = ca.SX(1)
    for k in range(determinants.numel()):
        same = ca.logic_and(same, determinants[k] * sides[k] > 0)
    return ca.if_else(same, quality, -quality)


def _pose(frame: ca.SX) -> ca.SX:
    return ca.vertcat(frame, 0, 0, 0, 1)


def _at(mechanism: Mechanism, given: Inputs, pose: ca.SX, places: ca.SX) -> list[LegAtState]:
    """The legs at rest in a pose of symbols, those closed by iterating near ``places``."""
    x = mechanism.inputs()
    x.pose, x.elastic = port("pose", pose, (4, 4)), given.elastic
    return mechanism.attach(mechanism.platform.rest(x), places)


def _places(legs: list[LegAtState]) -> ca.SX:
    """Where the unknowns of the legs are that are closed by iterating."""
    return ca.vertcat(*[leg.place for leg in legs if leg.model.unknowns is not None], ca.SX(0, 1))


def _solved_whole(mechanism: Mechanism, legs: list[LegAtState], error: ca.SX, gap: ca.SX) -> Solution:
    """The twist (6) that moves actuated coordinates by ``error`` and closes the constraints' ``gap``."""
    rows = ca.horzcat(*[row for leg in legs for row in leg.rows]).T
    matrix, right = ca.vertcat(rows, mechanism.constraint_rows(legs)), ca.vertcat(error, gap)
    return (solve_least_squares if mechanism.redundant else solve_general)(matrix, right)
