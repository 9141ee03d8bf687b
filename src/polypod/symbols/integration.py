"""Explicit Runge-Kutta steps: methods as data, steps in numbers, and steps as a compiled iteration.

The iteration evaluates one stage (or one round of an inner fixed point) each time round, so that its code holds the
rate once, however many stages and steps there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import casadi as ca
import numpy as np

from ..arrays import Array
from ..lazy import lazy
from .expression import Iteration, Port


@dataclass(frozen=True)
class Method:
    """k_i = f(t + c_i h, y + a_i h k_(i-1)), y(t + h) = y + h sum b_i k_i: each stage needs the last rate only.

    ``reach`` are a_i, ``nodes`` c_i, ``weights`` b_i. The conditions of its ``order`` (up to 4, Butcher's trees) are
    checked exactly when it is made.
    """

    name: str
    order: int
    nodes: tuple[Fraction, ...]
    reach: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not len(self.nodes) == len(self.reach) == len(self.weights):
            raise ValueError(f"{self.name}: nodes, reach and weights must be equally many")
        if self.nodes != self.reach:
            raise ValueError(f"{self.name}: a stage must reach as far as its node, a_i = c_i")
        if not 1 <= self.order <= 4:
            raise ValueError(f"{self.name}: orders 1 to 4 are checked, got {self.order}")
        c = self.nodes
        ac = self._times_a(c)
        conditions = [  # sum b_i phi_i = 1/density, by order
            (1, [Fraction(1)] * len(c), 1),
            (2, list(c), 2),
            (3, [x**2 for x in c], 3),
            (3, ac, 6),
            (4, [x**3 for x in c], 4),
            (4, [x * y for x, y in zip(c, ac, strict=True)], 8),
            (4, self._times_a([x**2 for x in c]), 12),
            (4, self._times_a(ac), 24),
        ]
        for order, phi, density in conditions:
            total = sum((b * x for b, x in zip(self.weights, phi, strict=True)), Fraction(0))
            if order <= self.order and total * density != 1:
                raise ValueError(
                    f"{self.name}: not of order {self.order}: a sum of order {order} is {total}, not 1/{density}"
                )

    def _times_a(self, values: Sequence[Fraction]) -> list[Fraction]:
        """A times a column; only the diagonal below the main one is not zero."""
        return [Fraction(0), *(a * x for a, x in zip(self.reach[1:], values[:-1], strict=True))]

    @lazy
    def numbers(self) -> list[tuple[float, float, float]]:
        """Node, reach and weight of every stage."""
        return [(float(c), float(a), float(b)) for c, a, b in zip(self.nodes, self.reach, self.weights, strict=True)]

    def advance(self, rate: Callable[[float, Array], Array], time: float, y: Array, h: float) -> Array:
        """y at ``time + h``; ``rate(time, y)`` is dy/dt."""
        total, last = np.zeros_like(y), np.zeros_like(y)
        for c, a, b in self.numbers:
            last = rate(time + c * h, y + (a * h) * last)
            total = total + b * last
        return y + h * total


_HALF, _SIXTH, _THIRD = Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)
RK4 = Method(
    "RK4", 4, (Fraction(0), _HALF, _HALF, Fraction(1)), (Fraction(0), _HALF, _HALF, Fraction(1)),
    (_SIXTH, _THIRD, _THIRD, _SIXTH),
)  # fmt: skip
"""The classical method of fourth order."""
MAX_ITERATIONS = 400
"""How often a stage's rate is evaluated until its inner values are taken not to converge."""
MIN_STEP_FRACTION = 1e-3
"""The shortest step that a corner of the rate may cut a step to, as a fraction of it."""
MAX_PHASE, MAX_DECAY, MAX_STABLE = 0.4, 1.0, 2.7
"""How long a step of RK4 may be: bounds of a rate [1/s] times the step [s].

An oscillation of rate w is off by (w h)^5/120 of its amplitude a step; a decay, such as dry friction's, need not be
followed but must not grow, which ends at 2.8: far enough below for loads that grow.
"""


@dataclass(frozen=True)
class Stage:
    """Where a rate is asked for: ``state`` at the step's beginning, ``y`` of the stage, ``inner`` values, all symbols.

    ``number`` counts the stages from 0, ``iterations`` how often the stage's rate was asked for before; ``step`` [s] is
    how long the step would be, ``time`` [s] when the stage is, from the beginning of the whole step.
    """

    state: ca.SX
    y: ca.SX
    inner: ca.SX
    number: ca.SX
    iterations: ca.SX
    step: ca.SX
    time: ca.SX


@dataclass(frozen=True)
class StageDerivative:
    """dy/dt at a stage; its quality (not above zero, or not a number: no answer); inner values found anew.

    ``converged`` says whether the inner values are those of the stage; otherwise it is asked for again with them. At
    the first stage ``max_step`` [s] may cut the step short, so that its end is where the rate has a corner.
    """

    rate: ca.SX
    quality: ca.SX
    inner: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    converged: ca.SX = field(default_factory=lambda: ca.SX(1))
    max_step: ca.SX | None = None


@dataclass(frozen=True)
class Outcome:
    """After the last step: state, smallest quality on the way, whether inner values were found, the last of them."""

    state: ca.SX
    quality: ca.SX
    converged: ca.SX
    inner: ca.SX


def _by_stage(number: ca.SX, values: Sequence[Fraction]) -> ca.SX:
    """The value of a stage, by its number."""
    result = ca.SX(float(values[-1]))
    for k in range(len(values) - 2, -1, -1):
        if values[k] != values[k + 1]:
            result = ca.if_else(number < k + 0.5, float(values[k]), result)
    return result


def runge_kutta(
    name: str,
    inputs: tuple[Port, ...],
    start: ca.SX,
    step: ca.SX,
    count: ca.SX,
    derivative: Callable[[Stage], StageDerivative],
    outputs: Callable[[Outcome], tuple[Port, ...]],
    *,
    method: Method = RK4,
    inner: ca.SX | None = None,
    chart: Callable[[ca.SX], ca.SX] = lambda state: state,
    state_of: Callable[[ca.SX, ca.SX], ca.SX] = lambda state, y: y,
    parameters: Port | None = None,
) -> Iteration:
    """``count`` steps of length ``step`` from a state ``start``, all functions of the inputs, as one iteration.

    A state is integrated in a chart of its own: ``chart(state)`` are the numbers y at the beginning of a step,
    ``state_of(state, y)`` the state that other numbers in the same chart mean. ``inner`` are the first values of what a
    rate depends on and finds anew, round by round; a stage starts from those of the last one. A step that is cut short
    is followed by another until the whole step is done. The iteration ends early, with the outcome so far, where the
    quality is lost or inner values are not found. The loop's state: state, sum of the rates, last rate, inner values,
    stage, steps to go, rounds, length of the step and what is left of it, smallest quality, converged, done.
    """
    state = ca.SX.sym("state", start.numel())
    beginning = chart(state)
    first = ca.SX(0, 1) if inner is None else inner
    length, inside = beginning.numel(), first.numel()
    total, last, old = ca.SX.sym("total", length), ca.SX.sym("last", length), ca.SX.sym("inner", inside)
    number, left, iterations, kept, rest, worst, converged, done = (
        ca.SX.sym(text) for text in ("stage", "left", "iterations", "length", "rest", "worst", "converged", "done")
    )
    reach, weight = _by_stage(number, method.reach), _by_stage(number, method.weights)
    final = number > len(method.nodes) - 1.5
    since = (step - rest) + reach * kept
    asked = derivative(Stage(state, beginning + (reach * kept) * last, old, number, iterations, step, since))
    ready, lost = ca.SX(1), ca.SX(0)
    if inside:
        ready = asked.converged
        finite = ca.sum1(ca.fabs(asked.rate)) <= 1e300
        lost = ca.logic_or(ca.logic_not(finite), ca.logic_and(ca.logic_not(ready), iterations + 1 >= MAX_ITERATIONS))
    now, remaining, complete = kept, rest, ca.SX(1)
    if asked.max_step is not None:
        # what is left behind a cut must be worth a step of its own
        short = ca.if_else(
            asked.max_step < rest - MIN_STEP_FRACTION * step, ca.fmax(asked.max_step, MIN_STEP_FRACTION * step), rest
        )
        now = ca.if_else(number < 0.5, ca.fmin(short, rest), kept)
        complete = rest - now <= 0.5 * MIN_STEP_FRACTION * step
        remaining = ca.if_else(complete, step, rest - now)
    summed = total + weight * asked.rate
    over_stage = ca.logic_and(ready, final)
    whole = ca.logic_and(over_stage, complete)
    quality = ca.fmin(worst, asked.quality)
    over = ca.logic_or(lost, ca.logic_not(quality > 0))
    following = ca.vertcat(
        ca.if_else(over_stage, state_of(state, beginning + now * summed), state),
        ca.if_else(over_stage, 0, ca.if_else(ready, summed, total)),
        ca.if_else(ready, asked.rate, last),
        asked.inner,
        ca.if_else(ready, ca.if_else(final, 0, number + 1), number),
        ca.if_else(whole, left - 1, left),
        ca.if_else(ready, 0, iterations + 1),
        ca.if_else(ready, now, kept),
        ca.if_else(over_stage, remaining, rest),
        ca.if_else(ca.logic_or(over, ready), quality, worst),
        ca.if_else(lost, 0, converged),
        ca.logic_or(over, ca.logic_and(whole, left < 1.5)),
    )
    loop = ca.vertcat(state, total, last, old, number, left, iterations, kept, rest, worst, converged, done)
    begin = ca.vertcat(start, ca.SX.zeros(2 * length), first, 0, count, 0, step, step, 1, 1, 0)
    found = outputs(Outcome(state, worst, converged, old))
    inner_at = state.numel() + 2 * length
    inner_state = (*range(inner_at, inner_at + inside), inner_at + inside + 2) if inside else ()
    return Iteration(name, inputs, found, loop, begin, following, parameters, inner_state=inner_state)
