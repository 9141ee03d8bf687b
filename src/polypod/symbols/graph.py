"""An expression graph as a plain list of operations, made cheaper before it is compiled.

CasADi turns x * (1/y) into x/y; a division takes ten times a multiplication, so divisions that share a
denominator become one reciprocal and products again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import casadi as ca

from ..errors import InputError

_NOT_ARITHMETIC = frozenset({ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST})
_COMMUTATIVE = frozenset({ca.OP_ADD, ca.OP_MUL, ca.OP_FMIN, ca.OP_FMAX})
# condition ? a : b, which CasADi writes as (c ? a : 0) + (!c ? b : 0).
SELECT = -1
_NOWHERE = (0, 0)
Value = TypeVar("Value")


class Operation(NamedTuple):
    """One value: an operation on earlier values, an element of an input, or a constant."""

    op: int
    arguments: tuple[int, ...] = ()
    source: tuple[int, int] = (0, 0)
    constant: float = 0.0


_ZERO = Operation(ca.OP_CONST)
_UNDOES = {ca.OP_SUB: ca.OP_ADD, ca.OP_ADD: ca.OP_SUB, ca.OP_DIV: ca.OP_MUL, ca.OP_MUL: ca.OP_DIV}


def _as_operation(fields: tuple[int, tuple[int, ...], tuple[int, int], float]) -> Operation:
    """All fields at once: graphs have thousands of operations, and calls by name take thrice the time."""
    return tuple.__new__(Operation, fields)


@dataclass(frozen=True)
class Graph:
    """Operations in order, and which of them are the elements of each output."""

    inputs: tuple[int, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """Arithmetic operations (additions, products, divisions, roots, comparisons, choices)."""
        return sum(step.op not in _NOT_ARITHMETIC for step in self.operations)

    def only(self, outputs: Iterable[int]) -> Graph:
        """The graph of some of the outputs."""
        return _pruned(self.inputs, list(self.operations), [list(self.outputs[k]) for k in outputs])

    def evaluated(
        self,
        inputs: Sequence[Sequence[Value]],
        constant: Callable[[float], Value],
        rules: Mapping[int, Callable[..., Value]],
        what: str,
    ) -> list[list[Value]]:
        """The outputs in any arithmetic, called ``what``, that has a rule for each operation: intervals, say."""
        values: list[Any] = []
        last = {i: number for number, step in enumerate(self.operations) for i in step.arguments}
        last |= dict.fromkeys((i for row in self.outputs for i in row), -1)
        for number, step in enumerate(self.operations):
            if step.op == ca.OP_INPUT:
                values.append(inputs[step.source[0]][step.source[1]])
            elif step.op == ca.OP_CONST:
                values.append(constant(step.constant))
            elif step.op in rules:
                values.append(rules[step.op](*(values[i] for i in step.arguments)))
                for i in step.arguments:
                    if last[i] == number:
                        values[i] = None  # where values are arrays, thousands of them fill the memory
            else:
                raise unsupported(step.op, what)
        return [[values[i] for i in row] for row in self.outputs]

    @staticmethod
    def of(function: ca.Function) -> Graph:
        """The graph of a CasADi SX function with dense inputs and outputs, improved; what is equal is computed once."""
        distinct = _Distinct()
        slot: dict[int, int] = {}
        outputs = [[-1] * function.numel_out(k) for k in range(function.n_out())]
        kind, given, result = function.instruction_id, function.instruction_input, function.instruction_output
        for k in range(function.n_instructions()):
            op, out, arguments = kind(k), result(k), given(k)
            if op == ca.OP_OUTPUT:
                outputs[out[0]][out[1]] = slot[arguments[0]]
                continue
            if op == ca.OP_INPUT:
                slot[out[0]] = distinct.add(Operation(op, source=(arguments[0], arguments[1])))
            elif op == ca.OP_CONST:
                slot[out[0]] = distinct.add(Operation(op, constant=function.instruction_constant(k)))
            else:
                slot[out[0]] = distinct.value(op, tuple([slot[i] for i in arguments]))
        lengths = tuple(function.numel_in(k) for k in range(function.n_in()))
        return _pruned(lengths, _fewer_signs(_shared_reciprocals(_selections(distinct.operations), outputs)), outputs)


def _fewer_signs(operations: list[Operation]) -> list[Operation]:
    """a + (-b) -> a - b, a - (-b) -> a + b, (-a)(-b) -> a b, (-a)^2 -> a^2, |-a| -> |a|; the signs are pruned later."""
    result: list[Operation] = []
    under: dict[int, int] = {}  # of every value that is -x: x
    for index, step in enumerate(operations):
        arguments = step[1]
        for i in arguments:
            if i in under:
                step = _without_sign(step, [under.get(j) for j in arguments])
                break
        if step[0] == ca.OP_NEG:
            under[index] = step[1][0]
        result.append(step)
    return result


def _without_sign(step: Operation, under: list[int | None]) -> Operation:
    """A step of arguments some of which are -x; ``under`` are those x, None for others."""
    a = step.arguments
    if step.op == ca.OP_ADD and under[1] is not None:
        return Operation(ca.OP_SUB, (a[0], under[1]))
    if step.op == ca.OP_ADD and under[0] is not None:
        return Operation(ca.OP_SUB, (a[1], under[0]))
    if step.op == ca.OP_SUB and under[1] is not None:
        return Operation(ca.OP_ADD, (a[0], under[1]))
    if step.op == ca.OP_MUL and under[0] is not None and under[1] is not None:
        return Operation(ca.OP_MUL, (under[0], under[1]))
    if step.op in (ca.OP_SQ, ca.OP_FABS) and under[0] is not None:
        return Operation(step.op, (under[0],))
    return step


def _selections(operations: list[Operation]) -> list[Operation]:
    """(c ? a : 0) + (!c ? b : 0) -> c ? a : b."""
    if not any(step[0] == ca.OP_IF_ELSE_ZERO for step in operations):
        return operations
    result: list[Operation] = []
    for step in operations:
        if step.op == ca.OP_ADD:
            yes, no = (operations[i] for i in step.arguments)
            if yes.op == no.op == ca.OP_IF_ELSE_ZERO:
                for a, b in ((yes, no), (no, yes)):
                    inverse = operations[b.arguments[0]]
                    if inverse.op == ca.OP_NOT and inverse.arguments[0] == a.arguments[0]:
                        step = Operation(SELECT, (a.arguments[0], a.arguments[1], b.arguments[1]))
                        break
        result.append(step)
    return result


def _shared_reciprocals(operations: list[Operation], outputs: list[list[int]]) -> list[Operation]:
    """a/b, c/b -> r = 1/b, a r, c r, and 1/(2 b) -> r/2 or 0.5/b; renumbers ``outputs`` in place."""
    uses = Counter(step.arguments[1] for step in operations if step.op == ca.OP_DIV)
    uses.update(step.arguments[0] for step in operations if step.op == ca.OP_INV)
    result: list[Operation] = []
    place: list[int] = []
    reciprocal: dict[int, int] = {}

    def add(step: Operation) -> int:
        result.append(step)
        return len(result) - 1

    def inverse(denominator: int) -> int:
        if denominator not in reciprocal:
            op, inner = result[denominator][:2]
            if op == ca.OP_TWICE:
                half, known = add(Operation(ca.OP_CONST, constant=0.5)), reciprocal.get(inner[0])
                halved = (ca.OP_DIV, (half, inner[0])) if known is None else (ca.OP_MUL, (half, known))
                reciprocal[denominator] = add(Operation(*halved))
            else:
                reciprocal[denominator] = add(Operation(ca.OP_INV, (denominator,)))
        return reciprocal[denominator]

    division, inversion = ca.OP_DIV, ca.OP_INV
    for step in operations:
        op, given, source, constant = step
        if not given:
            place.append(len(result))
            result.append(step)
            continue
        arguments = tuple([place[i] for i in given])
        if op == division and uses[given[1]] > 1:
            place.append(add(Operation(ca.OP_MUL, (arguments[0], inverse(arguments[1])))))
        elif op == inversion:
            place.append(inverse(arguments[0]))
        else:
            place.append(len(result))
            result.append(_as_operation((op, arguments, source, constant)))
    for row in outputs:
        row[:] = [place[i] if i >= 0 else -1 for i in row]
    return result


def _pruned(lengths: tuple[int, ...], operations: list[Operation], outputs: list[list[int]]) -> Graph:
    """Without operations nothing depends on; a structural zero of an output becomes a constant."""
    zero = len(operations)
    operations = [*operations, Operation(ca.OP_CONST)]
    wanted = bytearray(len(operations))
    for row in outputs:
        for i in row:
            wanted[i] = 1  # -1 is the last, the zero
    for index in range(zero, -1, -1):
        if wanted[index]:
            for i in operations[index][1]:
                wanted[i] = 1
    place = [0] * len(operations)
    kept = _Distinct()
    for index, step in enumerate(operations):
        if not wanted[index]:
            continue
        op, arguments, source, constant = step
        if arguments:
            step = _as_operation((op, tuple([place[i] for i in arguments]), source, constant))
        place[index] = kept.add(step)
    return Graph(lengths, tuple(kept.operations), tuple([tuple([place[i] for i in row]) for row in outputs]))


class _Distinct:
    """Operations in order, no two of the same value."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._negated: set[int] = set()  # what a difference from zero has left

    def add(self, step: Operation) -> int:
        """Where a step is among the operations; it joins them unless one of the same value is there."""
        op, arguments, source, constant = step
        swapped = op in _COMMUTATIVE and arguments[0] > arguments[1]
        count = len(self.operations)
        known = self._known.setdefault((op, arguments[::-1], source, constant) if swapped else step, count)
        if known == count:
            self.operations.append(step)
        return known

    def value(self, op: int, arguments: tuple[int, ...]) -> int:
        """Where the value of an operation is that equal parts may make needless.

        x - x is 0 and so is its product; (x + a) - a and (x a)/a are x. CasADi leaves these out where both parts are
        one node; here parts that were written twice have become one.
        """
        if op in _UNDOES:
            if op == ca.OP_SUB and arguments[0] == arguments[1]:
                return self.add(_ZERO)
            for first, second in (arguments, arguments[::-1]) if op in _COMMUTATIVE else (arguments,):
                inner = self.operations[first]
                if inner.op == _UNDOES[op] and second in inner.arguments[inner.op not in _COMMUTATIVE :]:
                    a, b = inner.arguments
                    return a if b == second else b
                if op == ca.OP_MUL and first in self._negated:  # sums take the sign of the product
                    return self._negative(self.value(op, (inner.arguments[0], second)))
        zero = self._known.get(_ZERO)
        if zero in arguments:
            if op in (ca.OP_MUL, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE) or (op == ca.OP_DIV and arguments[1] != zero):
                return arguments[arguments[0] != zero]
            if op == ca.OP_ADD:
                return arguments[arguments[0] == zero]
            if op == ca.OP_SUB:
                return arguments[0] if arguments[1] == zero else self._negative(arguments[1])
        return self.add(_as_operation((op, arguments, _NOWHERE, 0.0)))

    def _negative(self, value: int) -> int:
        place = self.add(_as_operation((ca.OP_NEG, (value,), _NOWHERE, 0.0)))
        self._negated.add(place)
        return place


def unsupported(op: int, code: str) -> InputError:
    """What to say of an operation that a leg kind uses and generated ``code`` does not have."""
    name = next((name for name, value in vars(ca).items() if name.startswith("OP_") and value == op), str(op))
    return InputError(
        f"CasADi operation {name} has no {code}: use arithmetic, roots, powers, exponentials, logarithms, "
        "trigonometric and hyperbolic functions, minima, maxima and comparisons"
    )
