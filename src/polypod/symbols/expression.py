"""A model function in symbols, with the names and shapes of its arrays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..lazy import lazy
from .graph import Graph, Operation
from .implicit_function import Equations, implicit_function
from .program import Program


@dataclass(frozen=True)
class Port:
    """One array of a function: its name, its symbols (row-major column) and its shape for one state."""

    name: str
    symbols: ca.SX
    shape: tuple[int, ...]

    @property
    def length(self) -> int:
        """How many numbers one state has in this port."""
        return prod(self.shape)


def port(name: str, value: ca.SX, shape: tuple[int, ...] | None = None) -> Port:
    """A port for an output; a matrix is stored by rows."""
    if shape is None:
        shape = (value.size1(),) if value.size2() == 1 else (value.size1(), value.size2())
    return Port(name, ca.densify(ca.vec(value.T) if value.size2() > 1 else value), shape)


@dataclass(frozen=True)
class Expression:
    """Inputs and outputs of one function of a state, in symbols.

    ``parameters`` are numbers p, shape (k,), that stay the same from state to state: a robot's geometry and inertia.
    With ``any_order`` its sums may be added in another order than written, which takes fewer instructions; functions
    whose rounding is counted, such as those of intervals, keep theirs.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    parameters: Port | None = None
    any_order: bool = False

    @lazy
    def function(self) -> ca.Function:
        """The CasADi function (inputs, p if there are parameters) -> outputs: the interpreted form of the kernel."""
        given = [*self.inputs, *_optional(self.parameters)]
        shared = ca.cse([p.symbols for p in self.outputs])
        names = [p.name for p in given], [p.name for p in self.outputs]
        return ca.Function(self.name, [p.symbols for p in given], shared, *names)

    @lazy
    def graph(self) -> Graph:
        """All operations, parameters as the last input."""
        given = [p.symbols for p in (*self.inputs, *_optional(self.parameters))]
        return Graph.of(ca.Function(self.name, given, [p.symbols for p in self.outputs]))

    @lazy
    def program(self) -> Program:
        """What is compiled."""
        program = Program.of(self.graph, self.parameters is not None)
        return program.map(reassociated_sums) if self.any_order else program

    def fixed(self, values: ArrayLike) -> Expression:
        """The same function of the inputs alone, with these numbers (k,) for its parameters."""
        return self if self.parameters is None else self.rebound(_numbers(self.parameters, values), None)

    def rebound(self, values: ca.SX, parameters: Port | None) -> Expression:
        """The same function with expressions (k) of other ``parameters`` in the place of its own."""
        if self.parameters is None:
            return replace(self, parameters=parameters)
        outputs = ca.substitute([p.symbols for p in self.outputs], [self.parameters.symbols], [values])
        return replace(
            self,
            outputs=tuple(replace(p, symbols=x) for p, x in zip(self.outputs, outputs, strict=True)),
            parameters=parameters,
        )


