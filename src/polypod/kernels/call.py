"""Kernels called with one state, as loops of control and simulation need them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from .kernel import Bound, Kernel

Array = NDArray[np.float64]


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
