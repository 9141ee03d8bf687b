"""Forward kinematics in symbols: the pose of given actuated coordinates, by damped Newton iterations from a guess."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..description import Robot
from ..legs.contract import SMALLEST_MARGIN
from ..platforms import Inputs
from ..platforms.motion import frame_of, long_place, pose_of, short_place
from ..symbols.expression import Iteration, port
from ..symbols.vectors import Frame, orthonormalised
from .dependent_coordinates import coordinates_at
from .iterated_forward import iterated_forward_kinematics
from .kinematics import side_of, solve_jacobian, solve_whole
from .leg_at_state import LegAtState
from .mechanism import Mechanism
from .restarts import start_about

_LARGEST_RESIDUAL, _LARGEST_SINGLE_RESIDUAL = 1e-12, 3e-5
"""Largest error of coordinates (as motions of the joints) with which a pose counts as the one that has them, relative
to the robot's extent: in double precision, and in single precision, which rounds angles of some rad on a robot of some
cm to 3e-6 of it."""
_MAX_STEPS = 50
"""From one start."""
_EXACT = 1e-10
"""Error of coordinates, relative to the platform's size, that one more step takes to rounding."""
_MISSED = 1e-4
"""Error of coordinates, relative to the platform's size, with which an iteration has not led to a pose."""


def is_solution(mechanism: Mechanism, residual: ca.SX, quality: ca.SX) -> ca.SX:
    """Whether forward kinematics ended in a pose that has the coordinates and is not singular."""
    largest = _LARGEST_SINGLE_RESIDUAL if mechanism.single else _LARGEST_RESIDUAL
    return ca.logic_and(residual <= largest * mechanism.extent, quality > SMALLEST_MARGIN)


def largest_residual(size: float, robot: Robot, single: bool = False) -> float:
    """The largest residual of a solution in numbers, of a robot with a platform of ``size``."""
    relative = _LARGEST_SINGLE_RESIDUAL if single else _LARGEST_RESIDUAL
    return relative * (size + float(np.linalg.norm(robot.home.position)))


