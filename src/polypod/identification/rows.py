"""What a log says, as rows of one linear problem in base parameters and in the errors of its coordinates.

Coordinates are measured with noise, so that a row y = Y(q) beta has an error in Y too: where it counts, the splines'
coefficients c are unknowns beside beta. With q, qdot, qddot = N c, N' c, N'' c, forces bend by G dc,
G = df/dq N + df/dqdot N' + df/dqddot N'', and the coordinates themselves are measured: q = N c. Samples are averaged in
blocks much shorter than the distance of knots, forces and columns alike, which changes nothing but their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .base import BaseParameters
from .numbers import LinearModel, Motion
from .overdetermined import displaced
from .prepared import Prepared
from .smoothing import Smooth
from .suspects import motion_rows

Array = NDArray[np.float64]
Good = NDArray[np.bool_]
PULL = 0.1
"""Noise of coordinates that shows in forces by a part s of their own noise in n samples pulls base parameters by up to
about s^2 sqrt(n)/2 of their standard uncertainty: below this it is left out."""
MOST = 16384
"""Blocks of a log whose coordinates are not sought."""
FEW = 1000
"""Samples that have to do while noise is not known."""
STATES = 4096
"""States at once: their rows stay in the cache of a core."""


@dataclass(frozen=True)
class Splines:
    """The coefficients (K, a) of a log's splines as unknowns.

    ``slopes`` (B, a, 6, a) of forces by six coefficients of every coordinate, the first of them ``first`` (B,);
    ``gram`` N^T N as lower bands (6, K); ``pull`` N^T (q - N c) (K, a); ``square`` |q - N c|^2 (a,) of ``samples``.
    """

    slopes: Array
    first: NDArray[np.int64]
    gram: Array
    pull: Array
    square: Array
    samples: int


@dataclass(frozen=True)
class Rows:
    """Blocks of a log: ``columns`` (B, a, r) and ``side`` (B, a), of ``counts`` (B, a) samples; splines if sought.

    A row is the sum over the good samples of a block by the root of their number: its noise is that of a sample.
    """

    columns: Array
    side: Array
    counts: NDArray[np.int64]
    splines: Splines | None

    @property
    def used(self) -> Good:
        """Rows (B, a) that have samples."""
        return np.asarray(self.counts > 0)


def rows_of(
    linear: LinearModel, base: BaseParameters, run: Prepared, good: Good, p: Array, noise: Array | None = None
) -> Rows:
    """The rows of a log at numbers p (k,); ``noise`` (a,) of forces decides whether coordinates are sought.

    Where it is not known yet, some samples have to do. Where friction depends on reactions forces bend with the
    numbers: then y is what the straight line through p leaves, y - f(p) + Y_I beta(p).
    """
    if noise is None:
        some = motion_rows(run.motion, FEW)
        columns, side, use = _samples(linear, base, run, good, p, some)
        return Rows(columns, side, use.astype(np.int64), None)
    seek = _shows(linear, run, p, noise)
    starts, length = _blocks(run.smooth, seek)
    shape = (len(starts), run.force.shape[1])
    columns, side, counts = np.zeros((*shape, base.count)), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    step = max(STATES // length, 1)
    for low in range(0, len(starts), step):
        part = slice(low, min(low + step, len(starts)))
        states = (starts[part, None] + np.arange(length)).ravel()
        found, y, use = _samples(linear, base, run, good, p, states)
        split = (part.stop - low, length)
        counts[part] = use.reshape(*split, -1).sum(axis=1)
        root = np.sqrt(np.maximum(counts[part], 1))
        columns[part] = found.reshape(*split, *found.shape[1:]).sum(axis=1) / root[..., None]
        side[part] = y.reshape(*split, -1).sum(axis=1) / root
    return Rows(columns, side, counts, _splines(linear, run, p, starts + length // 2, counts) if seek else None)


def _samples(
    linear: LinearModel, base: BaseParameters, run: Prepared, good: Good, p: Array, states: NDArray[np.int64]
) -> tuple[Array, Array, Good]:
    """Columns (n, a, r) and sides (n, a) of samples, 0 where they are not to be used; marks (n, a) of those used."""
    part = run.motion[states]
    columns, y = linear.slopes(part, p, base.independent), run.force[states]
    if linear.loaded:
        y = y - linear.forces(part, p) + columns @ base.values(p)
    # a state without an answer has none in any column
    use = good[states] & np.isfinite(columns[:, :, 0]) & np.isfinite(columns[:, :, -1]) & np.isfinite(y)
    if not use.all():
        columns, y = np.where(use[..., None], columns, 0.0), np.where(use, y, 0.0)
    return columns, y, use


def _blocks(smooth: Smooth, seek: bool) -> tuple[NDArray[np.int64], int]:
    """First rows of the blocks, each within one curve, and their length: a quarter of the distance of knots, odd."""
    length = max(smooth.samples // 4, 1)
    if not seek:
        length = max(length, -(-len(smooth.rows) // MOST))
    inner = [curve.inner.stop - curve.inner.start for curve in smooth.curves]
    length = min(length, max(min(inner), 1))
    length -= (length + 1) % 2
    ends = np.cumsum(inner)
    return np.concatenate([np.arange(e - n, e - length + 1, length) for e, n in zip(ends, inner, strict=True)]), length


def _shows(linear: LinearModel, run: Prepared, p: Array, noise: Array) -> bool:
    """Whether what splines leave of the coordinates' noise shows in forces."""
    rows = np.unique(np.linspace(0, len(run.motion) - 1, 64).astype(np.int64))
    slopes = coordinate_slopes(linear, run, p, rows)
    each = slopes * run.smooth.left[:, None] * run.smooth.noise
    size = np.sqrt(np.median((each**2).sum(axis=(2, 3)), axis=0))
    return bool(((size / noise) ** 2 * np.sqrt(len(run.motion)) > PULL).any())


