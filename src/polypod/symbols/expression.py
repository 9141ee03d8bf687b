"""A model function in symbols, with the names and shapes of its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import casadi as ca

from .graph import Graph


@dataclass(frozen=True)
class Port:
    """One array of a function: its name, its symbols (row-major column) and its shape for one state."""

    name: str
    symbols: ca.SX
    shape: tuple[int, ...]

    @property
    def length(self) -> int:
        """Numbers in a row."""
        return prod(self.shape)


def port(name: str, value: ca.SX, shape: tuple[int, ...] | None = None) -> Port:
    """A port for an output; a matrix is stored by rows."""
    if shape is None:
        shape = (value.size1(),) if value.size2() == 1 else (value.size1(), value.size2())
    return Port(name, ca.densify(ca.vec(value.T) if value.size2() > 1 else value), shape)


@dataclass(frozen=True)
class Expression:
    """Inputs and outputs of one function of a state, in symbols."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @cached_property
    def function(self) -> ca.Function:
        """The CasADi function: the interpreted form of the kernel."""
        shared = ca.cse([p.symbols for p in self.outputs])
        names = [p.name for p in self.inputs], [p.name for p in self.outputs]
        return ca.Function(self.name, [p.symbols for p in self.inputs], shared, *names)

    @cached_property
    def graph(self) -> Graph:
        """The list of operations that is compiled."""
        return Graph.of(self.function)


@dataclass(frozen=True)
class Iteration:
    """A function of a state found by iterating: start(inputs) -> state, step until done, finish -> outputs.

    The last number of the iteration's state is its ``done`` flag; a lane whose flag is set keeps its state.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    state: ca.SX
    start: ca.SX
    step: ca.SX

    @cached_property
    def functions(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        """start, step and finish as CasADi functions."""
        inputs = [p.symbols for p in self.inputs]
        finish = ca.cse([p.symbols for p in self.outputs])
        return (
            ca.Function("start", inputs, [ca.densify(self.start)]),
            ca.Function("step", [*inputs, self.state], ca.cse([ca.densify(self.step)])),
            ca.Function("finish", [*inputs, self.state], finish),
        )

    @cached_property
    def graphs(self) -> tuple[Graph, Graph, Graph]:
        """start, step and finish as lists of operations."""
        start, step, finish = (Graph.of(function) for function in self.functions)
        return start, step, finish
