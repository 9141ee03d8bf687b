"""Kernels called with one state, as loops of control and simulation need them."""

from __future__ import annotations

from array import array as words_of
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import StateError
from .block import address_of, plain_address
from .kernel import OPERATIONS_PER_THREAD, Bound, Kernel

_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)


class Call:
    """A kernel tied to arrays of its own; results are views that the next call overwrites. Not for several threads."""

    def __init__(self, kernel: Kernel) -> None:
        inputs = tuple(np.zeros((1, *p.shape)) for p in kernel.inputs)
        # one stretch of memory, so that one look tells whether all results are finite
        lengths = [prod(p.shape) for p in kernel.outputs]
        self._flat = np.zeros(sum(lengths))
        parts = np.split(self._flat, np.cumsum(lengths)[:-1])
        outputs = tuple(part.reshape(1, *p.shape) for part, p in zip(parts, kernel.outputs, strict=True))
        self._rows = tuple(a[0] if a.ndim > 1 else a for a in inputs)
        self._results = tuple(a[0] if a.ndim > 1 else a for a in outputs)
        self._bound = Bound(kernel, inputs, outputs)

    def __call__(self, *values: Array | float) -> tuple[Array, ...]:
        """Outputs for one state; a scalar output is an array of one number."""
        for row, value in zip(self._rows, values, strict=True):
            row[...] = value
        self._bound()
        return self._results


class SmallBatch:
    """A kernel of one design called with a few states at a time, with no more bookkeeping than their addresses take.

    ``rest`` are its last inputs, a row (1, *shape) each that all states share.
    """

    def __init__(self, kernel: Kernel, rest: Sequence[Array]) -> None:
        self._kernel, self._rest = kernel, rest  # which live as long as their addresses are used
        self._inputs = [(p.shape, p.length) for p in kernel.inputs[: len(kernel.inputs) - len(rest)]]
        self._outputs = [(p.shape, p.length) for p in kernel.outputs]
        self._shared = [word for row in rest for word in (address_of(row), 0, 0)] + kernel.design_words
        self._max_states = 2 * OPERATIONS_PER_THREAD // max(kernel.cost, 1)

    def __call__(self, *arrays: Any) -> list[Array] | None:
        """Outputs (n, *shape); None if the arrays are not plain rows (n, *shape), few enough for one thread."""
        n, words = len(arrays[0]), [1, len(arrays[0])]
        if not 0 < n <= self._max_states:
            return None
        try:
            for array, (shape, length) in zip(arrays, self._inputs, strict=True):
                if type(array) is not _ARRAY or array.dtype is not _DOUBLE or array.shape != (n, *shape):
                    return None
                words += (plain_address(array), length, 0)
        except (TypeError, ValueError):  # not contiguous, or read-only
            return None
        words += self._shared
        results = []
        for shape, length in self._outputs:
            results.append(np.empty((n, *shape)))
            words += (plain_address(results[-1]), length, 0)
        block = words_of("q", words)  # named: it must outlive the call, which lets other threads run
        self._kernel.function(n)(block.buffer_info()[0])
        return results


class CheckedCall(Call):
    """A call that gives an answer or an error: no number where the kernel reports that there is none.

    An answer has a ``quality`` above ``least_quality``, an iteration that ``converged`` (where the kernel has such
    outputs), and finite results. ``explain`` says in words why the quality is lost, from the call's own values.
    """

    def __init__(self, kernel: Kernel, least_quality: float, explain: Callable[..., str]) -> None:
        super().__init__(kernel)
        self._name, self._least, self._explain = kernel.name, least_quality, explain
        by_name = dict(zip((p.name for p in kernel.outputs), self._results, strict=True))
        always = np.full(1, np.inf)
        self._quality, self._converged = by_name.get("quality", always), by_name.get("converged", always)

    def attempt(self, *values: Array | float) -> tuple[Array, ...] | None:
        """Outputs for one state; None if it has no answer."""
        for row, value in zip(self._rows, values, strict=True):
            row[...] = value
        self._bound()
        if not self._quality[0] > self._least or self._converged[0] == 0.0:
            return None
        # the zero byte of a False; for a few numbers faster than np.isfinite(...).all()
        return None if b"\0" in np.isfinite(self._flat).tobytes() else self._results

    def __call__(self, *values: Array | float) -> tuple[Array, ...]:
        """Outputs for one state; a :class:`~polypod.errors.StateError` with the reason if it has no answer."""
        results = self.attempt(*values)
        if results is not None:
            return results
        if not self._quality[0] > self._least:
            reason = self._explain(*values)
        elif self._converged[0] == 0.0:
            reason = "the friction iteration did not converge: friction coefficients too large for this state"
        else:
            reason = "the result is too large for a floating-point number"
        raise StateError(f"{self._name}: no answer. {reason}", np.array([0]), [reason])
