"""The short way for one state: fixed arrays, bound kernels, no batch bookkeeping.

A control loop calls with one state at a time; broadcasting and address look-ups would cost it more than the
mechanics. Anything unusual (another shape, a pose that is none, a lost margin) takes the general way, which explains.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from .arguments import all_finite
from .checks import ROTATION_TOLERANCE, rotation_kernel

Array = NDArray[np.float64]


class SingleState:
    """One function of one state, bound to arrays of the calling thread."""

    def __init__(self, kernel: Kernel) -> None:
        # One stretch of memory, so that one look tells whether all numbers of a state are finite.
        lengths = [prod(p.shape) for p in kernel.inputs]
        self._state = np.zeros(sum(lengths))
        parts = np.split(self._state, np.cumsum(lengths)[:-1])
        self._inputs = [part.reshape(1, *p.shape) for part, p in zip(parts, kernel.inputs, strict=True)]
        self._outputs = [np.zeros((1, *p.shape)) for p in kernel.outputs]
        self._shapes = [p.shape for p in kernel.inputs]
        self._call = kernel.bind(*self._inputs, out=self._outputs)
        self._rows = [a[0] for a in self._inputs]
        self._defect = np.zeros(1)
        self._check = rotation_kernel().bind(self._inputs[0], out=[self._defect])
        names = [p.name for p in kernel.outputs]
        self._quality = self._outputs[names.index("quality")]
        self._converged = self._outputs[names.index("converged")] if "converged" in names else None
        self._results = [
            a for a, name in zip(self._outputs, names, strict=True) if name not in ("quality", "converged")
        ]
        # Reactions that statics leaves open are NaN; the forces, last, tell whether there is an answer.
        self._flat = [a.reshape(-1) for a in self._results[-1 if kernel.name == "reactions" else 0 :]]

    def __call__(self, values: Sequence[Any]) -> list[Array] | None:
        """Results of the state; None if the general way must look at it."""
        for row, value, shape in zip(self._rows, values, self._shapes, strict=True):
            if type(value) is not np.ndarray or value.shape != shape or value.dtype != np.float64:
                return None
            row[...] = value
        if not all_finite(self._state):
            return None
        self._check()
        if not self._defect[0] <= ROTATION_TOLERANCE:
            return None
        self._call()
        if not self._quality[0] > SMALLEST_MARGIN:
            return None
        if self._converged is not None and self._converged[0] == 0.0:
            return None
        for flat in self._flat:
            if not all_finite(flat):
                return None
        return [a[0].copy() for a in self._results]


class SingleStates(threading.local):
    """The bound functions of one thread."""

    def __init__(self) -> None:
        self._made: dict[Any, SingleState] = {}

    def get(self, key: Any, kernel: Kernel) -> SingleState:
        """The bound form of a kernel, made when first used by this thread."""
        if key not in self._made:
            self._made[key] = SingleState(kernel)
        return self._made[key]
