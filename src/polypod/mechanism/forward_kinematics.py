"""Forward kinematics in symbols: the pose of given actuated coordinates, by damped Newton iterations from a guess."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..legs.contract import SMALLEST_MARGIN
from ..platforms import Inputs
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Iteration, port
from ..symbols.linear import Solution, solve_general, solve_least_squares
from ..symbols.vectors import Frame, orthonormalised
from .kinematics import solve_jacobian
from .leg_at_state import LegAtState
from .mechanism import Mechanism

LARGEST_RESIDUAL = 1e-12
"""Largest error of coordinates with which a pose counts as the one that has them, relative to the robot's size."""


def is_solution(mechanism: Mechanism, residual: ca.SX, quality: ca.SX) -> ca.SX:
    """Whether forward kinematics ended in a pose that has the coordinates and is not singular."""
    scale = mechanism.size + ca.norm_2(mechanism.numbers.home_position)
    return ca.logic_and(residual <= LARGEST_RESIDUAL * scale, quality > SMALLEST_MARGIN)


def forward_kinematics(mechanism: Mechanism, steps: int = 50) -> Iteration:
    """Pose with q(pose) = q, by damped Newton iterations from a guess.

    Each step tries pose + t delta with J delta = q - q(pose); if the error does not fall, t is halved. Rotations
    turn by Cayley's map, so they stay rotations. The last step is taken once more at the end, undamped: the error
    then is that of rounding. A pose beyond a singularity as seen from the guess (det J, or the closing determinant of a
    leg, has another sign) has a negative quality. State: frame (12), delta (m), places of unknowns, t, squared error,
    quality, the guess's determinants, steps, done.
    """
    platform = mechanism.platform
    x, m = mechanism.inputs(), 6 if mechanism.platform.is_constrained else mechanism.platform.count
    unknowns = mechanism.places.numel()
    frame, delta, places = (ca.SX.sym(name, k) for name, k in (("frame", 12), ("delta", m), ("places", unknowns)))
    t, error2, quality, count, done = (ca.SX.sym(name) for name in ("t", "error2", "quality", "count", "done"))
    scale = mechanism.size + 1e-3

    trial = platform.displaced(_pose(frame), t * delta)
    legs = _at(mechanism, x, trial, places)
    error = x.q.symbols - mechanism.coordinates(legs)
    new_error2 = ca.dot(error, error)
    if platform.is_constrained:
        value = mechanism.constraint_values(legs)
        solution = _solved_whole(mechanism, legs, error, -value)
        new_error2 = new_error2 + ca.dot(value, value)
    else:
        solution = solve_jacobian(mechanism, legs, error)
    for leg in legs:
        if leg.model.unknowns is not None:
            new_error2 = new_error2 + ca.dot(leg.residual, leg.residual)
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
    if platform.is_constrained:
        residual = ca.vertcat(residual, mechanism.constraint_values(final))
    worst = ca.SX(0)
    for k in range(residual.numel()):
        worst = ca.fmax(worst, ca.fabs(residual[k]))
    for leg in final:
        if leg.model.unknowns is not None:
            worst = ca.fmax(worst, ca.sqrt(ca.dot(leg.residual, leg.residual)))
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
    good = is_solution(mechanism, outputs["residual"], outputs["quality"])
    following = port("next", ca.if_else(good, outputs["pose"], guess), (4, 4))
    return replace(once, name="forward_kinematics_along", outputs=(*once.outputs, following))


def _determinants(legs: list[LegAtState], solution: Solution) -> ca.SX:
    """Numbers that vanish in a singularity: the determinants of the solved matrix and of the legs' closing."""
    return ca.vertcat(solution.determinant, *[d for leg in legs for d in leg.closing_determinants])


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