def coordinate_slopes(linear: LinearModel, run: Prepared, p: Array, rows: NDArray[np.int64]) -> Array:
    """Slopes of forces (n, a, 3, a) by q, qdot and qddot at rows of a log, by central differences.

    A pose moves by the twist J^-1 dq; rates and accelerations keep their values meanwhile. 0 where there is none.
    """
    model, motion, smooth = linear.model, run.motion[rows], run.smooth
    rates, bends = smooth.qdot[rows], smooth.qddot[rows]
    n, a = rates.shape
    steps = [np.maximum(1e-6 * np.ptp(x, axis=0), 1e-9) for x in (smooth.q, smooth.qdot, smooth.qddot)]
    found = np.zeros((n, a, 3, a))
    for c in range(a):
        unit = np.zeros((n, a))
        unit[:, c] = 1.0
        way = model.twist(motion.pose, unit, errors="nan")
        sides = []
        for sign in (1.0, -1.0):
            pose = displaced(motion.pose, sign * steps[0][c] * way)
            twist = model.twist(pose, rates, errors="nan")
            here = [Motion(pose, twist, model.acceleration(pose, np.nan_to_num(twist), bends, errors="nan"))]
            twist = motion.twist + sign * steps[1][c] * way
            here.append(Motion(motion.pose, twist, model.acceleration(motion.pose, twist, bends, errors="nan")))
            here.append(Motion(motion.pose, motion.twist, motion.acceleration + sign * steps[2][c] * way))
            sides.append([linear.forces(_finite(m), p) for m in here])
        for order in range(3):
            found[:, :, order, c] = (sides[0][order] - sides[1][order]) / (2 * steps[order][c])
    # a step over a turn of dry friction is no slope
    size = np.median(np.abs(found), axis=0)
    return np.where(np.isfinite(found) & (np.abs(found) <= 100 * size.max(axis=-1, keepdims=True)), found, 0.0)


def _finite(motion: Motion) -> Motion:
    return Motion(*(np.ascontiguousarray(np.nan_to_num(x)) for x in motion.arrays))


def _splines(
    linear: LinearModel, run: Prepared, p: Array, rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> Splines:
    smooth, log = run.smooth, run.log
    slopes = coordinate_slopes(linear, run, p, rows)
    sought = smooth.rows[rows]
    firsts, bases, pulls, start = [], [], [], 0
    square, samples = np.zeros(log.q.shape[1]), 0
    for curve in smooth.curves:
        inside = sought[(sought >= curve.inner.start) & (sought < curve.inner.stop)]
        first, basis = curve.basis(log.time[inside])
        firsts.append(start + first)
        bases.append(basis)
        off = log.q[curve.stretch] - curve.spline(log.time[curve.stretch])
        pulls.append(curve.values.T @ off)
        square += (off**2).sum(axis=0)
        samples += len(off)
        start += len(curve.spline.c)
    basis = np.concatenate(bases)
    whole = np.einsum("bkoc,boj->bkjc", slopes, basis) * np.sqrt(counts)[:, :, None, None]
    gram = np.concatenate([curve.gram for curve in smooth.curves], axis=1)
    return Splines(whole, np.concatenate(firsts), gram, np.concatenate(pulls), square, samples)
