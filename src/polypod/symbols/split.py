"""A graph divided by what it depends on: what some inputs alone determine, and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import casadi as ca

from .graph import Graph, Operation


def split_by_dependency(graph: Graph, early: Collection[int]) -> tuple[Graph, Graph]:
    """A graph in two: what depends on the ``early`` inputs alone, and the rest.

    The first maps the early inputs to one row d: every early value that the rest or an output uses. The second maps
    the other inputs, then d, to all outputs. What is cheap to move is moved to the first: a quotient by an early value
    becomes a product with its reciprocal, and (x a) b becomes x (a b), (x + a) + b becomes x + (a + b).
    """
    parts = _Parts(graph, early)
    for step in graph.operations:
        parts.place.append(parts.placed(step))
    outputs = tuple(tuple(parts.in_second(i) for i in out) for out in graph.outputs)
    first_lengths, second_lengths = (tuple(graph.inputs[k] for k in members) for members in parts.arrays)
    second = Graph((*second_lengths, len(parts.row)), tuple(parts.second), outputs).only(range(len(outputs)))
    # Numbers that were gathered into others are not needed themselves.
    last = len(second_lengths)
    used = sorted({s.source[1] for s in second.operations if s.op == ca.OP_INPUT and s.source[0] == last})
    column = {old: new for new, old in enumerate(used)}
    operations = tuple(
        Operation(s.op, source=(last, column[s.source[1]])) if s.op == ca.OP_INPUT and s.source[0] == last else s
        for s in second.operations
    )
    first = Graph(first_lengths, tuple(parts.first), (tuple(parts.row[k] for k in used),)).only([0])
    return first, Graph((*second_lengths, len(used)), operations, second.outputs)


class _Parts:
    """Operations of both parts as they grow, and where each value of the graph is."""

    def __init__(self, graph: Graph, early: Collection[int]) -> None:
        self.arrays = sorted(early), [k for k in range(len(graph.inputs)) if k not in early]
        self._number = {array: (part, k) for part, members in enumerate(self.arrays) for k, array in enumerate(members)}
        self._uses = Counter(i for step in graph.operations for i in step.arguments)
        self._uses.update(i for out in graph.outputs for i in out)
        self.first: list[Operation] = []
        self.second: list[Operation] = []
        self.place: list[tuple[bool, int]] = []  # of each value: whether it is early, and where it is in its part
        self.row: list[int] = []  # values of the first part that are elements of d
        self._carried: dict[int, int] = {}  # where a value of the first part is in the second
        self._origin: dict[int, int] = {}  # and the other way round
        self._inverse: dict[int, int] = {}

    def placed(self, step: Operation) -> tuple[bool, int]:
        """Add the next operation of the graph to its part."""
        op, arguments, (array, element), constant = step
        if op == ca.OP_INPUT:
            late, array = self._number[array]
            part = self.second if late else self.first
            return not late, _add(part, Operation(op, source=(array, element)))
        place = self.place
        places = [place[i] for i in arguments]
        for is_early, _ in places:
            if not is_early:
                break
        else:
            return True, _add(self.first, Operation(op, tuple([index for _, index in places]), (0, 0), constant))
        if op == ca.OP_DIV and places[1][0]:
            return False, self._combined(ca.OP_MUL, arguments[0], self._reciprocal(places[1][1]))
        if op in (ca.OP_ADD, ca.OP_MUL):
            if places[1][0]:
                return False, self._combined(op, arguments[0], places[1][1])
            if places[0][0]:
                return False, self._combined(op, arguments[1], places[0][1])
        return False, _add(self.second, Operation(op, tuple([self.in_second(i) for i in arguments])))

    def in_second(self, value: int) -> int:
        """Where a value of the graph is in the second part."""
        is_early, index = self.place[value]
        return self._carry(index) if is_early else index

    def _combined(self, op: int, late: int, number: int) -> int:
        """late op number; number is in the first part. (x op a) op number, used once, becomes x op (a op number)."""
        index = self.place[late][1]
        inner = self.second[index]
        if inner.op == op and self._uses[late] == 1:
            for x, a in (inner.arguments, inner.arguments[::-1]):
                if a in self._origin and x not in self._origin:
                    both = _add(self.first, Operation(op, (self._origin[a], number)))
                    return _add(self.second, Operation(op, (x, self._carry(both))))
        return _add(self.second, Operation(op, (index, self._carry(number))))

    def _carry(self, index: int) -> int:
        if index not in self._carried:
            step = self.first[index]
            if step.op != ca.OP_CONST:
                step = Operation(ca.OP_INPUT, source=(len(self.arrays[1]), len(self.row)))
                self.row.append(index)
            self._carried[index] = _add(self.second, step)
            self._origin[self._carried[index]] = index
        return self._carried[index]

    def _reciprocal(self, denominator: int) -> int:
        if denominator not in self._inverse:
            self._inverse[denominator] = _add(self.first, Operation(ca.OP_INV, (denominator,)))
        return self._inverse[denominator]


def _add(part: list[Operation], step: Operation) -> int:
    part.append(step)
    return len(part) - 1