def forward_kinematics(mechanism: Mechanism, starts: int = 0) -> Iteration:
    """Pose with q(pose) = q, by damped Newton iterations from a guess.

    Each step tries pose + t delta with J delta = q - q(pose); if the error does not fall, t is halved. Rotations
    turn by Cayley's map, so they stay rotations. The last step is taken once more at the end, undamped: the error
    then is that of rounding. A pose beyond a singularity as seen from the guess (:func:`.kinematics.side_of`) has a
    negative quality. If there is no answer the iteration begins again at ``starts`` poses about the guess, one after
    the other (:mod:`.restarts`), and in the end at the guess. State: frame (12), delta (m), t, squared error, quality,
    the guess's side, steps, steps from the present start, its number, done. Robots with legs that are closed by
    iterating have an iteration of their own (:mod:`.iterated_forward`).
    """
    if mechanism.implicit_legs:
        return iterated_forward_kinematics(mechanism, starts)
    platform = mechanism.platform
    x, m = mechanism.inputs(), 6 if mechanism.platform.is_constrained else mechanism.platform.count
    if platform.is_constrained:
        m += platform.internal
    frame, delta = ca.SX.sym("frame", 12 + platform.internal), ca.SX.sym("delta", m)
    names = ("t", "error2", "quality", "count", "since_start", "number", "done")
    t, error2, quality, count, since_start, number, done = (ca.SX.sym(name) for name in names)
    scale = mechanism.size + 1e-3

    trial = platform.displaced(long_place(frame), t * delta)
    legs = _at(mechanism, x, trial)
    error = mechanism.coordinate_errors(x.q.symbols, mechanism.coordinates(legs))
    new_error2 = ca.sumsqr(mechanism.joint_errors(legs, error))
    if platform.is_constrained:
        value = mechanism.constraint_values(legs)
        solution = solve_whole(mechanism, legs, error, -value)
        new_error2 = new_error2 + ca.sumsqr(mechanism.constraint_scale(mechanism.size) * value)
    else:
        solution = solve_jacobian(mechanism, legs, error)
    guessed = ca.SX.sym("guessed")
    here = side_of(legs, solution)
    side = ca.if_else(count > 0, guessed, here)
    better = new_error2 < error2
    chosen = [
        ca.if_else(better, new, old)
        for new, old in (
            (short_place(trial), frame),
            (solution.x, delta),
            (ca.SX(1), 0.5 * t),
            (new_error2, error2),
            (ca.if_else(here == side, solution.quality, -solution.quality), quality),
        )
    ]
    converged = chosen[3] <= (mechanism.tolerance(_EXACT) * scale) ** 2
    stuck = ca.logic_and(ca.logic_not(better), t <= 2.0**-12)
    ended = ca.logic_or(ca.logic_or(converged, stuck), since_start + 1 >= _MAX_STEPS)
    if starts:  # one on the other side is left at once
        beyond = ca.logic_and(ca.logic_and(number > 0, number <= starts), here != side)
        ended = ca.logic_or(ended, ca.logic_and(beyond, since_start < 1))
    state = ca.vertcat(frame, delta, t, error2, quality, guessed, count, since_start, number, done)
    guess = short_place(platform.projected(x.place_symbols))
    first = ca.vertcat(guess, ca.SX.zeros(m), 0, 1e300, 0)
    step = ca.vertcat(*chosen, side, count + 1, since_start + 1, number, ended)
    if starts:
        # not the tolerance above: numbers of single precision do not come so near
        found = ca.logic_and(
            chosen[3] <= (max(_MISSED, mechanism.tolerance(_EXACT)) * scale) ** 2,
            mechanism.quality(legs, chosen[4]) > SMALLEST_MARGIN,
        )
        lost = ca.logic_not(found)
        again = ca.logic_and(ca.logic_and(ended, lost), number <= starts)
        there = short_place(start_about(mechanism, long_place(guess), number + 1, starts))
        restart = ca.vertcat(there, first[guess.numel() :], side, count + 1, 0, number + 1, 0)
        step = ca.if_else(again, restart, step)

    start = ca.vertcat(first, 0, 0, 0, 0, 0)
    # in a singularity the last step would go anywhere
    regular = ca.fabs(quality) > SMALLEST_MARGIN
    ended_at = platform.displaced(long_place(frame), ca.if_else(regular, delta, 0))
    end = frame_of(ended_at)
    last = pose_of(Frame(end.origin, orthonormalised(end.axes)))
    final = _at(mechanism, x, ca.vertcat(last, ended_at[16:]))
    residual = mechanism.joint_errors(final, mechanism.coordinate_errors(x.q.symbols, mechanism.coordinates(final)))
    if platform.is_constrained:
        gaps = mechanism.constraint_scale(mechanism.size) * mechanism.constraint_values(final)
        residual = ca.vertcat(residual, gaps)
    worst = ca.SX(0)
    for k in range(residual.numel()):
        worst = ca.fmax(worst, ca.fabs(residual[k]))
    outputs = (
        port("pose", last, (4, 4)),
        *((port("internal", ended_at[16:]),) if platform.internal else ()),
        port("residual", worst, ()),
        port("steps", count, ()),
        # formulas of legs give coordinates beyond their own singularities too, in another working mode
        # (where no leg closed at the guess the quality, which is no number or zero there, says so)
        port("quality", ca.if_else(quality > 0, mechanism.quality(final, quality), quality), ()),
    )
    inputs = (x.q, *x.place)
    most = _MAX_STEPS * (starts + 2 if starts else 1)  # about the guess, and in the end at the guess
    return Iteration("forward_kinematics", inputs, outputs, state, start, step, mechanism.port, max_iterations=most)


def forward_kinematics_along(mechanism: Mechanism) -> Iteration:
    """Forward kinematics with the guess for the next row of a log, ``next``: the pose found, else the guess before."""
    once = forward_kinematics(mechanism)
    outputs = {p.name: p.symbols for p in once.outputs}
    guess = next(p.symbols for p in once.inputs if p.name == "pose")
    good = is_solution(mechanism, outputs["residual"], outputs["quality"])
    following = port("next", ca.if_else(good, outputs["pose"], guess), (4, 4))
    return replace(once, name="forward_kinematics_along", outputs=(*once.outputs, following))


def forward_kinematics_with_coordinates(mechanism: Mechanism, starts: int = 0) -> Iteration:
    """Forward kinematics of a robot of fewer than six degrees of freedom with its generalized coordinates ``x``: from
    its motors to its coordinates in one call."""
    once = forward_kinematics(mechanism, starts)
    pose = next(p.symbols for p in once.outputs if p.name == "pose")
    place = ca.vertcat(pose, *[p.symbols for p in once.outputs if p.name == "internal"])
    legs = [] if not mechanism.coordinate_joints else _at(mechanism, mechanism.inputs(), place)
    own = port("x", coordinates_at(mechanism, pose, legs))
    return replace(once, outputs=(once.outputs[0], own, *once.outputs[1:]))


def _at(mechanism: Mechanism, given: Inputs, pose: ca.SX) -> list[LegAtState]:
    """The legs at rest in a pose of symbols, with internal coordinates after it."""
    x = mechanism.inputs()
    x.at_place(pose)
    x.elastic = given.elastic
    return mechanism.attach(mechanism.platform.rest(x))
