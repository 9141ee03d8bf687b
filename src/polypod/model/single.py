"""Functions of one state or a few: fixed memory, bound kernels, no batch bookkeeping.

A control loop calls with one state at a time; broadcasting and address look-ups would cost it more than the
mechanics, and those of a thousand states as much. Anything unusual (another shape, a pose that is none, a lost margin)
goes to ``.calls.Calls``, which explains.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from ..arrays import Array
from ..kernels import Kernel, SmallBatch
from .arguments import default_value, is_given
from .results import DIAGNOSTICS

_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)


class SingleState:
    """One function of one state with its first ``count`` inputs given, bound to memory of the calling thread.

    Of a small batch of states it is the same function, without memory of its own.

    The kernel's outputs end with the verdict on the state.
    """

    def __init__(self, kernel: Kernel, count: int) -> None:
        # One stretch of memory, filled at once.
        lengths = [prod(p.shape) for p in kernel.inputs]
        state = np.concatenate([default_value(p.name, p.shape).ravel() for p in kernel.inputs])
        parts = np.split(state, np.cumsum(lengths)[:-1])
        inputs = [part.reshape(1, *p.shape) for part, p in zip(parts, kernel.inputs, strict=True)]
        outputs = [np.zeros((1, *p.shape)) for p in kernel.outputs]
        self._evaluate = kernel.bind(*inputs, out=outputs)
        self._given = state.data.cast("B")[: 8 * sum(lengths[:count])]
        self._shapes = [p.shape for p in kernel.inputs[:count]]
        self._verdict = outputs[-1].data
        named = zip(outputs, kernel.outputs, strict=True)
        self._results = [a.reshape(p.shape) for a, p in named if p.name not in DIAGNOSTICS]
        self._first = self._results[0]
        self._batch = SmallBatch(kernel, [default_value(p.name, p.shape)[None] for p in kernel.inputs[count:]])
        self._of_results = [k for k, p in enumerate(kernel.outputs) if p.name not in DIAGNOSTICS]

    def first(self, *values: Any) -> Any:
        """The first result, a new array; None if the checked call must look at it."""
        shapes, k = self._shapes, 0
        for value in values:  # counted by hand: zip takes longer than the rest
            if type(value) is not _ARRAY or value.shape != shapes[k] or value.dtype is not _DOUBLE:
                found = self._several(values)
                return None if found is None else found[0]
            k += 1  # noqa: SIM113
        try:
            self._given[:] = b"".join(values)
        except TypeError:  # not contiguous
            return None
        self._evaluate()
        return None if self._verdict[0] else self._first.copy()

    def all(self, *values: Any) -> list[Array] | None:
        """All results for one state, or a few; None if the checked call must look at them."""
        found = self._several(values)
        if found is not None or self.first(*values) is None:
            return found
        return [a.copy() for a in self._results]

    def _several(self, values: tuple[Any, ...]) -> list[Array] | None:
        """All results of a few states (n, *shape)."""
        if not values or type(values[0]) is not _ARRAY or values[0].ndim != len(self._shapes[0]) + 1:
            return None
        outputs = self._batch(*values)
        if outputs is None or np.count_nonzero(outputs[-1]):
            return None
        return [outputs[k] for k in self._of_results]


class SingleStates(threading.local):
    """The bound functions of one thread; ``first`` are the callers' own short cuts to them."""

    def __init__(self) -> None:
        self.first: dict[Any, Callable[..., Any]] = {}
        self._known: dict[tuple[Kernel, int], SingleState] = {}

    def get(self, kernel: Kernel, count: int) -> SingleState:
        """The bound form of a kernel, made when first used by this thread."""
        if (kernel, count) not in self._known:
            self._known[kernel, count] = SingleState(kernel, count)
        return self._known[kernel, count]


def given_values(kernel: Kernel, given: Mapping[str, Any]) -> list[Any]:
    """Values for a kernel's inputs as far as they are given; presets stand for those left out before others."""
    count = max((k + 1 for k, p in enumerate(kernel.inputs) if is_given(p.name, given)), default=0)
    ports = kernel.inputs[:count]
    return [given[p.name] if is_given(p.name, given) else default_value(p.name, p.shape) for p in ports]
