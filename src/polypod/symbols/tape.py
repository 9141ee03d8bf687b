"""A function as a tape of operations, replayed on Taylor series, tangents and adjoints.

CasADi differentiates expressions; replaying its instruction list keeps the values already computed and
truncates Taylor series exactly at second order, which takes a third fewer operations than differentiating twice.

A replay is itself a CasADi function, made once for all tapes with the same operations (the legs of a robot, and of
robots of one kind) and called with their symbols: a call takes a hundredth of the time of a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..arrays import Array
from ..lazy import lazy

Scalar = ca.SX
Series = tuple[Scalar, Scalar, Scalar]
_ZERO = ca.SX(0)
_MAX_TAPES = 256
"""Tapes of different operations whose replays are kept: a leg kind has a few."""


class _Step(NamedTuple):
    """A value: an operation on earlier values, an element of x or of the fixed symbols, or a constant."""

    op: int
    parents: tuple[int, ...] = ()
    place: int = -1
    fixed: int = -1
    constant: float = 0.0


Known = tuple[tuple[int, float, int], ...]
"""(value, factor, other): values that are a factor times an earlier one, or the factor itself (other: -1)."""


class _Operations(NamedTuple):
    """What a tape does: values in order, and which of them are the outputs (-1: zero).

    Fixed symbols are numbered as they are met: legs that differ only in which symbols they take have equal operations.
    Values that are ``known`` are not computed from their operation; derivatives are.
    """

    n_in: int
    n_fixed: int
    steps: tuple[_Step, ...]
    outputs: tuple[int, ...]
    known: Known = ()

    @staticmethod
    def of(f: ca.Function) -> tuple[_Operations, list[int]]:
        """Of a function (x, fixed) -> y, and which fixed symbols it takes.

        An SX function reuses memory slots: its values are numbered instead.
        """
        met: dict[int, int] = {}
        slot: dict[int, int] = {}
        steps: list[_Step] = []
        outputs = [-1] * f.numel_out(0)
        for k in range(f.n_instructions()):
            op, out, arguments = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
            if op == ca.OP_OUTPUT:
                outputs[out[1]] = slot[arguments[0]]
                continue
            if op == ca.OP_INPUT:
                if arguments[0]:
                    step = _Step(op, fixed=met.setdefault(arguments[1], len(met)))
                else:
                    step = _Step(op, place=arguments[1])
            elif op == ca.OP_CONST:
                step = _Step(op, constant=f.instruction_constant(k))
            else:
                step = _Step(op, tuple(slot[i] for i in arguments))
            slot[out[0]] = len(steps)
            steps.append(step)
        return _Operations(f.numel_in(0), len(met), tuple(steps), tuple(outputs)), list(met)

    def known_value(self, number: int, values: Sequence[Scalar]) -> Scalar | None:
        """What a value is known to be, from earlier ones; None for others."""
        found = next(((factor, other) for one, factor, other in self.known if one == number), None)
        if found is None:
            return None
        factor, other = found
        return ca.SX(factor) if other < 0 else factor * values[other]

    def select_outputs(self, values: Sequence[Scalar]) -> ca.SX:
        """The outputs' entries of a list with one entry for every value."""
        return ca.vertcat(*[values[i] if i >= 0 else _ZERO for i in self.outputs])


