"""A model function in symbols, with the names and shapes of its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..lazy import lazy
from .graph import Graph
from .program import Program
from .sums import reassociated_sums


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
        return Graph.of(self.function)

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
    ``parameters`` and ``any_order`` as in :class:`Expression`. ``inner_state`` are indices of the numbers of the state
    that may change in every round; the last is a count of iterations, and the other numbers change only when it returns
    to zero. What depends on those alone is then not computed in every round. Empty: any number may change in any round.
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
    def program(self) -> Program:
        """What is compiled: the parts share what they have in common, and rounds do not repeat what stays the same."""
        given = [*(p.symbols for p in self.inputs), self.state, *(p.symbols for p in _optional(self.parameters))]
        parts = [ca.densify(self.start), ca.densify(self.step), *(p.symbols for p in self.outputs)]
        function = ca.Function(self.name, given, ca.cse(parts))
        program = Program.iterating(Graph.of(function), self.parameters is not None, self.inner_state)
        return program.map(reassociated_sums) if self.any_order else program

    def fixed(self, values: ArrayLike) -> Iteration:
        """The same function of the inputs alone, with these numbers (k,) for its parameters."""
        return self if self.parameters is None else self.rebound(_numbers(self.parameters, values), None)

    def rebound(self, values: ca.SX, parameters: Port | None) -> Iteration:
        """The same function with expressions (k) of other ``parameters`` in the place of its own."""
        if self.parameters is None:
            return replace(self, parameters=parameters)
        parts = [self.start, self.step, *(p.symbols for p in self.outputs)]
        start, step, *outputs = ca.substitute(parts, [self.parameters.symbols], [values])
        return replace(
            self,
            start=start,
            step=step,
            outputs=tuple(replace(p, symbols=x) for p, x in zip(self.outputs, outputs, strict=True)),
            parameters=parameters,
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
            raise ValueError(f"{base.name} and {function.name} both iterate: they cannot be one function")
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
