"""A function's graph as it is compiled: nothing is computed more often than it changes.

Numbers that depend on a function's parameters alone are prepared once a design; values that depend on the inputs
of an iteration alone are computed once before its first round, and those that depend on numbers of its state that
change in some iterations only are computed anew in those.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import casadi as ca

from .graph import Graph, Operation
from .split import split_by_dependency


@dataclass(frozen=True)
class Loop:
    """An iteration's parts as graphs of (state, shared values): iterations of ``step`` from ``start``, then ``finish``.

    With ``renew`` steps have a third input: its values when the state's number ``count`` was last zero.
    """

    start: Graph
    step: Graph
    finish: Graph
    renew: Graph | None = None
    count: int = 0

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graphs of all parts, in the order in which they run."""
        return (self.start, *(() if self.renew is None else (self.renew,)), self.step, self.finish)

    @property
    def round(self) -> int:
        """Operations of a round in which all is new."""
        return self.step.count + (0 if self.renew is None else self.renew.count)

    def map(self, change: Callable[[Graph], Graph]) -> Loop:
        """The same loop with every part changed."""
        renew = self.renew and change(self.renew)
        return Loop(change(self.start), change(self.step), change(self.finish), renew, self.count)

    def hoisted(self, inner_state: tuple[int, ...]) -> Loop:
        """The same loop with values kept that depend on none of the state's numbers ``inner_state``.

        The last of these is the count: where it is zero other numbers may have changed.
        """
        if not inner_state:
            return self
        size, shared = self.step.inputs
        late = set(inner_state)
        # the state in two arrays, so that they can be distinguished
        operations = tuple(
            Operation(step.op, source=(2, step.source[1]))
            if step.op == ca.OP_INPUT and step.source[0] == 0 and step.source[1] in late
            else step
            for step in self.step.operations
        )
        renew, rest = split_by_dependency(Graph((size, shared, size), operations, self.step.outputs), {0, 1})
        # what is not computed need not be kept
        (row,) = renew.outputs
        given = {k: renew.operations[i].source for k, i in enumerate(row) if renew.operations[i].op == ca.OP_INPUT}
        computed = {k: place for place, k in enumerate(k for k in range(len(row)) if k not in given)}

        def source(step: Operation) -> Operation:
            if step.op != ca.OP_INPUT:
                return step
            array, k = step.source
            if array == 0:
                return step
            return Operation(step.op, source=given[k] if k in given else (2, computed[k]))

        kept = Graph(renew.inputs, renew.operations, (tuple(row[k] for k in computed),)).only([0])
        step = Graph((size, shared, len(computed)), tuple(source(s) for s in rest.operations), rest.outputs)
        return Loop(self.start, step, self.finish, kept, inner_state[-1])


@dataclass(frozen=True)
class Program:
    """A function as it is compiled, in the order in which its parts run.

    ``prepare`` maps the parameters p to the derived numbers d; None if there are no parameters. ``body`` maps the
    inputs (and d, last) to the outputs, or to the values that the iterations of ``loop`` share.
    """

    prepare: Graph | None
    body: Graph
    loop: Loop | None = None

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graphs of all parts, in the order in which they run."""
        prepare = () if self.prepare is None else (self.prepare,)
        return (*prepare, self.body, *(() if self.loop is None else self.loop.graphs))

    @property
    def operations(self) -> int:
        """Arithmetic operations for one state; of one round for an iteration."""
        return self.body.count if self.loop is None else self.loop.round

    @property
    def cost(self) -> int:
        """Operations that one state takes, about: an iteration is taken to need five iterations."""
        iterations = 0 if self.loop is None else 5 * self.loop.round + self.loop.finish.count
        return self.body.count + iterations

    def map(self, change: Callable[[Graph], Graph]) -> Program:
        """The same program with every part changed."""
        loop = self.loop and self.loop.map(change)
        return Program(self.prepare and change(self.prepare), change(self.body), loop)

    @staticmethod
    def of(graph: Graph, parameters: bool) -> Program:
        """Of a graph of (inputs, p if there are parameters) -> outputs."""
        if not parameters:
            return Program(None, graph)
        return Program(*split_by_dependency(graph, {len(graph.inputs) - 1}))

    @staticmethod
    def iterating(graph: Graph, parameters: bool, inner_state: tuple[int, ...] = ()) -> Program:
        """Of a graph of (inputs, iteration's state, p if there are parameters) -> start, step, outputs.

        ``inner_state`` are the places of the state's numbers that change in every round, see ``Loop.hoisted``.
        """
        state = len(graph.inputs) - (2 if parameters else 1)
        prepare = None
        if parameters:
            prepare, graph = split_by_dependency(graph, {state + 1})
        body, iterations = split_by_dependency(graph, set(range(len(graph.inputs))) - {state})
        start, step, *finish = range(len(iterations.outputs))
        loop = Loop(iterations.only([start]), iterations.only([step]), iterations.only(finish))
        return Program(prepare, body, loop.hoisted(inner_state))


# ----------------------------------------------------------------------------------------------------------------------
# Programs of many designs at the same states: what states alone determine is computed once for all designs.
#
# Of the numbers p of a robot only some vary between designs. Everything that depends on a state and on the others
# is the
# same for all of them: the motion of the legs' ends if the platform stays as it is; nearly all if only masses vary.


@dataclass(frozen=True)
class DesignProgram:
    """A program in the order in which its parts run.

    ``prepare`` maps p to c, which is the same for all designs, and to d, which is a design's own; ``states`` maps the
    inputs and c to s, for all designs; ``body`` maps d and s to the outputs, or to what the iterations of ``loop``
    share.
    """

    prepare: Graph
    states: Graph
    body: Graph
    loop: Loop | None

    @staticmethod
    def of(program: Program, varied: Collection[int]) -> DesignProgram:
        """Of a program with parameters, of which those at the places ``varied`` differ between designs."""
        prepare, body = program.prepare, program.body
        assert prepare is not None
        depends: list[bool] = []
        for step in prepare.operations:
            own = step.op == ca.OP_INPUT and step.source[1] in varied
            depends.append(own or any(depends[i] for i in step.arguments))
        (row,) = prepare.outputs
        common = [k for k, i in enumerate(row) if not depends[i]]
        own_ = [k for k, i in enumerate(row) if depends[i]]
        last = len(body.inputs) - 1
        place = {k: (last, j) for j, k in enumerate(common)} | {k: (last + 1, j) for j, k in enumerate(own_)}
        operations = tuple(
            Operation(step.op, source=place[step.source[1]])
            if step.op == ca.OP_INPUT and step.source[0] == last
            else step
            for step in body.operations
        )
        whole = Graph((*body.inputs[:-1], len(common), len(own_)), operations, body.outputs)
        states, rest = split_by_dependency(whole, range(last + 1))
        parts = tuple(row[k] for k in common), tuple(row[k] for k in own_)
        return DesignProgram(Graph(prepare.inputs, prepare.operations, parts), states, rest, program.loop)
