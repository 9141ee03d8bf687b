"""Functions of a state that hold unknowns found from equations: y(x, z) with c(x, z) = 0.

Their series and adjoints come from the solution by linear solves with the one matrix c_z, never through an iteration:
z' = -c_z^-1 c_x x', and a weight on y pulls back to x through c_z^-T (the implicit function theorem).
"""

from __future__ import annotations

from copy import copy

import casadi as ca

from ..arrays import Array
from ..lazy import lazy
from .linear import BlockFactor
from .tape import Tape


class ImplicitTape:
    """y(x, z) of inputs x and unknowns z, of which there are as many as ``equations`` c(x, z) = 0.

    The unknowns are a solution, the symbols ``place``, and a displacement ``move`` from it: y and the equations are
    expressions of x, ``place`` and ``move``, and derivatives are taken at move = 0. Methods take [x; place].
    """

    def __init__(self, x: ca.SX, place: ca.SX, move: ca.SX, y: ca.SX, equations: ca.SX, fixed: ca.SX) -> None:
        self.n_in, self.n_out = int(x.numel()), int(y.numel())
        self._x, self._place, self._move, self._fixed = x, place, move, fixed
        self._y, self._equations = ca.densify(y), ca.densify(equations)
        self._zero_move = ca.SX.zeros(move.numel())

    @lazy
    def _tape(self) -> Tape:
        return Tape(ca.vertcat(self._x, self._place, self._move), self._y, self._fixed)

    @lazy
    def _equation_tape(self) -> Tape:
        return Tape(ca.vertcat(self._x, self._place, self._move), self._equations, self._fixed)

    @lazy
    def _at_solution(self) -> ca.Function:
        """y, c and c_z at a solution."""
        return self._function("solution", [], [self._y, self._equations, ca.jacobian(self._equations, self._move)])

    @lazy
    def _forward(self) -> ca.Function:
        """(y_x, c_x) v for a direction v of x, and y_z w for one of z."""
        v, w = ca.SX.sym("v", self.n_in), ca.SX.sym("w", self._move.numel())
        parts = [ca.jtimes(self._y, self._x, v), ca.jtimes(self._equations, self._x, v)]
        return self._function("forward", [v, w], [*parts, ca.jtimes(self._y, self._move, w)])

    @lazy
    def _reverse(self) -> ca.Function:
        """y_x^T w, y_z^T w for weights w on y, and c_x^T v for weights v on the equations."""
        w, v = ca.SX.sym("w", self.n_out), ca.SX.sym("v", self._move.numel())
        parts = [ca.jtimes(self._y, self._x, w, True), ca.jtimes(self._y, self._move, w, True)]
        return self._function("reverse", [w, v], [*parts, ca.jtimes(self._equations, self._x, v, True)])

    def _function(self, name: str, more: list[ca.SX], parts: list[ca.SX]) -> ca.Function:
        parts = ca.substitute(parts, [self._move], [self._zero_move])
        return ca.Function(name, [self._x, self._place, self._fixed, *more], ca.cse(parts))

    def call(self, function: ca.Function, x: ca.SX, *more: ca.SX) -> tuple[ca.SX, ...]:
        """One of the functions at [x; place]."""
        return tuple(function.call([x[: self.n_in], x[self.n_in :], self._fixed, *more]))

    def factor(self, x: ca.SX) -> BlockFactor:
        """c_z at a solution, factored."""
        return BlockFactor(ca.sparsify(self.call(self._at_solution, x)[2]))

    def taylor(self, x0: ca.SX, x1: ca.SX, x2: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Coefficients of y(x(t), z(t)) for x(t) = x0 + x1 t + x2 t^2, to order two."""
        factor = self.factor(x0)
        first = -factor.solve(self.call(self._forward, x0, x1[: self.n_in], self._zero_move)[1])
        at, rate, half = ca.vertcat(x0, self._zero_move), ca.vertcat(x1, first), ca.vertcat(x2, self._zero_move)
        second = -factor.solve(self._equation_tape.taylor(at, rate, half)[2])
        return self._tape.taylor(at, rate, ca.vertcat(x2, second))

    def values(self, x: ca.SX) -> ImplicitReplay:
        """Values at a solution, kept for tangents and adjoints."""
        return ImplicitReplay(self, x)


class ImplicitReplay:
    """Values of a function with unknowns at one solution, from which first derivatives follow."""

    def __init__(self, tape: ImplicitTape, x: ca.SX) -> None:
        self._tape, self._at = tape, x
        self.y, self.residual, _ = tape.call(tape._at_solution, x)

    @lazy
    def factor(self) -> BlockFactor:
        """c_z, factored."""
        return self._tape.factor(self._at)

    def tangent(self, direction: ca.SX) -> ca.SX:
        """(dy/dx) direction, one column."""
        direct, residual, _ = self._tape.call(self._tape._forward, self._at, direction, self._tape._zero_move)
        move = -self.factor.solve(residual)
        through = self._tape.call(self._tape._forward, self._at, ca.SX.zeros(self._tape.n_in), move)[2]
        return direct + through

    def jacobian(self) -> ca.SX:
        """dy/dx, (n_out, n_in)."""
        eye = ca.SX.eye(self._tape.n_in)
        return ca.horzcat(*[self.tangent(ca.densify(eye[:, j])) for j in range(self._tape.n_in)])

    def adjoint(self, weights: ca.SX) -> ca.SX:
        """(dy/dx)^T weights, one column."""
        direct, on_unknowns, _ = self._tape.call(self._tape._reverse, self._at, weights, self._tape._zero_move)
        carried = -self.factor.solve_transposed(on_unknowns)
        through = self._tape.call(self._tape._reverse, self._at, ca.SX.zeros(self._tape.n_out), carried)[2]
        return direct + through


class SolvedTape:
    """y(x, z) of inputs x and unknowns z with ``equations`` c(x, z) = 0, at inputs whose solution is z = 0.

    Other than an ``ImplicitTape`` it is one tape, of which values may be known.
    """

    def __init__(self, x: ca.SX, z: ca.SX, y: ca.SX, equations: ca.SX, fixed: ca.SX) -> None:
        self.n_in, self.n_out, self.unknowns = int(x.numel()), int(y.numel()), int(z.numel())
        self.tape = Tape(ca.vertcat(x, z), ca.vertcat(y, equations), fixed)

    def at_solution(self, x: ca.SX) -> ca.SX:
        """Inputs [x; z] of the tape."""
        return ca.vertcat(x, ca.SX.zeros(self.unknowns))

    def all_values(self, x: ca.SX) -> ca.SX:
        """The values of all operations, in order."""
        return self.tape.all_values(self.at_solution(x))

    def knowing(self, samples: Array) -> SolvedTape:
        """The same for inputs of which samples of all values are given."""
        tape = copy(self)
        tape.tape = self.tape.knowing(samples)
        return tape

    def values(self, x: ca.SX) -> SolvedReplay:
        """Values at a solution, kept for tangents and adjoints."""
        return SolvedReplay(self, x)

    def taylor(self, x0: ca.SX, x1: ca.SX, x2: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Coefficients of y(x(t), z(t)) for x(t) = x0 + x1 t + x2 t^2, to order two."""
        replay = self.values(x0)
        still, split = ca.SX.zeros(self.unknowns), self.n_out
        first = replay.follow(ca.vertcat(x1, still))
        orders = self.tape.taylor(self.at_solution(x0), ca.vertcat(x1, first), ca.vertcat(x2, still))
        second = -replay.factor.solve(orders[2][split:])
        return orders[0][:split], orders[1][:split], orders[2][:split] + replay.by_unknowns[:split, :] @ second


class SolvedReplay:
    """Values of such a function, from which first derivatives follow."""

    def __init__(self, tape: SolvedTape, x: ca.SX) -> None:
        self._tape, self._replay = tape, tape.tape.values(tape.at_solution(x))
        self.y, self.residual = self._replay.y[: tape.n_out], self._replay.y[tape.n_out :]

    @lazy
    def by_unknowns(self) -> ca.SX:
        """[y_z; c_z]"""
        eye = ca.SX.eye(self._tape.n_in + self._tape.unknowns)
        columns = [ca.densify(eye[:, self._tape.n_in + k]) for k in range(self._tape.unknowns)]
        return ca.horzcat(*[self._replay.tangent(column) for column in columns])

    @lazy
    def factor(self) -> BlockFactor:
        """c_z, factored."""
        return BlockFactor(ca.sparsify(self.by_unknowns[self._tape.n_out :, :]))

    def follow(self, direction: ca.SX) -> ca.SX:
        """How z moves with a direction of x."""
        return -self.factor.solve(self._replay.tangent(direction)[self._tape.n_out :])

    def tangent(self, direction: ca.SX) -> ca.SX:
        """(dy/dx) direction, one column."""
        split, along = self._tape.n_out, ca.vertcat(direction, ca.SX.zeros(self._tape.unknowns))
        return self._replay.tangent(along)[:split] + self.by_unknowns[:split, :] @ self.follow(along)

    def jacobian(self) -> ca.SX:
        """dy/dx, (n_out, n_in)."""
        eye = ca.SX.eye(self._tape.n_in)
        return ca.horzcat(*[self.tangent(ca.densify(eye[:, j])) for j in range(self._tape.n_in)])

    def adjoint(self, weights: ca.SX) -> ca.SX:
        """(dy/dx)^T weights, one column: a second weight on the equations makes the unknowns' part vanish."""
        n, split = self._tape.n_in, self._tape.n_out
        on_equations = -self.factor.solve_transposed(self.by_unknowns[:split, :].T @ weights)
        return self._replay.adjoint(ca.vertcat(weights, on_equations))[:n]
