"""Fixed points over compiled iterations: values that repeat when a function is applied to them."""

from __future__ import annotations

import casadi as ca

from .expression import Expression, Iteration, Port, port

MAX_ROUNDS = 100
# Rounds end when no value changes by more than this part of the largest: a few roundings of the function.
REPEATED = 1e-13
# Largest and smallest step of the accelerated iteration, in plain steps: one of none would be its last.
_PACE, _LEAST = 20.0, 0.05


def changes(old: ca.SX, new: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Largest size of the new values, and their largest change."""
    largest, change = ca.SX(0), ca.SX(0)
    for i in range(old.numel()):
        largest = ca.fmax(largest, ca.fabs(new[i]))
        change = ca.fmax(change, ca.fabs(new[i] - old[i]))
    return largest, change


def next_pace(residual: ca.SX, previous: ca.SX, pace: ca.SX) -> ca.SX:
    """Aitken's pace: the one that would have cancelled the last change of the residual."""
    turn = residual - previous
    faster = -pace * ca.dot(previous, turn) / ca.fmax(ca.dot(turn, turn), 1e-300)
    return ca.if_else(faster < 0, ca.fmax(-_PACE, ca.fmin(-_LEAST, faster)), ca.fmin(_PACE, ca.fmax(_LEAST, faster)))


def fixed_point(
    target: Expression, unknown: Port, inputs: tuple[Port, ...], fresh: ca.SX, once: bool = False
) -> Iteration:
    """``target`` at values of ``unknown`` (k) that repeat: ``fresh`` are those that follow from ``unknown``.

    ``target`` has the same inputs and ``unknown`` last. Aitken's acceleration keeps the rounds few where a round does
    not shrink the error much. With ``once`` the values after one round from zero are taken. Outputs gain ``converged``.
    State: values, last residual, pace, rounds, converged, done.
    """
    k = unknown.length
    state = ca.SX.sym("state", 2 * k + 4)
    old, previous, pace, count = state[:k], state[k : 2 * k], state[2 * k], state[2 * k + 1]
    new = ca.substitute(fresh, unknown.symbols, old)
    residual = new - old
    largest, change = changes(old, new)
    # What is not a finite number is never equal to itself: such a state must not pass, nor keep its neighbours waiting.
    lost = ca.logic_not(change <= 1e300)
    converged = ca.SX(1) if once else ca.logic_and(change <= REPEATED * largest, ca.logic_not(lost))
    # the first rounds go plainly
    pace = ca.if_else(count < 1, 1, next_pace(residual, previous, pace))
    following = ca.if_else(converged, new, old + pace * residual)
    done = ca.logic_or(ca.logic_or(converged, lost), count + 1 >= MAX_ROUNDS)
    step = ca.vertcat(following, residual, pace, count + 1, converged, done)
    given = [*(p.symbols for p in inputs), old]
    results = ca.substitute([p.symbols for p in target.outputs], [p.symbols for p in target.inputs], given)
    outputs = [port(p.name, value, p.shape) for p, value in zip(target.outputs, results, strict=True)]
    outputs.append(port("converged", state[2 * k + 2], ()))
    start = ca.SX.zeros(2 * k + 4)
    return Iteration(target.name, inputs, tuple(outputs), state, start, step, target.parameters)


def converged(old: ca.SX, new: ca.SX, part: ca.SX | float = REPEATED) -> ca.SX:
    """Whether no value changes by more than a part of the largest."""
    largest, change = changes(old, new)
    return change <= part * largest
