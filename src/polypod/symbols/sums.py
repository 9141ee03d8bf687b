"""Sums in the order that takes the fewest instructions.

Processors multiply and add in one instruction, a b + c. The sum of sums (a b + c d) + (e f + g h) takes five of them;
one after the other, ((a b + c d) + e f) + g h, it takes four, and with a term that is no product every product is part
of a sum. So sums that nothing else uses are opened and added in one row, each term as soon as it is known. The order of
a sum changes its rounding; functions whose rounding is counted keep theirs (see :class:`.expression.Expression`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import casadi as ca

from .graph import Graph, Operation

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
