"""A function's graph as it is compiled: nothing is computed more often than it changes.

Numbers that depend on a function's parameters alone are prepared once a design; values that depend on the inputs
of an iteration alone are computed once before its first round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .divide import divided
from .graph import Graph


@dataclass(frozen=True)
class Loop:
    """An iteration's parts as graphs of (state, shared values): rounds of ``step`` from ``start``, then ``finish``."""

    start: Graph
    step: Graph
    finish: Graph


@dataclass(frozen=True)
class Program:
    """A function as it is compiled, in the order in which its parts run.

    ``prepare`` maps the parameters p to the derived numbers d; None if there are no parameters. ``body`` maps the
    inputs (and d, last) to the outputs, or to the values that the rounds of ``loop`` share.
    """

    prepare: Graph | None
    body: Graph
    loop: Loop | None = None

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graphs of all parts, in the order in which they run."""
        prepare = () if self.prepare is None else (self.prepare,)
        loop = () if self.loop is None else (self.loop.start, self.loop.step, self.loop.finish)
        return (*prepare, self.body, *loop)

    @property
    def operations(self) -> int:
        """Arithmetic operations for one state; of one round for an iteration."""
        return self.body.count if self.loop is None else self.loop.step.count

    @property
    def cost(self) -> int:
        """Operations that one state takes, about: an iteration is taken to need five rounds."""
        rounds = 0 if self.loop is None else 5 * self.loop.step.count + self.loop.finish.count
        return self.body.count + rounds

    def map(self, change: Callable[[Graph], Graph]) -> Program:
        """The same program with every part changed."""
        loop = self.loop and Loop(change(self.loop.start), change(self.loop.step), change(self.loop.finish))
        return Program(self.prepare and change(self.prepare), change(self.body), loop)

    @staticmethod
    def of(graph: Graph, parameters: bool) -> Program:
        """Of a graph of (inputs, p if there are parameters) -> outputs."""
        if not parameters:
            return Program(None, graph)
        return Program(*divided(graph, {len(graph.inputs) - 1}))

    @staticmethod
    def iterating(graph: Graph, parameters: bool) -> Program:
        """Of a graph of (inputs, iteration's state, p if there are parameters) -> start, step, outputs."""
        state = len(graph.inputs) - (2 if parameters else 1)
        prepare = None
        if parameters:
            prepare, graph = divided(graph, {state + 1})
        body, rounds = divided(graph, set(range(len(graph.inputs))) - {state})
        start, step, *finish = range(len(rounds.outputs))
        return Program(prepare, body, Loop(rounds.only([start]), rounds.only([step]), rounds.only(finish)))
