"""Fixed points x = f(x) as compiled iterations, with Aitken's relaxation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

from .expression import Expression, Iteration, Port, port
from .implicit_function import Equations

MAX_ITERATIONS = 100
# Rounds end when no value changes by more than this part of the largest: a few roundings of the function,
# in double and in single precision (there 80 of them: sums of a function keep five digits).
CHANGE_TOLERANCE, SINGLE_CHANGE_TOLERANCE = 1e-13, 1e-5
_FLOAT_DIGITS = math.log(2.0**-23) / math.log(2.0**-52)
"""Digits of single precision as a part of those of double."""
# Bounds of the relaxation factor's size; with a factor of zero no later round would differ.
_MAX_RELAXATION, _MIN_RELAXATION = 20.0, 0.05


def single_precision(tolerance: float) -> float:
    """A tolerance of double precision in single precision: it takes the same part of the digits."""
    return float(tolerance**_FLOAT_DIGITS)


def changes(old: ca.SX, new: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Largest size of the new values, and their largest change."""
    largest, change = ca.SX(0), ca.SX(0)
    for i in range(old.numel()):
        largest = ca.fmax(largest, ca.fabs(new[i]))
        change = ca.fmax(change, ca.fabs(new[i] - old[i]))
    return largest, change


def aitken_relaxation(residual: ca.SX, previous: ca.SX, relaxation: ca.SX) -> ca.SX:
    """Aitken's relaxation factor w of x + w r from two residuals r = f(x) - x and the last factor, within bounds.

    w = -w_last r_last.(r - r_last)/|r - r_last|^2: the next residual is zero where r is linear along the step.
    """
    change = residual - previous
    factor = -relaxation * ca.dot(previous, change) / ca.fmax(ca.dot(change, change), 1e-300)
    return ca.if_else(
        factor < 0,
        ca.fmax(-_MAX_RELAXATION, ca.fmin(-_MIN_RELAXATION, factor)),
        ca.fmin(_MAX_RELAXATION, ca.fmax(_MIN_RELAXATION, factor)),
    )


def fixed_point(
    target: Expression,
    unknown: Port,
    inputs: tuple[Port, ...],
    update: ca.SX,
    once: bool = False,
    tolerance: float = CHANGE_TOLERANCE,
) -> Iteration:
    """``target`` at the fixed point x = f(x) of ``unknown`` x (k); ``update`` is f, an expression of its symbols.

    ``target`` has the same inputs and ``unknown`` last. Aitken's relaxation keeps the iterations few where a round does
    not shrink the error much; they end when x changes by a part ``tolerance`` of its largest value at most. With
    ``once`` f(0) is taken. Outputs gain ``converged``. State: x, last residual,
    relaxation factor, rounds, converged, done.
    """
    k = unknown.length
    state = ca.SX.sym("state", 2 * k + 4)
    old, previous, relaxation, count = state[:k], state[k : 2 * k], state[2 * k], state[2 * k + 1]
    new = ca.substitute(update, unknown.symbols, old)
    residual = new - old
    largest, change = changes(old, new)
    # What is not a finite number is never equal to itself: such a state must not pass, nor keep its neighbours waiting.
    lost = ca.logic_not(change <= 1e300)
    converged = ca.SX(1) if once else ca.logic_and(change <= tolerance * largest, ca.logic_not(lost))
    # the first round has no residual before it
    relaxation = ca.if_else(count < 1, 1, aitken_relaxation(residual, previous, relaxation))
    following = ca.if_else(converged, new, old + relaxation * residual)
    done = ca.logic_or(ca.logic_or(converged, lost), count + 1 >= MAX_ITERATIONS)
    step = ca.vertcat(following, residual, relaxation, count + 1, converged, done)
    given = [*(p.symbols for p in inputs), old]
    results = ca.substitute([p.symbols for p in target.outputs], [p.symbols for p in target.inputs], given)
    outputs = [port(p.name, value, p.shape) for p, value in zip(target.outputs, results, strict=True)]
    outputs.append(port("converged", state[2 * k + 2], ()))
    start = ca.SX.zeros(2 * k + 4)

    def equations() -> Equations:
        """x - f(x), or x - f(0) with ``once``."""
        move = ca.SX.sym("move", k)
        known = ca.SX.zeros(k) if once else old + move
        residual = old + move - ca.substitute(update, unknown.symbols, known)
        return Equations(move, ca.vertcat(old + move, state[k:]), residual, state[2 * k + 2])

    return Iteration(
        target.name,
        inputs,
        tuple(outputs),
        state,
        start,
        step,
        target.parameters,
        equations=equations,
        max_iterations=MAX_ITERATIONS,
    )


def converged(old: ca.SX, new: ca.SX, part: ca.SX | float = CHANGE_TOLERANCE) -> ca.SX:
    """Whether no value changes by more than a part of the largest."""
    largest, change = changes(old, new)
    return change <= part * largest


# ----------------------------------------------------------------------------------------------------------------------
# Numerical continuation: unknowns followed from a known solution by Newton's iteration, in steps it can take.

