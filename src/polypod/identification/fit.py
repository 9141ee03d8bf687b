"""Weighted least squares on logs of any length: rows are reduced to a triangle for every channel, block by block.

[Y_I y] of a channel has the triangle R with R^T R = [Y_I y]^T [Y_I y]; all that the fit needs of the channel is in it.
Weights of channels then change without reading the log again. Products are summed first, which is fast; where they have
lost too many digits (little motion), rows are reduced by Householder's method instead, which loses none.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.threads import cores
from .base import BaseParameters
from .numbers import LinearModel, Motion

Array = NDArray[np.float64]
Good = NDArray[np.bool_]
BLOCK = 4096
"""States at once: their rows stay in the cache of a core."""
DIGITS_LOST = 1e9
"""Condition of summed products beyond which rows are reduced one by one: nine of sixteen digits."""


class Triangles(NamedTuple):
    """R (a, r + 1, r + 1) of every channel, and how many samples (a,) are in it."""

    factors: Array
    counts: NDArray[np.int64]


class Fit(NamedTuple):
    """beta (r,), its covariance (r, r), the noise of every channel (a,), the triangle R (r, r) and its side z (r,).

    ||R beta - z||^2 is the weighted sum of squares but for a constant: all that data say about beta.
    """

    beta: Array
    covariance: Array
    noise: Array
    triangle: Array
    side: Array


def triangles(
    linear: LinearModel, base: BaseParameters, motion: Motion, force: Array, good: Good, p: Array
) -> Triangles:
    """The triangles of a log: slopes of forces by base parameters at p, and forces (n, a), where ``good`` (n, a).

    Where friction depends on reactions forces bend with the numbers: then y is what the straight line through p leaves,
    y - f(p) + Y_I beta(p).
    """
    found = _summed(linear, base, motion, force, good, p)
    return found if found is not None else _householder(linear, base, motion, force, good, p)


def _rows(
    linear: LinearModel, base: BaseParameters, motion: Motion, force: Array, p: Array
) -> tuple[Array, Array, Good]:
    """Rows (n, a, r), sides (n, a) and which samples (n,) are sound."""
    rows, y = linear.slopes(motion, p, base.independent), force
    if linear.loaded:
        y = y - linear.forces(motion, p) + rows @ base.values(p)
    return rows, y, np.asarray(np.isfinite(rows).all(axis=(1, 2)) & np.isfinite(y).all(axis=1))


def _summed(
    linear: LinearModel, base: BaseParameters, motion: Motion, force: Array, good: Good, p: Array
) -> Triangles | None:
    """Triangles by Cholesky's method from sums of products; None if these are too near singular."""
    channels, size = force.shape[1], base.count
    products = np.zeros((channels, size + 1, size + 1))
    counts = np.zeros(channels, dtype=np.int64)

    def add(k: int, rows: Array, y: Array, use: Good) -> None:
        a, b = (rows[:, k], y[:, k]) if use.all() else (rows[use, k], y[use, k])
        products[k, :size, :size] += a.T @ a
        products[k, :size, size] += a.T @ b
        products[k, size, size] += b @ b
        counts[k] += len(b)

    with ThreadPoolExecutor(cores()) as pool:
        for block in _blocks(len(motion)):
            rows, y, sound = _rows(linear, base, motion[block], force[block], p)
            use = good[block] & sound[:, None]
            list(pool.map(lambda k, rows=rows, y=y, use=use: add(k, rows, y, use[:, k]), range(channels)))
    products[:, size, :size] = products[:, :size, size]
    whole = products[:, :size, :size].sum(axis=0)
    scale = np.sqrt(np.diag(whole))
    if (scale == 0).any() or np.linalg.cond(whole / scale / scale[:, None]) > DIGITS_LOST:
        return None
    factors = np.zeros_like(products)
    for k, product in enumerate(products):
        own = np.sqrt(np.maximum(np.diag(product), 1e-300))
        values, vectors = np.linalg.eigh(product / own / own[:, None])
        factors[k] = (np.sqrt(np.maximum(values, 0.0)) * vectors).T * own
    return Triangles(factors, counts)


def _householder(
    linear: LinearModel, base: BaseParameters, motion: Motion, force: Array, good: Good, p: Array
) -> Triangles:
    channels, size = force.shape[1], base.count + 1
    factors = np.zeros((channels, size, size))
    counts = np.zeros(channels, dtype=np.int64)

    def reduced(k: int, rows: Array, y: Array, use: Good) -> None:
        stacked = np.concatenate([factors[k], np.column_stack([rows[use, k], y[use, k]])])
        factors[k] = np.linalg.qr(stacked, mode="r")
        counts[k] += int(use.sum())

    with ThreadPoolExecutor(cores()) as pool:
        for block in _blocks(len(motion)):
            rows, y, sound = _rows(linear, base, motion[block], force[block], p)
            use = good[block] & sound[:, None]
            list(pool.map(lambda k, rows=rows, y=y, use=use: reduced(k, rows, y, use[:, k]), range(channels)))
    return Triangles(factors, counts)


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


def together(parts: list[Triangles]) -> Triangles:
    """The triangles of several logs as one."""
    stacked = np.concatenate([part.factors for part in parts], axis=1)
    factors = np.stack([np.linalg.qr(channel, mode="r") for channel in stacked])
    return Triangles(factors, np.sum([part.counts for part in parts], axis=0))


def weighted(data: Triangles, spread: Array | None = None, rounds: int = 4) -> Fit:
    """beta of least squares with the noise of each channel found from its own residuals.

    ``spread`` (a,) is how much longer than white noise of its size a channel's noise acts (its correlation time in
    samples): it widens the intervals.
    """
    channels, size = len(data.factors), data.factors.shape[1] - 1
    scale = np.sqrt((data.factors[:, :, :size] ** 2).sum(axis=(0, 1)))
    scale = np.where(scale > 0, scale, 1.0)
    spread = np.ones(channels) if spread is None else spread
    noise = np.ones(channels)
    for _ in range(rounds):
        weight = 1.0 / (noise * np.sqrt(spread))
        stacked = (data.factors * weight[:, None, None]).reshape(-1, size + 1)
        sides = np.column_stack([stacked[:, :size] / scale, stacked[:, size]])
        factor: Array = np.asarray(np.linalg.qr(sides, mode="r"))
        triangle, side = factor[:size, :size], factor[:size, size]
        beta = np.linalg.lstsq(triangle, side, rcond=1e-15)[0] / scale
        misfit = np.linalg.norm(data.factors @ np.concatenate([beta, [-1.0]]), axis=1)
        left = np.maximum(data.counts - size / channels, 1.0)
        noise = np.maximum(misfit / np.sqrt(left), 1e-12 * np.abs(data.factors[:, :, size]).max() + 1e-300)
    inverse = np.linalg.pinv(triangle, rcond=1e-15)
    covariance = (inverse @ inverse.T) / scale / scale[:, None]
    return Fit(beta, covariance, noise, triangle * scale, side)
