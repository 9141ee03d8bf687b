"""Weighted least squares of base parameters, together with the splines of coordinates where their noise counts.

Sought are beta and steps dc of the splines' coefficients with the least
|y - Y beta - G dc|^2/sigma_f^2 + |q - N (c + dc)|^2/sigma_q^2: errors in coordinates then neither pull beta towards
zero nor are missing in its intervals. dc is eliminated (its matrix is banded); what is left is a triangle R with
|R beta - z|^2, all that a log says about beta. Noise of every channel is that of its residuals by the freedoms that are
left in them (restricted maximum likelihood).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from .rows import Rows, Splines

Array = NDArray[np.float64]
PROBES = 8
"""Random vectors that measure how many freedoms a channel has left."""
FLOOR = 1e-14
"""Information about a direction below this part of the largest is rounding."""


class Fit(NamedTuple):
    """beta (r,), its covariance (r, r), the noise of every channel (a,), the triangle R (r, r) and its side z (r,).

    ||R beta - z||^2 is the weighted sum of squares but for a constant: all that data say about beta. ``steps`` (K, a)
    are those of each log's splines, ``coordinates`` (a,) the noise of its coordinates; None where they are not sought.
    """

    beta: Array
    covariance: Array
    noise: Array
    triangle: Array
    side: Array
    steps: list[Array | None]
    coordinates: list[Array | None]


@dataclass(frozen=True)
class _Weighted:
    """A log's rows by the noise of their channels, its splines eliminated.

    ``columns`` (B a, r), ``side`` (B a,), ``triangle`` (r, r) and ``target`` (r,); ``factor`` of the splines' banded
    matrix, ``cross`` (K a, r) and ``moves`` (K a, r + 1): what splines do by unit steps of beta, and with it at zero.
    """

    columns: Array
    side: Array
    triangle: Array
    target: Array
    splines: Splines | None = None
    weight: Array | None = None
    factor: Array | None = None
    cross: Array | None = None
    moves: Array | None = None

    def changed(self, steps: Array) -> Array:
        """What steps (K a, p) of the splines do to the rows (B a, p)."""
        assert self.splines is not None
        assert self.weight is not None
        blocks, a, _, _ = self.splines.slopes.shape
        place = self.splines.first[:, None] * a + np.arange(6 * a)
        slopes = (self.splines.slopes * self.weight[:, None, None]).reshape(blocks, a, 6 * a)
        return np.asarray((slopes @ steps[place]).reshape(blocks * a, -1))

    def gathered(self, rows: Array) -> Array:
        """The transpose of :meth:`changed`: rows (B a, p) to coefficients (K a, p)."""
        assert self.splines is not None
        assert self.weight is not None
        blocks, a, _, _ = self.splines.slopes.shape
        slopes = (self.splines.slopes * self.weight[:, None, None]).reshape(blocks, a, 6 * a)
        parts = np.swapaxes(slopes, 1, 2) @ rows.reshape(blocks, a, -1)
        first, starts = np.unique(self.splines.first, return_index=True)
        return _scattered(np.add.reduceat(parts, starts, axis=0), first, a, self.splines.gram.shape[1])


def _scattered(parts: Array, first: NDArray[np.int64], a: int, count: int) -> Array:
    """Sums (K a, p) of parts (I, 6 a, p) that stand at the coefficients from ``first`` (I,) on."""
    found = np.zeros((count * a, parts.shape[2]))
    for u in range(6 * a):
        found[first * a + u] += parts[:, u]
    return found


def _weighted(part: Rows, weight: Array, sigma: Array | None) -> _Weighted:
    size = part.columns.shape[2]
    columns = (part.columns * weight[:, None]).reshape(-1, size)
    side = (part.side * weight).ravel()
    if part.splines is None:
        factor: Array = np.asarray(np.linalg.qr(np.column_stack([columns, side]), mode="r"))
        factor = np.pad(factor, ((0, max(size + 1 - len(factor), 0)), (0, 0)))
        return _Weighted(columns, side, factor[:size, :size], factor[:size, size])
    assert sigma is not None
    splines = part.splines
    blocks, a = part.side.shape
    first, starts, length = np.unique(splines.first, return_index=True, return_counts=True)
    slopes = (splines.slopes * weight[:, None, None]).reshape(blocks, a, 6 * a)
    joined = np.concatenate([slopes, columns.reshape(blocks, a, size), side.reshape(blocks, a, 1)], axis=2)
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
    return _Weighted(columns, side, triangle, target, splines, weight, banded, cross[:, :size], moves)


def _triangle(information: Array, side: Array) -> tuple[Array, Array]:
    """R and z with R^T R = information and R^T z = side."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    even = information / scale / scale[:, None]
    values, vectors = np.linalg.eigh(0.5 * (even + even.T))
    values = np.maximum(values, FLOOR * values[-1])
    root = np.sqrt(values)
    return (root * vectors).T * scale, (vectors.T @ (side / scale)) / root


