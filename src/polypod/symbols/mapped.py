"""Expressions at many rows of numbers, by CasADi's interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..arrays import Array


class Mapped:
    """A function of many states: inputs are columns (k) of symbols, outputs matrices (r, c)."""

    def __init__(self, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> None:
        self._function = ca.Function("values", list(inputs), [ca.densify(ca.SX(value)) for value in outputs])

    def __call__(self, *rows: Array) -> list[Array]:
        """Outputs (n, r, c) at n rows (n, k) of each input."""
        n = len(rows[0])
        if not n:
            return [np.zeros((0, *self._function.size_out(k))) for k in range(self._function.n_out())]
        columns = [ca.DM(np.ascontiguousarray(row.T)) for row in rows]
        results = []
        for k, value in enumerate(self._function.call(columns)):
            shape = self._function.size_out(k)
            found = np.array(value)
            # inputs without numbers say nothing of how many rows there are
            count = n if found.shape[1] == n * shape[1] else 1
            stacked = found.reshape(shape[0], count, shape[1]).transpose(1, 0, 2)
            results.append(np.broadcast_to(stacked, (n, *shape)))
        return results


def mapped(inputs: Sequence[ca.SX], expression: ca.SX, *rows: Array) -> Array:
    """An expression (r, c) of ``inputs`` at n rows (n, k) of each, (n, r, c)."""
    return Mapped(inputs, [expression])(*rows)[0]
