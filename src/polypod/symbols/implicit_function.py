"""Functions that iterate as CasADi functions with derivatives: by the implicit function theorem, at the solution.

An iteration ends in numbers s from which its results follow. What it solves is stated as equations c(x, s, u) = 0 of
its inputs x and of moves u of its unknowns, with u = 0 at the end of the iteration. CasADi differentiates u(x), for
which s is constant; results are those of the moved numbers s(u). So no derivative goes through the iteration, and
there are derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

_DOUBLINGS = 10
"""Rounds are at most 2 to this power: more than any iteration takes before it gives up."""
_NEWTON_STEPS = 3
"""From a solution that one step of Newton makes exact."""


@dataclass(frozen=True)
class Equations:
    """What an iteration solves, as expressions of its inputs, of its state s and of ``move`` u (k symbols).

    ``residual`` c(x, s, u) (k) vanishes for u = 0 at the end of the iteration, where ``moved`` s(u) is s. ``solved``
    says of x and s whether the iteration found a solution; where not, its results stay as they are.
    """

    move: ca.SX
    moved: ca.SX
    residual: ca.SX
    solved: ca.SX

    def substituted(self, old: ca.SX, new: ca.SX) -> Equations:
        """The same with expressions in the place of symbols."""
        moved, residual, solved = ca.substitute([self.moved, self.residual, self.solved], [old], [new])
        return replace(self, moved=moved, residual=residual, solved=solved)


Named = Sequence[tuple[str, ca.SX]]


def implicit_function(
    name: str, inputs: Named, loop: tuple[ca.SX, ca.SX, ca.SX], equations: Equations, outputs: Named
) -> ca.Function:
    """The function of MX ``inputs`` -> ``outputs``, expressions of the inputs and of the state of a ``loop``.

    ``loop`` is the state (symbols, the last is 1 when it is done), its start and its step.
    """
    symbols, names = [x for _, x in inputs], [key for key, _ in inputs]
    x = [ca.MX.sym(key, *value.shape) for key, value in inputs]
    state = _end_of(symbols, loop)(*x)
    given = ca.vertcat(*[ca.vec(value) for value in symbols], loop[0])
    problem = {
        "x": equations.move,
        "p": given,
        "g": ca.cse(ca.densify(equations.residual)),
    }
    options = {"error_on_fail": False, "max_iter": _NEWTON_STEPS, "abstol": 1e-300, "abstolStep": 1e-300}
    root = ca.rootfinder("moves", "fast_newton", problem, options)
    solved = ca.Function("solved", [*symbols, loop[0]], [equations.solved])
    moves = ca.if_else(solved(*x, state), root(0, ca.vertcat(*[ca.vec(value) for value in x], state)), 0)
    moved = ca.Function("moved", [loop[0], equations.move], ca.cse([ca.densify(equations.moved)]))
    finish = ca.Function("finish", [*symbols, loop[0]], ca.cse([value for _, value in outputs]))
    return ca.Function(name, x, finish.call([*x, moved(state, moves)]), names, [key for key, _ in outputs])


def _end_of(inputs: list[ca.SX], loop: tuple[ca.SX, ca.SX, ca.SX]) -> ca.Function:
    """The state at the end of a loop, a constant to whoever differentiates.

    2 n iterations are n rounds twice, and none where the loop is done: ten such functions, one in the other, are a
    loop.
    """
    state, begin, following = loop
    x = [ca.MX.sym(f"x{k}", *value.shape) for k, value in enumerate(inputs)]
    now = ca.MX.sym("state", *state.shape)
    same = ca.Function("same", [*inputs, state], [state])
    iterations = ca.Function("round", [*inputs, state], ca.cse([ca.densify(following)]))
    for _ in range(_DOUBLINGS):
        twice = ca.Function("twice", [*x, now], [iterations(*x, iterations(*x, now))])
        unless_done = ca.Function.if_else("unless_done", same, twice)
        iterations = ca.Function("iterations", [*x, now], [unless_done(now[-1], *x, now)])
    start = ca.Function("start", inputs, [ca.densify(begin)])
    constant = {"is_diff_in": [False] * len(x), "is_diff_out": [False]}
    return ca.Function("end", x, [iterations(*x, start(*x))], constant)
