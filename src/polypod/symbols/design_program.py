"""Programs of many designs at the same states: what states alone determine is computed once for all designs.

Of the numbers p of a robot only some vary between designs. Everything that depends on a state and on the others is the
same for all of them: the motion of the legs' ends if the platform stays as it is; nearly all if only masses vary.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import casadi as ca

from .graph import Graph, Operation
from .program import Loop, Program
from .split import split_by_dependency


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
