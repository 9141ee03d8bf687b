"""Numerical continuation: unknowns followed from a known solution by Newton's iteration, in steps it can take."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

NEWTON_TOLERANCE = 1e-8
"""Relative gap that one more step of Newton closes to rounding."""
_MAX_NEWTON_STEPS = 8
"""For one step of continuation."""
_MIN_STEP = 2.0**-12
"""Step in t below which continuation gives up."""
_MAX_ITERATIONS = 400


class NewtonStep(NamedTuple):
    """The unknowns after a step of Newton, the squared relative gap before it, whether they are on the same branch."""

    moved: ca.SX
    gap2: ca.SX
    same_branch: ca.SX


class Continuation(NamedTuple):
    """An iteration's state, start and step; the unknowns come first in the state, its ``done`` flag last."""

    state: ca.SX
    start: ca.SX
    step: ca.SX


def continuation(unknowns: ca.SX, start: ca.SX, newton: Callable[[ca.SX, ca.SX], NewtonStep]) -> Continuation:
    """Unknowns (k symbols) at the end t = 1 of a path on which they are ``start`` at t = 0.

    ``newton(t, unknowns)`` takes a step of Newton at t. State: unknowns, those of the last t that was solved, t, the
    last t that was solved, the step in t, steps of Newton at t, steps in all, done.
    """
    kept, rest = ca.SX.sym("kept", unknowns.numel()), ca.SX.sym("continuation", 6)
    t, t_kept, dt, iterations, total, _ = (rest[k] for k in range(6))
    moved, gap2, same_branch = newton(t, unknowns)
    solved = ca.logic_and(gap2 <= NEWTON_TOLERANCE**2, same_branch)
    lost = ca.logic_or(ca.logic_not(gap2 <= 1e6), iterations + 1 >= _MAX_NEWTON_STEPS)
    failed = ca.logic_and(ca.logic_not(solved), lost)
    next_dt = ca.if_else(solved, 2 * dt, ca.if_else(failed, 0.25 * dt, dt))
    base = ca.if_else(solved, t, t_kept)
    step = ca.vertcat(
        ca.if_else(solved, unknowns, ca.if_else(failed, kept, moved)),
        ca.if_else(solved, unknowns, kept),
        ca.if_else(ca.logic_or(solved, failed), ca.fmin(1, base + next_dt), t),
        base,
        next_dt,
        ca.if_else(ca.logic_or(solved, failed), 0, iterations + 1),
        total + 1,
        ca.logic_or(ca.logic_and(solved, t >= 1), ca.logic_or(next_dt < _MIN_STEP, total + 1 >= _MAX_ITERATIONS)),
    )
    return Continuation(ca.vertcat(unknowns, kept, rest), ca.vertcat(start, start, 1, 0, 1, 0, 0, 0), step)