@dataclass(frozen=True)
class Iteration:
    """A function of a state found by iterating: start(inputs) -> state, step until done, finish -> outputs.

    The last number of the iteration's state is its ``done`` flag; a lane whose flag is set keeps its state.
    ``parameters`` and ``any_order`` as in ``Expression``. ``inner_state`` are indices of the numbers of the state
    that may change in every round; the last is a count of iterations, and the other numbers change only when it returns
    to zero. What depends on those alone is then not computed in every round. Empty: any number may change in any round.
    ``equations``, if there are any, say what the iteration solves (``polypod.symbols.implicit_function``): the
    function then has derivatives. ``max_iterations`` is a number of iterations after which every state is done, finite
    or not; 0 where inputs determine it. One that is ``counted`` takes that many, in every state.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    state: ca.SX
    start: ca.SX
    step: ca.SX
    parameters: Port | None = None
    any_order: bool = False
    inner_state: tuple[int, ...] = ()
    equations: Callable[[], Equations] | None = None
    max_iterations: int = 0
    counted: bool = False

    @lazy
    def function(self) -> ca.Function:
        """The CasADi function (inputs, p if there are parameters) -> outputs, with derivatives of every order.

        It is one of MX: the iteration is interpreted, its derivatives are those of what it solves.
        """
        if self.equations is None:
            raise ValueError(f"{self.name}: what the iteration solves is not stated")
        given = [*self.inputs, *_optional(self.parameters)]
        return implicit_function(
            self.name,
            [(p.name, p.symbols) for p in given],
            (self.state, self.start, self.step),
            self.equations(),
            [(p.name, p.symbols) for p in self.outputs],
        )

    @lazy
    def functions(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        """start(inputs, p), step(inputs, state, p) and finish(inputs, state, p) as CasADi functions: interpreted."""
        inputs, p = [p.symbols for p in self.inputs], [p.symbols for p in _optional(self.parameters)]
        finish = ca.cse([p.symbols for p in self.outputs])
        return (
            ca.Function("start", [*inputs, *p], [ca.densify(self.start)]),
            ca.Function("step", [*inputs, self.state, *p], ca.cse([ca.densify(self.step)])),
            ca.Function("finish", [*inputs, self.state, *p], finish),
        )

    @lazy
    def unrolled(self) -> ca.Function:
        """The CasADi function of one that is ``counted``, round after round, with derivatives of every order."""
        given = [*self.inputs, *_optional(self.parameters)]
        symbols: list[Any] = [ca.MX.sym(p.name, p.length) for p in given]
        inputs, p = symbols[: len(self.inputs)], symbols[len(self.inputs) :]
        start, step, finish = self.functions
        state: Any = start(*symbols)
        for _ in range(self.max_iterations):
            state = step(*inputs, state, *p)
        last: Any = finish(*inputs, state, *p)
        found: list[Any] = [last] if len(self.outputs) == 1 else list(last)
        names = [one.name for one in given]
        ends = [f"{one.name}_found" if one.name in names else one.name for one in self.outputs]
        return ca.Function(self.name, symbols, found, names, ends)

    @lazy
    def program(self) -> Program:
        """What is compiled: the parts share what they have in common, and rounds do not repeat what stays the same."""
        given = [*(p.symbols for p in self.inputs), self.state, *(p.symbols for p in _optional(self.parameters))]
        parts = [ca.densify(self.start), ca.densify(self.step), *(p.symbols for p in self.outputs)]
        function = ca.Function(self.name, given, parts)
        program = Program.iterating(Graph.of(function), self.parameters is not None, self.inner_state)
        return program.map(reassociated_sums) if self.any_order else program

    def fixed(self, values: ArrayLike) -> Iteration:
        """The same function of the inputs alone, with these numbers (k,) for its parameters."""
        return self if self.parameters is None else self.rebound(_numbers(self.parameters, values), None)

    def rebound(self, values: ca.SX, parameters: Port | None) -> Iteration:
        """The same function with expressions (k) of other ``parameters`` in the place of its own."""
        if self.parameters is None:
            return replace(self, parameters=parameters)
        symbols, equations = self.parameters.symbols, self.equations
        parts = [self.start, self.step, *(p.symbols for p in self.outputs)]
        start, step, *outputs = ca.substitute(parts, [symbols], [values])
        return replace(
            self,
            start=start,
            step=step,
            outputs=tuple(replace(p, symbols=x) for p, x in zip(self.outputs, outputs, strict=True)),
            parameters=parameters,
            equations=None if equations is None else lambda: equations().substituted(symbols, values),
        )


def merged(functions: Sequence[Expression | Iteration]) -> Expression | Iteration:
    """Several functions of the same parameters as one; inputs of the same name are one input. One at most may iterate.

    Outputs are named ``function.output``.
    """
    base = next((function for function in functions if isinstance(function, Iteration)), functions[0])
    inputs = {p.name: p for p in base.inputs}
    outputs = []
    for function in functions:
        if isinstance(function, Iteration) and function is not base:
            raise ValueError(f"{base.name} and {function.name} both iterate and cannot be merged into one function")
        for p in function.inputs:
            inputs.setdefault(p.name, p)
        old, new = [p.symbols for p in function.inputs], [inputs[p.name].symbols for p in function.inputs]
        values = ca.substitute([p.symbols for p in function.outputs], old, new)
        outputs += [
            Port(f"{function.name}.{p.name}", value, p.shape) for p, value in zip(function.outputs, values, strict=True)
        ]
    return replace(base, inputs=tuple(inputs.values()), outputs=tuple(outputs))


def _optional(parameters: Port | None) -> list[Port]:
    return [] if parameters is None else [parameters]


def _numbers(parameters: Port, values: ArrayLike) -> ca.SX:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != parameters.shape:
        raise ValueError(f"{parameters.name}: numbers of shape {parameters.shape} are needed, got {numbers.shape}")
    return ca.SX(ca.DM(numbers))


# ----------------------------------------------------------------------------------------------------------------------
# Expressions at many rows of numbers, by CasADi's interpreter.


class Mapped:
    """A function of many states: inputs are columns (k) of symbols, outputs matrices (r, c)."""

    def __init__(self, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> None:
        self._function = ca.Function("values", list(inputs), [ca.densify(ca.SX(value)) for value in outputs])

    def __call__(self, *rows: Array) -> list[Array]:
        """Outputs (n, r, c) at n rows (n, k) of each input."""
        n = len(rows[0])
        if not n:
            return [np.zeros((0, *self._function.size_out(k))) for k in range(self._function.n_out())]
        # memory that CasADi reads and writes itself: its matrices are by columns, and take six times as long to convert
        function = self._function.map(n)
        memory: Any
        memory, run = function.buffer()
        given = [np.ascontiguousarray(row, dtype=np.float64) for row in rows]
        for k, row in enumerate(given):
            if row.size:
                memory.set_arg(k, row.reshape(-1).data)
        results = []
        for k in range(self._function.n_out()):
            r, c = self._function.size_out(k)
            results.append(np.zeros((n, c, r)))
            if r * c:
                memory.set_res(k, results[-1].reshape(-1).data)
        run()
        return [result.transpose(0, 2, 1) for result in results]


def mapped(inputs: Sequence[ca.SX], expression: ca.SX, *rows: Array) -> Array:
    """An expression (r, c) of ``inputs`` at n rows (n, k) of each, (n, r, c)."""
    return Mapped(inputs, [expression])(*rows)[0]


# ----------------------------------------------------------------------------------------------------------------------
# Sums in the order that takes the fewest instructions.
#
# Processors multiply and add in one instruction, a b + c. The sum of sums (a b + c d) + (e f + g h) takes five of
# them;
# one after the other, ((a b + c d) + e f) + g h, it takes four, and with a term that is no product every product is
# part
# of a sum. So sums that nothing else uses are opened and added in one row, each term as soon as it is known. The
# order of
# a sum changes its rounding; functions whose rounding is counted keep theirs (see ``.expression.Expression``).

_SUMS = frozenset({ca.OP_ADD, ca.OP_SUB})
_PRODUCTS = frozenset({ca.OP_MUL, ca.OP_SQ})


class _Term(NamedTuple):
    """One value that a sum adds or takes away."""

    value: int
    plus: bool


def reassociated_sums(graph: Graph) -> Graph:
    """The same function with its sums opened and ordered."""
    steps = graph.operations
    uses = Counter(i for step in steps for i in step.arguments)
    uses.update(i for row in graph.outputs for i in row)
    single = {i for i, count in uses.items() if count == 1}
    inner = {i for s in steps if s.op in _SUMS for i in s.arguments if i in single and steps[i].op in _SUMS}
    products = {i for i in single if steps[i].op in _PRODUCTS}
    due: defaultdict[int, list[tuple[int, _Term]]] = defaultdict(list)  # terms of sums, by when they are known
    for i, step in enumerate(steps):
        if step.op in _SUMS and i not in inner:
            known = 0
            for term in _ordered(_terms(steps, i, inner), products):
                known = max(known, term.value)
                due[known].append((i, term))
    return _written(graph, inner, due)


def _terms(steps: tuple[Operation, ...], sum_: int, inner: set[int]) -> list[_Term]:
    """All that a sum adds up, in the order in which it is known; the first that is written is added."""
    found, open_ = [], [_Term(sum_, True)]
    while open_:
        value, plus = open_.pop()
        if value != sum_ and value not in inner:
            found.append(_Term(value, plus))
            continue
        first, second = steps[value].arguments
        open_ += [_Term(first, plus), _Term(second, plus == (steps[value].op == ca.OP_ADD))]
    return sorted(found)


def _ordered(terms: list[_Term], products: set[int]) -> list[_Term]:
    """The first is added, and one of the first two is no product if any is none: that one needs no sum of its own."""
    plain = next((t for t in terms if t.value not in products), None)
    first = plain if plain is not None and plain.plus else next(t for t in terms if t.plus)
    front = [first] if plain is None or plain is first else [first, plain]
    rest = list(terms)
    for term in front:
        rest.remove(term)
    return front + rest


def _written(graph: Graph, inner: set[int], due: dict[int, list[tuple[int, _Term]]]) -> Graph:
    written: list[Operation] = []
    place: dict[int, int] = {}  # where a value is, or as much of a sum as is known
    for i, step in enumerate(graph.operations):
        if step.op not in _SUMS:
            place[i] = len(written)
            written.append(step._replace(arguments=tuple(place[k] for k in step.arguments)))
        for sum_, term in due.get(i, ()):
            if sum_ in place:
                op = ca.OP_ADD if term.plus else ca.OP_SUB
                written.append(Operation(op, (place[sum_], place[term.value])))
                place[sum_] = len(written) - 1
            else:
                place[sum_] = place[term.value]
    return Graph(graph.inputs, tuple(written), tuple(tuple(place[i] for i in row) for row in graph.outputs))