def weighted(
    parts: list[Rows],
    coordinates: list[Array],
    spread: Array | None = None,
    noise: Array | None = None,
    freedoms: float | None = None,
) -> Fit:
    """beta by data alone, noise found from residuals; ``coordinates`` (a,) of each log is the noise to start from.

    ``spread`` (a,) is how much longer than white noise of its size a channel's noise acts (its correlation time in
    samples): it widens the intervals. ``freedoms`` says that forces of all channels were projected on the motions of
    the robot, which leaves so many of their noises: then all have the same noise. ``noise`` (a,) is a start for it.
    """
    channels, size = parts[0].side.shape[1], parts[0].columns.shape[2]
    spread = np.ones(channels) if spread is None else spread
    scale = np.sqrt(sum((part.columns**2).sum(axis=(0, 1)) for part in parts))
    scale = np.where(scale > 0, scale, 1.0)
    least = 1e-12 * max(float(np.abs(part.side).max(initial=0.0)) for part in parts) + 1e-300
    rows = sum(part.used.sum(axis=0) for part in parts)
    rounds = 4 if noise is None else 2
    noise, own = np.ones(channels) if noise is None else noise, list(coordinates)
    for _ in range(rounds):
        weight = 1.0 / (noise * np.sqrt(spread))
        whole = [_weighted(part, weight, sigma) for part, sigma in zip(parts, own, strict=True)]
        stacked = np.concatenate([np.column_stack([one.triangle / scale, one.target]) for one in whole])
        factor: Array = np.asarray(np.linalg.qr(stacked, mode="r"))
        triangle, side = factor[:size, :size], factor[:size, size]
        inverse = np.linalg.pinv(triangle, rcond=1e-15)
        beta = inverse @ side / scale
        fixed = _fixed(parts, whole, inverse / scale[:, None])
        square = np.zeros(channels)
        for k, (part, one) in enumerate(zip(parts, whole, strict=True)):
            left = one.side - one.columns @ beta
            if one.moves is not None:
                step = one.moves[:, size] - one.moves[:, :size] @ beta
                left = left - one.changed(step[:, None])[:, 0]
                own[k] = _coordinate_noise(part, step, own[k], float(fixed[k].sum()), size / len(parts))
            square += ((left.reshape(-1, channels) / weight) ** 2).sum(axis=0)
        if freedoms is not None:
            rest = max(rows.sum() * freedoms / channels - float(sum(f.sum() for f in fixed)), 1.0)
            noise = np.full(channels, max(float(np.sqrt(square.sum() / rest)), least))
        else:
            noise = np.maximum(np.sqrt(square / np.maximum(rows - sum(fixed), 1.0)), least)
    covariance = (inverse @ inverse.T) / scale / scale[:, None]
    steps = [None if one.moves is None else (one.moves[:, size] - one.moves[:, :size] @ beta).reshape(-1, channels)
             for one in whole]  # fmt: skip
    found = [None if step is None else sigma for step, sigma in zip(steps, own, strict=True)]
    return Fit(beta, covariance, noise, triangle * scale, side, steps, found)


def _coordinate_noise(part: Rows, step: Array, sigma: Array, fixed: float, own: float) -> Array:
    """Noise (a,) of coordinates: residuals by the samples that splines, beta and forces leave free."""
    splines = part.splines
    assert splines is not None
    moved = step.reshape(splines.pull.shape)
    bend = np.zeros_like(moved)
    for d, row in enumerate(splines.gram):
        bend[: len(moved) - d] += row[: len(moved) - d, None] * moved[d:]
        if d:
            bend[d:] += row[: len(moved) - d, None] * moved[: len(moved) - d]
    square = splines.square - 2 * (moved * splines.pull).sum(axis=0) + (moved * bend).sum(axis=0)
    free = splines.samples - (moved.size + own - fixed) / len(sigma)
    return np.sqrt(np.maximum(square, 0.0) / max(free, 0.1 * splines.samples)) + 1e-300


def _fixed(parts: list[Rows], whole: list[_Weighted], inverse: Array) -> list[Array]:
    """Freedoms of each log's channels (a,) that the fit takes: traces of its hat matrix, by random signs."""
    draw = np.random.default_rng(0)
    signs, inner, own = [], [], []
    total = np.zeros((inverse.shape[0], PROBES))
    for part, one in zip(parts, whole, strict=True):
        sign = draw.choice([-1.0, 1.0], (len(one.side), PROBES)) * part.used.reshape(-1, 1)
        still = None
        side = one.columns.T @ sign
        if one.moves is not None:
            assert one.factor is not None
            assert one.cross is not None
            still = cho_solve_banded((one.factor, True), one.gathered(sign))
            side = side - one.cross.T @ still
        total += side
        signs.append(sign)
        inner.append(still)
    beta = inverse @ (inverse.T @ total)
    for part, one, sign, still in zip(parts, whole, signs, inner, strict=True):
        met = one.columns @ beta
        if one.moves is not None and still is not None:
            met = met + one.changed(still - one.moves[:, :-1] @ beta)
        own.append((sign * met).reshape(-1, part.side.shape[1], PROBES).sum(axis=0).mean(axis=1))
    return own