NEWTON_TOLERANCE = 1e-8
"""Relative gap that one more step of Newton closes to rounding."""
_BLUNT, _SHARPEST = 0.01, 1e-4
"""Quality of equations below which gaps must be smaller, and the smallest part of a tolerance above rounding."""
_MAX_NEWTON_STEPS = 8
"""For one step of continuation."""
_CONTRACTION = 0.25
"""Largest part of the gap that a step of Newton may leave: with more it may lead to another solution (Kantorovich: of
a quadratic equation it leads to the near one if the first step leaves at most a quarter)."""
_LONGEST_STEP = 2.0
"""Of Newton, in radians or sizes of the leg: a longer one may lead by whole turns to another working mode, whose gap
and signs are as good."""
_MIN_STEP = 2.0**-20
"""Step in t below which continuation gives up."""
_MAX_ITERATIONS = 400


class NewtonStep(NamedTuple):
    """The unknowns after a step of Newton, the squared relative gap before it, whether they are on the same branch.

    A gap up to ``tolerance`` is one that the step closes to rounding if its own squared size, ``step2``, is small too:
    a step d leaves an error of about d^2 over the smallest singular value of the equations, which no gap tells. In
    single precision (not ``exact``) that is rounding.
    """

    moved: ca.SX
    gap2: ca.SX
    same_branch: ca.SX
    tolerance: float = NEWTON_TOLERANCE
    step2: ca.SX | float = 0.0
    exact: bool = True

    @property
    def solved(self) -> ca.SX:
        """Whether the unknowns solve the equations but for what one step of Newton closes, on the same branch."""
        return self.within(self.tolerance)

    def within(self, tolerance: float) -> ca.SX:
        """Whether the unknowns are on the same branch, with a gap of at most ``tolerance`` and a small step."""
        small = self.gap2 <= tolerance**2
        if self.exact:
            small = ca.logic_and(small, self.step2 <= self.tolerance**2)
        return ca.logic_and(small, self.same_branch)


def sharpness(quality: ca.SX) -> ca.SX:
    """Part of a gap that one step of Newton closes to rounding, by the ``quality`` of its matrix.

    The step from a gap g leaves an error of (g/quality)^2/quality: g must fall as quality^1.5 does; not below what is
    rounding itself.
    """
    part = ca.fmin(1, quality / _BLUNT)
    return ca.fmax(_SHARPEST, part * ca.sqrt(ca.fmax(part, 0)))


class Continuation(NamedTuple):
    """An iteration's state, start and step; the unknowns come first in the state, its ``done`` flag last."""

    state: ca.SX
    start: ca.SX
    step: ca.SX
    max_iterations: int = _MAX_ITERATIONS


def continuation(
    unknowns: ca.SX, start: ca.SX, newton: Callable[[ca.SX, ca.SX], NewtonStep], strict: bool = True
) -> Continuation:
    """Unknowns (k symbols) at the end t = 1 of a path on which they are ``start`` at t = 0.

    ``newton(t, unknowns)`` takes a step of Newton at t. State: unknowns, those of the last t that was solved, t, the
    last t that was solved, the step in t, steps of Newton at t, the squared gap before the last of them, steps in all,
    done. Where unknowns take their steps one after the other a gap may grow before it falls: then it is not ``strict``.
    """
    kept, rest = ca.SX.sym("kept", unknowns.numel()), ca.SX.sym("continuation", 7)
    t, t_kept, dt, iterations, before, total, _ = (rest[k] for k in range(7))
    newton_step = newton(t, unknowns)
    moved, gap2, solved = newton_step.moved, newton_step.gap2, newton_step.solved
    lost = is_lost(gap2, before if strict else ca.SX(ca.inf), iterations)
    failed = ca.logic_and(ca.logic_not(solved), ca.logic_or(lost, newton_step.step2 > _LONGEST_STEP**2))
    next_dt = ca.if_else(solved, 2 * dt, ca.if_else(failed, 0.25 * dt, dt))
    base = ca.if_else(solved, t, t_kept)
    step = ca.vertcat(
        ca.if_else(failed, kept, moved),
        ca.if_else(solved, moved, kept),
        ca.if_else(ca.logic_or(solved, failed), ca.fmin(1, base + next_dt), t),
        base,
        next_dt,
        ca.if_else(ca.logic_or(solved, failed), 0, iterations + 1),
        gap2,
        total + 1,
        ca.logic_or(ca.logic_and(solved, t >= 1), ca.logic_or(next_dt < _MIN_STEP, total + 1 >= _MAX_ITERATIONS)),
    )
    return Continuation(ca.vertcat(unknowns, kept, rest), ca.vertcat(start, start, 1, 0, 1, 0, 0, 0, 0), step)


def is_lost(gap2: ca.SX, before: ca.SX, iterations: ca.SX) -> ca.SX:
    """Whether Newton's iteration is given up after some ``iterations``: its gap does not fall as near a solution."""
    slow = ca.logic_and(iterations > 0, ca.logic_not(gap2 <= _CONTRACTION**2 * before))
    return ca.logic_or(slow, ca.logic_or(ca.logic_not(gap2 <= 1e6), iterations + 1 >= _MAX_NEWTON_STEPS))
