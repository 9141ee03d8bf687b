"""States of designs row by row, and what is said of those without an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..kernels import Kernel
from .arguments import Batch
from .diagnosis import Errors, report
from .generalized_coordinates import GeneralizedCoordinates
from .row_kernels import RowKernels

Text = str | Callable[[int], str]
"""Why a state has no answer: the same words for all, or those of the state with this number."""
Failures = list[tuple[NDArray[np.bool_], Text]]
"""Rows (n) without an answer, and why; the first note on a row counts."""


class DesignStates(NamedTuple):
    """Every state of every design as one of n rows of each argument, named ``names``, and functions for these rows.

    ``which`` (n) is the number of each row's design; ``failures`` say which rows have no answer, and why.
    """

    batch: Batch
    names: tuple[str, ...]
    kernels: RowKernels
    own: GeneralizedCoordinates
    which: NDArray[np.int64]
    failures: Failures

    def evaluated(self, kernel: Kernel) -> dict[str, Array]:
        """Outputs by name of a kernel of the rows, whose inputs are among the arguments."""
        rows = dict(zip(self.names, self.batch.rows, strict=True))
        results = kernel(*(rows[p.name] for p in kernel.inputs))
        return dict(zip((p.name for p in kernel.outputs), as_tuple(results), strict=True))

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Rows (n) without an answer."""
        return np.any([np.zeros(self.batch.size, dtype=bool), *(states for states, _ in self.failures)], axis=0)

    def finalise(
        self, name: str, results: Sequence[Array], answer: Callable[..., Any], errors: Errors | None = None
    ) -> Any:
        """``answer`` of the results (n, ...) with the batch's axes, NaN in rows without one, which are reported."""
        return finalise(name, self.batch.shape, results, self.failures, answer, errors)


def failure_reason(failures: Failures, state: int) -> str | None:
    """What the first note on a state says; None if there is none."""
    text = next((text for states, text in failures if states[state]), None)
    return text(state) if callable(text) else text


def as_tuple(results: Any) -> tuple[Array, ...]:
    """Results of a kernel, which gives one without a tuple."""
    return results if isinstance(results, tuple) else (results,)


def finalise(
    name: str,
    shape: tuple[int, ...],
    results: Sequence[Array],
    failures: Failures,
    answer: Callable[..., Any],
    errors: Errors | None = None,
) -> Any:
    """``answer`` of results (n, ...) with the axes of a batch, NaN in the rows that notes name; they are reported."""
    bad = np.any([states for states, _ in failures], axis=0) if failures else np.zeros(0, dtype=bool)
    if bad.any():
        for result in results:
            result[bad] = np.nan
    found = answer(*(result.reshape(shape + result.shape[1:]) for result in results))
    if bad.any():

        def explain(index: NDArray[np.int64]) -> list[str]:
            return [failure_reason(failures, int(k)) or "" for k in index]

        report(name, bad, explain, found, bool(shape), errors)
    return found
