"""Rows of a log with its splines eliminated: a banded matrix of their coefficients, and a triangle about beta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..arrays import Array
from .rows import Rows, Splines

FLOOR = 1e-14
"""Information about a direction below this part of the largest is rounding."""


@dataclass(frozen=True)
class Eliminated:
    """Splines of a log, rows weighted by ``weight`` (a,), coordinates of noise ``sigma`` (a,).

    ``factor`` of their banded matrix A = G^T G + N^T N/sigma^2, ``cross`` G^T Y (K a, r), ``moves`` (K a, r + 1): what
    they do by unit steps of beta, A^-1 G^T Y, and with it at zero.
    """

    splines: Splines
    weight: Array
    sigma: Array
    factor: Array
    cross: Array
    moves: Array

    def step(self, beta: Array) -> Array:
        """Steps of all coefficients (K a,) with beta (r,)."""
        return np.asarray(self.moves[:, -1] - self.moves[:, :-1] @ beta)

    def changed(self, steps: Array) -> Array:
        """What steps (K a, p) of the splines do to the rows (B a, p)."""
        blocks, a, _, _ = self.splines.derivatives.shape
        place = self.splines.first[:, None] * a + np.arange(6 * a)
        derivatives = (self.splines.derivatives * self.weight[:, None, None]).reshape(blocks, a, 6 * a)
        return np.asarray((derivatives @ steps[place]).reshape(blocks * a, -1))

    def gathered(self, rows: Array) -> Array:
        """The transpose of :meth:`changed`: rows (B a, p) to coefficients (K a, p)."""
        blocks, a, _, _ = self.splines.derivatives.shape
        derivatives = (self.splines.derivatives * self.weight[:, None, None]).reshape(blocks, a, 6 * a)
        parts = np.swapaxes(derivatives, 1, 2) @ rows.reshape(blocks, a, -1)
        first, starts = np.unique(self.splines.first, return_index=True)
        return _scattered(np.add.reduceat(parts, starts, axis=0), first, a, self.splines.gram.shape[1])


@dataclass(frozen=True)
class Weighted:
    """A log's rows by the ``weight`` (a,) of their channels: ``columns`` (B a, r) and ``side`` (B a,).

    ``triangle`` (r, r) and ``target`` (r,) are what they say about beta, splines eliminated if they are sought.
    """

    columns: Array
    side: Array
    triangle: Array
    target: Array
    weight: Array
    eliminated: Eliminated | None = None


def weighted_rows(part: Rows, weight: Array, sigma: Array) -> Weighted:
    """The rows of a log by the weight (a,) of their channels; ``sigma`` (a,) is the noise of its coordinates."""
    size = part.columns.shape[2]
    columns = (part.columns * weight[:, None]).reshape(-1, size)
    side = (part.side * weight).ravel()
    if part.splines is None:
        factor: Array = np.asarray(np.linalg.qr(np.column_stack([columns, side]), mode="r"))
        factor = np.pad(factor, ((0, max(size + 1 - len(factor), 0)), (0, 0)))
        return Weighted(columns, side, factor[:size, :size], factor[:size, size], weight)
    splines = part.splines
    blocks, a = part.side.shape
    first, starts, length = np.unique(splines.first, return_index=True, return_counts=True)
    derivatives = (splines.derivatives * weight[:, None, None]).reshape(blocks, a, 6 * a)
    joined = np.concatenate([derivatives, columns.reshape(blocks, a, size), side.reshape(blocks, a, 1)], axis=2)
    # all blocks between two knots have the same unknowns: one product for each such interval
    index = starts[:, None] + np.arange(length.max())
    held = np.arange(length.max()) < length[:, None]
    padded = joined[np.minimum(index, blocks - 1)] * held[:, :, None, None]
    padded = padded.reshape(len(first), -1, joined.shape[2])
    products = np.swapaxes(padded[:, :, : 6 * a], 1, 2) @ padded
    count = splines.gram.shape[1]
    bands = np.zeros((6 * a, count * a))
    for v in range(6 * a):
        bands[: 6 * a - v, first * a + v] += products[:, v : 6 * a, v].T
    for d, row in enumerate(splines.gram):
        bands[d * a] += (row[:, None] / sigma**2).ravel()
    cross = _scattered(products[:, :, 6 * a :], first, a, count)
    cross[:, size] += (splines.pull / sigma**2).ravel()
    banded = cholesky_banded(bands, lower=True)
    moves = cho_solve_banded((banded, True), cross)
    whole = np.column_stack([columns, side])
    inner = columns.T @ whole - cross[:, :size].T @ moves
    triangle, target = _triangle(inner[:, :size], inner[:, size])
    own = Eliminated(splines, weight, sigma, banded, cross[:, :size], moves)
    return Weighted(columns, side, triangle, target, weight, own)


def _scattered(parts: Array, first: NDArray[np.int64], a: int, count: int) -> Array:
    """Sums (K a, p) of parts (I, 6 a, p) that stand at the coefficients from ``first`` (I,) on."""
    found = np.zeros((count * a, parts.shape[2]))
    for u in range(6 * a):
        found[first * a + u] += parts[:, u]
    return found


def _triangle(information: Array, side: Array) -> tuple[Array, Array]:
    """R and z with R^T R = information and R^T z = side."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    even = information / scale / scale[:, None]
    values, vectors = np.linalg.eigh(0.5 * (even + even.T))
    values = np.maximum(values, FLOOR * values[-1])
    root = np.sqrt(values)
    return (root * vectors).T * scale, (vectors.T @ (side / scale)) / root
