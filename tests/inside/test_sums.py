"""Sums in the order that takes the fewest instructions: the same value, fewer products outside of sums."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from polypod.kernels import Iteration, Kernel, port
from polypod.model import Model
from polypod.symbols.expression import reassociated_sums
from polypod.symbols.graph import Graph
from polypod.symbols.program import Program


def _evaluated(graph: Graph, x: np.ndarray) -> list[int]:
    """The first output in whole numbers, which no order rounds."""
    values: list[int] = []
    rules = {ca.OP_ADD: lambda a, b: a + b, ca.OP_SUB: lambda a, b: a - b, ca.OP_MUL: lambda a, b: a * b}
    rules |= {ca.OP_SQ: lambda a: a * a, ca.OP_NEG: lambda a: -a, ca.OP_TWICE: lambda a: 2 * a}
    for step in graph.operations:
        if step.op == ca.OP_INPUT:
            values.append(int(x[step.source[1]]))
        elif step.op == ca.OP_CONST:
            values.append(int(step.constant))
        else:
            values.append(rules[step.op](*(values[i] for i in step.arguments)))
    return [values[i] for i in graph.outputs[0]]


def _products_alone(graph: Graph) -> int:
    """Products that are not the one product of a sum: each is an instruction of its own."""
    steps = graph.operations
    uses = [i for step in steps for i in step.arguments] + [i for row in graph.outputs for i in row]
    products = {i for i, s in enumerate(steps) if s.op in (ca.OP_MUL, ca.OP_SQ) and uses.count(i) == 1}
    taken = {next((i for i in s.arguments if i in products), -1) for s in steps if s.op in (ca.OP_ADD, ca.OP_SUB)}
    return sum(s.op in (ca.OP_MUL, ca.OP_SQ) for s in steps) - len(taken - {-1})


@pytest.mark.parametrize("seed", range(20))
def test_random_polynomials_keep_their_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = ca.SX.sym("x", 5)
    values = [x[k] for k in range(5)]
    for _ in range(60):
        a, b = (values[k] for k in rng.integers(max(0, len(values) - 12), len(values), 2))
        values.append([a + b, a - b, -a + b, a + b, a - b, x[int(rng.integers(5))] * a][int(rng.integers(6))])
    # shared and repeated outputs, an output that is a term of another, an input that is passed on
    graph = Graph.of(ca.Function("f", [x], [ca.vertcat(*values[-7:], values[-1], values[20], x[0])]))
    ordered = reassociated_sums(graph)
    assert ordered.count == graph.count
    point = rng.integers(-3, 4, 5)
    assert _evaluated(ordered, point) == _evaluated(graph, point)
    assert _products_alone(ordered) <= _products_alone(graph)


@pytest.mark.parametrize(
    ("write", "alone"),
    [
        (lambda x: (x[0] * x[1] + x[2] * x[3]) + (x[4] * x[0] + x[1] * x[2]), 1),
        (lambda x: (x[0] * x[1] + x[2] * x[3]) + (x[4] + x[1] * x[2]), 0),
        (lambda x: (x[0] * x[1] - x[4]) + (x[2] * x[3] - x[1] * x[2]), 0),
        (lambda x: x[4] - ((x[0] * x[1] - x[2] * x[3]) - x[1] * x[2]), 0),
    ],
)
def test_products_become_parts_of_sums(write, alone: int) -> None:  # type: ignore[no-untyped-def]
    x = ca.SX.sym("x", 5)
    graph = Graph.of(ca.Function("f", [x], [write(x)]))
    assert _products_alone(reassociated_sums(graph)) == alone


def test_every_part_of_an_iteration_is_ordered() -> None:
    """Newton for a root: the same answer in either order, and the program does differ."""
    x, y, done = ca.SX.sym("x", 4), ca.SX.sym("y"), ca.SX.sym("done")
    target = (x[0] * x[1] + x[2] * x[3]) + (x[0] * x[0] + 4)
    new = (y + target / y) / 2
    parts = ca.vertcat(y, done), ca.vertcat(target, 0), ca.vertcat(new, ca.fabs(new - y) < 1e-9 * y)
    found = {}
    for any_order in (False, True):
        function = Iteration("root", (port("x", x),), (port("y", y, ()),), *parts, any_order=any_order)
        found[any_order] = Kernel(lambda function=function: function)(np.array([[1.0, 2, 3, 4], [2, 0, 1, 5]]))
        assert isinstance(function.program, Program)
    np.testing.assert_allclose(found[True], np.sqrt([19.0, 13.0]), rtol=1e-15)
    np.testing.assert_allclose(found[True], found[False], rtol=1e-15)


def test_functions_of_robots_may_be_ordered_and_those_of_intervals_not() -> None:
    from polypod.analysis.certified import enclosure, telescopic_legs, volume

    model = Model("hexapod")
    assert model.kernel("inverse_kinematics").expression.any_order
    certified = (
        telescopic_legs._expression("coordinates"),
        volume._expression(False),
        enclosure._expression(model.kernels.mechanism, "coordinates"),
    )
    assert not any(function.any_order for function in certified)
