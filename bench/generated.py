"""The same equations as an expert would run them without polypod's compiler: Python source for numba and JAX.

Both get the graph that our kernels are compiled from, with the robot's numbers in it: numba a loop over states with
fast arithmetic, JAX one function of whole columns that XLA fuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from bench.states import Array
from polypod.kernels import Expression
from polypod.model import Model
from polypod.symbols.graph import SELECT, Graph

_WRITTEN = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_ASSIGN: "{0}",
    ca.OP_SQRT: "np.sqrt({0})",
    ca.OP_FABS: "np.abs({0})",
    ca.OP_FMIN: "np.minimum({0}, {1})",
    ca.OP_FMAX: "np.maximum({0}, {1})",
    ca.OP_LT: "{0} < {1}",
    ca.OP_LE: "{0} <= {1}",
    ca.OP_NOT: "{0} == 0",
    SELECT: "np.where({0}, {1}, {2})",
    ca.OP_IF_ELSE_ZERO: "np.where({0}, {1}, 0.0)",
}


def rivals(model: Model, function: str) -> Iterator[tuple[str, Callable[[Sequence[Array]], Callable[[], Any]]]]:
    """Name, and what makes a call of whole batches (n, *shape) that gives the outputs; of what is installed."""
    kernel = model.kernel(function, friction=False)
    expression = kernel.expression
    if not isinstance(expression, Expression):
        return
    graph = (expression if kernel.values is None else expression.fixed(kernel.values)).graph
    if any(step.op not in _WRITTEN for step in graph.operations if step.op not in (ca.OP_INPUT, ca.OP_CONST)):
        return
    for name, make in (("numba, loop over states", _numba), ("JAX, jit of columns", _jax)):
        try:
            yield name, make(graph)
        except ImportError:
            continue


def _lines(graph: Graph, given: str) -> list[str]:
    lines = []
    for k, step in enumerate(graph.operations):
        if step.op == ca.OP_INPUT:
            value = given.format(*step.source)
        elif step.op == ca.OP_CONST:
            value = repr(step.constant)
        else:
            value = _WRITTEN[step.op].format(*(f"v{i}" for i in step.arguments))
        lines.append(f"v{k} = {value}")
    return lines


def _numba(graph: Graph) -> Callable[[Sequence[Array]], Callable[[], Any]]:
    import numba

    inputs = [f"x{k}" for k in range(len(graph.inputs))]
    outputs = [f"y{k}" for k in range(len(graph.outputs))]
    body = _lines(graph, "x{0}[min(i, len(x{0}) - 1), {1}]")
    body += [f"y{k}[i, {e}] = v{i}" for k, row in enumerate(graph.outputs) for e, i in enumerate(row)]
    source = f"def run({', '.join(inputs + outputs)}):\n    for i in range(len(y0)):\n        " + "\n        ".join(
        body
    )
    compiled = numba.njit(fastmath=True, error_model="numpy")(_executed(source, np)["run"])

    def bound(arrays: Sequence[Array]) -> Callable[[], Any]:
        rows = [np.ascontiguousarray(a.reshape(len(a), -1)) for a in arrays]
        found = [np.empty((max(map(len, rows)), len(row))) for row in graph.outputs]

        def call() -> Any:
            compiled(*rows, *found)
            return found

        return call

    return bound


def _jax(graph: Graph) -> Callable[[Sequence[Array]], Callable[[], Any]]:
    import jax

    jax.config.update("jax_enable_x64", True)
    inputs = [f"x{k}" for k in range(len(graph.inputs))]
    body = _lines(graph, "x{0}[:, {1}]")
    stacked = [f"np.stack(np.broadcast_arrays({', '.join(f'v{i}' for i in row)},), axis=1)" for row in graph.outputs]
    source = f"def run({', '.join(inputs)}):\n    " + "\n    ".join([*body, f"return [{', '.join(stacked)}]"])
    compiled = jax.jit(_executed(source, jax.numpy)["run"])

    def bound(arrays: Sequence[Array]) -> Callable[[], Any]:
        rows = [jax.device_put(a.reshape(len(a), -1)) for a in arrays]
        return lambda: jax.block_until_ready(compiled(*rows))

    return bound


def _executed(source: str, numpy: Any) -> dict[str, Any]:
    names: dict[str, Any] = {"np": numpy}
    exec(compile(source, "<rival>", "exec"), names)  # written above from a graph of ours
    return names
