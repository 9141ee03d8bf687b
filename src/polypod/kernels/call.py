"""Kernels called with one state, as loops of control and simulation need them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernel import Bound, Kernel

Array = NDArray[np.float64]


class Call:
    """A kernel tied to arrays of its own; results are views that the next call overwrites. Not for several threads."""

    def __init__(self, kernel: Kernel) -> None:
        inputs = tuple(np.zeros((1, *p.shape)) for p in kernel.inputs)
        outputs = tuple(np.zeros((1, *p.shape)) for p in kernel.outputs)
        self._rows = tuple(a[0] if a.ndim > 1 else a for a in inputs)
        self._results = tuple(a[0] if a.ndim > 1 else a for a in outputs)
        self._bound = Bound(kernel, inputs, outputs)

    def __call__(self, *values: Array | float) -> tuple[Array, ...]:
        """Outputs for one state; a scalar output is an array of one number."""
        for row, value in zip(self._rows, values, strict=True):
            row[...] = value
        self._bound()
        return self._results
