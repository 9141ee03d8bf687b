"""A function as a tape of operations, replayed on Taylor series, tangents and adjoints.

CasADi differentiates expressions; replaying its instruction list keeps the values already computed and
truncates Taylor series exactly at second order, which takes a third fewer operations than differentiating twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import casadi as ca

Scalar = ca.SX
Series = tuple[Scalar, Scalar, Scalar]
_ZERO = ca.SX(0)


class Tape:
    """A vector function y(x) recorded once; ``x`` and ``y`` are symbol columns, ``fixed`` symbols that do not move."""

    def __init__(self, x: ca.SX, y: ca.SX, fixed: ca.SX | None = None) -> None:
        self._fixed = ca.SX(0, 1) if fixed is None else fixed
        self._function = ca.Function("tape", [x, self._fixed], [ca.densify(y)])
        f = self._function
        self._steps = [
            (f.instruction_id(k), f.instruction_output(k), f.instruction_input(k), k) for k in range(f.n_instructions())
        ]
        self.n_in, self.n_out = int(x.numel()), int(y.numel())

    def _constant(self, k: int) -> Scalar:
        return ca.SX(self._function.instruction_constant(k))

    def taylor(self, x0: ca.SX, x1: ca.SX, x2: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Coefficients of y(x(t)) for x(t) = x0 + x1 t + x2 t^2, to order two."""
        work: dict[int, Series] = {}
        outputs: list[Series] = [(_ZERO, _ZERO, _ZERO)] * self.n_out
        for op, out, arguments, k in self._steps:
            if op == ca.OP_INPUT and arguments[0] == 0:
                work[out[0]] = (x0[arguments[1]], x1[arguments[1]], x2[arguments[1]])
            elif op == ca.OP_INPUT:
                work[out[0]] = (self._fixed[arguments[1]], _ZERO, _ZERO)
            elif op == ca.OP_OUTPUT:
                outputs[out[1]] = work[arguments[0]]
            elif op == ca.OP_CONST:
                work[out[0]] = (self._constant(k), _ZERO, _ZERO)
            else:
                work[out[0]] = _series(op, [work[i] for i in arguments])
        return tuple(ca.vertcat(*[series[order] for series in outputs]) for order in range(3))  # type: ignore[return-value]

    def values(self, x: ca.SX) -> Replay:
        """The function's values at x, kept for tangents and adjoints."""
        return Replay(self, x)


class Replay:
    """Values of all operations of a tape at one x, from which first derivatives are swept."""

    def __init__(self, tape: Tape, x: ca.SX) -> None:
        self._tape = tape
        # An SX tape reuses memory slots: number the values instead, so that a reverse sweep sees each once.
        self._nodes: list[tuple[int, list[int], list[Scalar], int]] = []
        slot: dict[int, int] = {}
        value: list[Scalar] = []
        self._outputs = [-1] * tape.n_out
        for op, out, arguments, k in tape._steps:
            if op == ca.OP_OUTPUT:
                self._outputs[out[1]] = slot[arguments[0]]
                continue
            parents: list[int] = []
            if op == ca.OP_INPUT and arguments[0] == 0:
                result, place = x[arguments[1]], arguments[1]
            elif op == ca.OP_INPUT:
                result, place = tape._fixed[arguments[1]], -1
            elif op == ca.OP_CONST:
                result, place = tape._constant(k), -1
            else:
                parents = [slot[i] for i in arguments]
                result, place = _apply(op, [value[i] for i in parents]), -1
            slot[out[0]] = len(value)
            value.append(result)
            self._nodes.append((op, parents, [value[i] for i in parents], place))
        self._value = value
        self.y = ca.vertcat(*[value[i] if i >= 0 else _ZERO for i in self._outputs])

    @property
    def _partials(self) -> list[list[Scalar]]:
        if not hasattr(self, "_cached_partials"):
            self._cached_partials = [
                _derivatives(op, arguments, result) if parents else []
                for (op, parents, arguments, _), result in zip(self._nodes, self._value, strict=True)
            ]
        return self._cached_partials

    def tangent(self, direction: ca.SX) -> ca.SX:
        """(dy/dx) direction, one column."""
        dot: list[Scalar] = []
        for (_, parents, _, place), partials in zip(self._nodes, self._partials, strict=True):
            if place >= 0:
                dot.append(direction[place])
            else:
                total = _ZERO
                for parent, partial in zip(parents, partials, strict=True):
                    total = total + partial * dot[parent]
                dot.append(total)
        return ca.vertcat(*[dot[i] if i >= 0 else _ZERO for i in self._outputs])

    def jacobian(self) -> ca.SX:
        """dy/dx, (n_out, n_in)."""
        eye = ca.SX.eye(self._tape.n_in)
        return ca.horzcat(*[self.tangent(ca.densify(eye[:, j])) for j in range(self._tape.n_in)])

    def adjoint(self, weights: ca.SX) -> ca.SX:
        """(dy/dx)^T weights, one column."""
        bar: list[Scalar] = [_ZERO] * len(self._nodes)
        for number, node in enumerate(self._outputs):
            if node >= 0:
                bar[node] = bar[node] + weights[number]
        result = ca.SX.zeros(self._tape.n_in)
        for index in range(len(self._nodes) - 1, -1, -1):
            _, parents, _, place = self._nodes[index]
            if place >= 0:
                result[place] = result[place] + bar[index]
                continue
            for parent, partial in zip(parents, self._partials[index], strict=True):
                bar[parent] = bar[parent] + bar[index] * partial
        return result


def _series(op: int, arguments: Sequence[Series]) -> Series:
    """Taylor coefficients of one operation; division and roots by their recurrences."""
    a = arguments[0]
    b = arguments[1] if len(arguments) > 1 else a
    if op == ca.OP_ADD:
        return a[0] + b[0], a[1] + b[1], a[2] + b[2]
    if op == ca.OP_SUB:
        return a[0] - b[0], a[1] - b[1], a[2] - b[2]
    if op == ca.OP_NEG:
        return -a[0], -a[1], -a[2]
    if op == ca.OP_TWICE:
        return 2 * a[0], 2 * a[1], 2 * a[2]
    if op == ca.OP_MUL:
        return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[1] * b[1] + a[0] * b[2]
    if op == ca.OP_SQ:
        twice = 2 * a[0]
        return a[0] * a[0], twice * a[1], twice * a[2] + a[1] * a[1]
    if op == ca.OP_INV:
        z = 1 / a[0]
        z1 = -(a[1] * z) * z
        return z, z1, -(a[2] * z + a[1] * z1) * z
    if op == ca.OP_DIV:
        inverse = 1 / b[0]
        z = a[0] * inverse
        z1 = (a[1] - z * b[1]) * inverse
        return z, z1, (a[2] - z * b[2] - z1 * b[1]) * inverse
    if op == ca.OP_SQRT:
        z = ca.sqrt(a[0])
        half = 0.5 / z
        z1 = a[1] * half
        return z, z1, (a[2] - z1 * z1) * half
    value, first, second = _general(op, len(arguments))(*[series[0] for series in arguments])
    z1, z2 = _ZERO, _ZERO
    for i, x in enumerate(arguments):
        z1 = z1 + first[i] * x[1]
        z2 = z2 + first[i] * x[2]
        for j, y in enumerate(arguments):
            z2 = z2 + 0.5 * second[i, j] * x[1] * y[1]
    return value, z1, z2


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
        return [0.5 / value]
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