class Tape:
    """A vector function y(x) recorded once; ``x`` and ``y`` are symbol columns, ``fixed`` symbols that do not move."""

    def __init__(self, x: ca.SX, y: ca.SX, fixed: ca.SX | None = None) -> None:
        all_fixed = ca.SX(0, 1) if fixed is None else fixed
        self.operations, taken = _Operations.of(ca.Function("tape", [x, all_fixed], [ca.densify(y)]))
        self.fixed = ca.vertcat(*[all_fixed[k] for k in taken], ca.SX(0, 1))
        self.n_in, self.n_out = int(x.numel()), int(y.numel())

    def taylor(self, x0: ca.SX, x1: ca.SX, x2: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Coefficients of y(x(t)) for x(t) = x0 + x1 t + x2 t^2, to order two."""
        return tuple(_taylor(self.operations).call([x0, x1, x2, self.fixed]))  # type: ignore[return-value]

    def values(self, x: ca.SX) -> Replay:
        """The function's values at x, kept for tangents and adjoints."""
        return Replay(self, x)

    def all_values(self, x: ca.SX) -> ca.SX:
        """The values of all its operations, in order."""
        return _values(self.operations).call([x, self.fixed])[0]

    def knowing(self, samples: Array) -> Tape:
        """The same tape for inputs of which ``samples`` (s, values) of all its values are given.

        Values that are 0, 1 or -1 there, or an earlier one or its opposite, are known to be that. Samples at random
        numbers make it an identity: functions that differ agree at hardly any of them.
        """
        tape = copy(self)
        tape.operations = self.operations._replace(known=_same_values(self.operations.steps, samples))
        return tape


class Replay:
    """Values of all operations of a tape at one x, from which first derivatives are swept."""

    def __init__(self, tape: Tape, x: ca.SX) -> None:
        self._operations = tape.operations
        self._value, self.y = _values(tape.operations).call([x, tape.fixed])

    @lazy
    def _partials(self) -> ca.SX:
        return _partials(self._operations)(self._value)

    def tangent(self, direction: ca.SX) -> ca.SX:
        """(dy/dx) direction, one column."""
        return _tangent(self._operations)(self._partials, direction)

    def jacobian(self) -> ca.SX:
        """dy/dx, (n_out, n_in)."""
        eye = ca.SX.eye(self._operations.n_in)
        return ca.horzcat(*[self.tangent(ca.densify(eye[:, j])) for j in range(self._operations.n_in)])

    def adjoint(self, weights: ca.SX) -> ca.SX:
        """(dy/dx)^T weights, one column."""
        return _adjoint(self._operations)(self._partials, weights)


@lru_cache(_MAX_TAPES)
def _taylor(tape: _Operations) -> ca.Function:
    """(x0, x1, x2, fixed) -> coefficients of y to order two."""
    x = [ca.SX.sym(f"x{order}", tape.n_in) for order in range(3)]
    fixed = ca.SX.sym("fixed", tape.n_fixed)
    values: list[Series] = []
    for step in tape.steps:
        if step.place >= 0:
            values.append((x[0][step.place], x[1][step.place], x[2][step.place]))
        elif step.op == ca.OP_INPUT:
            values.append((fixed[step.fixed], _ZERO, _ZERO))
        elif step.op == ca.OP_CONST:
            values.append((ca.SX(step.constant), _ZERO, _ZERO))
        else:
            known = tape.known_value(len(values), [series[0] for series in values]) if tape.known else None
            values.append(_series(step.op, [values[i] for i in step.parents], known))
    results = [tape.select_outputs([series[order] for series in values]) for order in range(3)]
    return ca.Function("taylor", [*x, fixed], [ca.densify(column) for column in results])


@lru_cache(_MAX_TAPES)
def _values(tape: _Operations) -> ca.Function:
    """(x, fixed) -> all values, y."""
    x, fixed = ca.SX.sym("x", tape.n_in), ca.SX.sym("fixed", tape.n_fixed)
    values: list[Scalar] = []
    for step in tape.steps:
        if step.op == ca.OP_INPUT:
            values.append(x[step.place] if step.place >= 0 else fixed[step.fixed])
        elif step.op == ca.OP_CONST:
            values.append(ca.SX(step.constant))
        else:
            known = tape.known_value(len(values), values)
            values.append(_apply(step.op, [values[i] for i in step.parents]) if known is None else known)
    return ca.Function("values", [x, fixed], [ca.densify(ca.vertcat(*values)), ca.densify(tape.select_outputs(values))])


@lru_cache(_MAX_TAPES)
def _partials(tape: _Operations) -> ca.Function:
    """All values -> partial derivatives of every value by those it is made of, one after the other."""
    value = ca.SX.sym("value", len(tape.steps))
    partials = [
        partial
        for number, step in enumerate(tape.steps)
        if step.parents
        for partial in _derivatives(step.op, [value[i] for i in step.parents], value[number])
    ]
    return ca.Function("partials", [value], [ca.densify(ca.vertcat(*partials, ca.SX(0, 1)))])


def _partial_symbols(tape: _Operations) -> tuple[ca.SX, list[list[Scalar]]]:
    """Symbols for the partial derivatives, and those of each value."""
    symbols = ca.SX.sym("partials", sum(len(step.parents) for step in tape.steps))
    rest = iter(range(symbols.numel()))
    return symbols, [[symbols[next(rest)] for _ in step.parents] for step in tape.steps]


@lru_cache(_MAX_TAPES)
def _tangent(tape: _Operations) -> ca.Function:
    """(partial derivatives, direction) -> (dy/dx) direction."""
    symbols, partials = _partial_symbols(tape)
    direction = ca.SX.sym("direction", tape.n_in)
    dot: list[Scalar] = []
    for step, own in zip(tape.steps, partials, strict=True):
        total = direction[step.place] if step.place >= 0 else _ZERO
        for parent, partial in zip(step.parents, own, strict=True):
            total = total + partial * dot[parent]
        dot.append(total)
    return ca.Function("tangent", [symbols, direction], [ca.densify(tape.select_outputs(dot))])


@lru_cache(_MAX_TAPES)
def _adjoint(tape: _Operations) -> ca.Function:
    """(partial derivatives, weights) -> (dy/dx)^T weights."""
    symbols, partials = _partial_symbols(tape)
    weights = ca.SX.sym("weights", len(tape.outputs))
    bar: list[Scalar] = [_ZERO] * len(tape.steps)
    for number, node in enumerate(tape.outputs):
        if node >= 0:
            bar[node] = bar[node] + weights[number]
    result = ca.SX.zeros(tape.n_in)
    for index in range(len(tape.steps) - 1, -1, -1):
        step = tape.steps[index]
        if step.place >= 0:
            result[step.place] = result[step.place] + bar[index]
        for parent, partial in zip(step.parents, partials[index], strict=True):
            bar[parent] = bar[parent] + bar[index] * partial
    return ca.Function("adjoint", [symbols, weights], [result])


def _series(op: int, arguments: Sequence[Series], known: Scalar | None = None) -> Series:
    """Taylor coefficients of one operation; division and roots by their recurrences. ``known`` is its value."""
    a = arguments[0]
    b = arguments[1] if len(arguments) > 1 else a
    if op in _LINEAR:
        value, first, second = (_LINEAR[op](a[k], b[k]) for k in range(3))
        return value if known is None else known, first, second
    if op == ca.OP_MUL:
        z = a[0] * b[0] if known is None else known
        return z, a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[1] * b[1] + a[0] * b[2]
    if op == ca.OP_SQ:
        twice = 2 * a[0]
        return a[0] * a[0] if known is None else known, twice * a[1], twice * a[2] + a[1] * a[1]
    if op == ca.OP_INV:
        z = 1 / a[0] if known is None else known
        z1 = -(a[1] * z) * z
        return z, z1, -(a[2] * z + a[1] * z1) * z
    if op == ca.OP_DIV:
        inverse = 1 / b[0]
        z = a[0] * inverse if known is None else known
        z1 = (a[1] - z * b[1]) * inverse
        return z, z1, (a[2] - z * b[2] - z1 * b[1]) * inverse
    if op == ca.OP_SQRT:
        z = ca.sqrt(a[0]) if known is None else known
        z1 = a[1] / (2 * z)
        return z, z1, (a[2] - z1 * z1) / (2 * z)
    value, first, second = _general(op, len(arguments))(*[series[0] for series in arguments])
    z1, z2 = _ZERO, _ZERO
    for i, x in enumerate(arguments):
        z1 = z1 + first[i] * x[1]
        z2 = z2 + first[i] * x[2]
        for j, y in enumerate(arguments):
            z2 = z2 + 0.5 * second[i, j] * x[1] * y[1]
    return value if known is None else known, z1, z2


_LINEAR: dict[int, Callable[[Scalar, Scalar], Scalar]] = {
    ca.OP_ADD: lambda a, b: a + b,
    ca.OP_SUB: lambda a, b: a - b,
    ca.OP_NEG: lambda a, _: -a,
    ca.OP_TWICE: lambda a, _: 2 * a,
}
"""Operations whose Taylor coefficients do not mix."""


def _derivatives(op: int, arguments: Sequence[Scalar], value: Scalar) -> list[Scalar]:
    """Partial derivatives of one operation, from its value where that is cheaper."""
    a = arguments[0]
    if op == ca.OP_ADD:
        return [ca.SX(1), ca.SX(1)]
    if op == ca.OP_SUB:
        return [ca.SX(1), ca.SX(-1)]
    if op == ca.OP_NEG:
        return [ca.SX(-1)]
    if op == ca.OP_TWICE:
        return [ca.SX(2)]
    if op == ca.OP_MUL:
        return [arguments[1], a]
    if op == ca.OP_SQ:
        return [2 * a]
    if op == ca.OP_INV:
        return [-(value * value)]
    if op == ca.OP_DIV:
        inverse = 1 / arguments[1]
        return [inverse, -(value * inverse)]
    if op == ca.OP_SQRT:
        return [1 / (2 * value)]
    first = _general(op, len(arguments))(*arguments)[1]
    return [first[i] for i in range(len(arguments))]


def _apply(op: int, arguments: Sequence[Scalar]) -> Scalar:
    return ca.SX.unary(op, arguments[0]) if len(arguments) == 1 else ca.SX.binary(op, *arguments)


@cache
def _general(op: int, count: int) -> Callable[..., tuple[Scalar, Scalar, Scalar]]:
    """Value, gradient and Hessian of any other operation (sin, atan2, ...), by CasADi."""
    x = ca.SX.sym("x", count)
    y = _apply(op, [x[i] for i in range(count)])
    hessian, gradient = ca.hessian(y, x)
    function = ca.Function("operation", [x], [y, gradient, hessian])

    def evaluate(*arguments: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        value, first, second = function(ca.vertcat(*arguments))
        return value, first, second

    return evaluate


_SAME = 1e-11
"""Difference of two values, relative to their size, that is the rounding of a tape."""


def _vanishes(step: _Step, column: Array, parents: Array, zero: Sequence[bool]) -> bool:
    """Whether a value is zero in all samples, given those (s, k) that it is made of and which of them are."""
    if step.op in (ca.OP_ADD, ca.OP_SUB):  # what cancels is small beside what it is made of
        return all(zero) or bool((np.abs(column) <= _SAME * np.abs(parents).max(axis=1)).all())
    if step.op in (ca.OP_MUL, ca.OP_SQ, ca.OP_NEG, ca.OP_TWICE):
        return any(zero)
    if step.op == ca.OP_DIV:
        return zero[0]
    return not column.any()


def _same_values(steps: Sequence[_Step], samples: Array) -> Known:
    """Which values are 0, 1 or -1, or an earlier one or its opposite, in all samples (s, values)."""
    found: list[tuple[int, float, int]] = []
    sizes = np.abs(samples).max(axis=0, initial=0.0)
    zeros: set[int] = set()
    distinct: list[int] = []
    for number, (step, column) in enumerate(zip(steps, samples.T, strict=True)):
        if _vanishes(step, column, samples[:, list(step.parents)], [parent in zeros for parent in step.parents]):
            zeros.add(number)
            found.append((number, 0.0, -1))
            continue
        constant = next((c for c in (1.0, -1.0) if np.abs(column - c).max() <= _SAME), None)
        if constant is not None:
            found.append((number, constant, -1))
            continue
        near = [k for k in distinct if abs(sizes[k] - sizes[number]) <= _SAME * sizes[number]]
        pairs = ((k, sign) for k in near for sign in (1.0, -1.0))
        same = next(
            ((k, sign) for k, sign in pairs if np.abs(column - sign * samples[:, k]).max() <= _SAME * sizes[number]),
            None,
        )
        if same is None:
            distinct.append(number)
        else:
            found.append((number, same[1], same[0]))
    return tuple(found)
