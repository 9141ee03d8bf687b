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

from ..arrays import Array
from ..friction import has_dry_friction
from .base import BaseParameters
from .linear_model import LinearModel, MotionRows
from .overdetermined import displaced
from .prepared import Prepared
from .sampling import evenly_spaced
from .smoothing import Smooth

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
LEAST = 9
"""Blocks of fewer samples are summed sample by sample."""
PARTS = 1024
"""Rows at once whose derivatives by coordinates are taken."""


@dataclass(frozen=True)
class Splines:
    """The coefficients (K, a) of a log's splines as unknowns.

    ``derivatives`` (B, a, 6, a) of forces by six coefficients of every coordinate, the first of them ``first`` (B,);
    ``gram`` N^T N as lower bands (6, K); ``pull`` N^T (q - N c) (K, a); ``square`` |q - N c|^2 (a,) of ``samples``.
    """

    derivatives: Array
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
    numbers: then y is what the straight line through p leaves, y - f(p) + Y_I beta(p). Of blocks whose columns are
    smooth in time (all samples good, no dry friction) three samples give the sum of all.
    """
    if noise is None:
        some = evenly_spaced(run.motion, FEW)
        columns, side, use = _samples(linear, base, run, good, p, some)
        return Rows(columns, side, use.astype(np.int64), None)
    seek = _shows(linear, run, p, noise)
    starts, length = _blocks(run.smooth, seek)
    shape = (len(starts), run.force.shape[1])
    columns, side, counts = np.zeros((*shape, base.count)), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    every = np.arange(length)
    smooth: Good = np.asarray(np.asarray(good.all(axis=1))[starts[:, None] + every].all(axis=1))
    if has_dry_friction(linear.mechanism) or not LEAST <= length <= run.smooth.samples // 4:
        smooth[:] = False
    nodes, shares = _nodes(length)
    for blocks, offsets in ((np.flatnonzero(smooth), nodes), (np.flatnonzero(~smooth), every)):
        step = max(STATES // len(offsets), 1)
        for part in (blocks[k : k + step] for k in range(0, len(blocks), step)):
            found, y, use = _samples(linear, base, run, good, p, (starts[part, None] + offsets).ravel())
            split = (len(part), len(offsets))
            found, y, use = found.reshape(*split, *shape[1:], -1), y.reshape(*split, -1), use.reshape(*split, -1)
            if offsets is every:
                counts[part], columns[part], side[part] = use.sum(axis=1), found.sum(axis=1), y.sum(axis=1)
            else:
                sound: Good = np.asarray(use.all(axis=1))
                counts[part] = np.where(sound, length, 0)
                columns[part] = np.einsum("bkar,k->bar", found, shares)
                side[part] = np.where(sound, run.force[starts[part, None] + every].sum(axis=1), 0.0)
                if not sound.all():
                    columns[part] *= sound[..., None]
    root = np.sqrt(np.maximum(counts, 1))
    side /= root
    columns /= root[..., None]
    return Rows(columns, side, counts, _splines(linear, run, p, starts + length // 2, counts) if seek else None)


def _nodes(length: int) -> tuple[NDArray[np.int64], Array]:
    """Three samples of a block of odd length and their shares, whose sum is that over all of a cubic in time.

    The middle and those next to +-m, m^2 = sum t^4/sum t^2, which would be exact for a quintic too: Gauss's rule.
    """
    middle = length // 2
    t = np.arange(1.0, middle + 1)
    out = int(np.clip(np.round(np.sqrt((t**4).sum() / max((t**2).sum(), 1.0))), 1, max(middle, 1)))
    share = float((t**2).sum()) / out**2
    return middle + np.array([-out, 0, out]), np.array([share, length - 2 * share, share])


def _samples(
    linear: LinearModel, base: BaseParameters, run: Prepared, good: Good, p: Array, states: NDArray[np.int64]
) -> tuple[Array, Array, Good]:
    """Columns (n, a, r) and sides (n, a) of samples, 0 where they are not to be used; marks (n, a) of those used."""
    part = run.motion[states]
    columns, y = linear.derivatives(part, p, base.independent), run.force[states]
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
    return bool(((coordinate_noise(linear, run, p) / noise) ** 2 * np.sqrt(len(run.motion)) > PULL).any())


def coordinate_noise(linear: LinearModel, run: Prepared, p: Array) -> Array:
    """What splines leave of the coordinates' noise, in forces (a,) of numbers p (k,)."""
    rows = np.unique(np.linspace(0, len(run.motion) - 1, 64).astype(np.int64))
    derivatives = coordinate_jacobian(linear, run, p, rows)
    each = derivatives * run.smooth.left[:, None] * run.smooth.noise
    return np.asarray(np.sqrt(np.median((each**2).sum(axis=(2, 3)), axis=0)))


def coordinate_jacobian(linear: LinearModel, run: Prepared, p: Array, rows: NDArray[np.int64]) -> Array:
    """Derivatives of forces (n, a, 3, a) by q, qdot and qddot at rows of a log, by central differences.

    A pose moves by the twist J^-1 dq; rates and accelerations keep their values meanwhile. 0 where there is none.
    """
    some = evenly_spaced(run.motion, FEW)
    steps = [np.maximum(1e-6 * np.ptp(x[some], axis=0), 1e-9) for x in run.smooth[1:4]]
    found = np.concatenate([_differences(linear, run, p, rows[k : k + PARTS], steps)
                            for k in range(0, len(rows), PARTS)])  # fmt: skip
    # a step over a turn of dry friction is no slope
    size = np.median(np.abs(found[:: max(len(found) // FEW, 1)]), axis=0)
    return np.where(np.abs(found) <= 100 * size.max(axis=-1, keepdims=True), found, 0.0)


def _differences(linear: LinearModel, run: Prepared, p: Array, rows: NDArray[np.int64], steps: list[Array]) -> Array:
    """Differences (n, a, 3, a) of forces by steps (a,) of q, qdot and qddot: all coordinates and both ways at once."""
    model, motion, smooth = linear.model, run.motion[rows], run.smooth
    rates, bends = smooth.qdot[rows], smooth.qddot[rows]
    n, a = rates.shape
    pose, twist, acceleration = (np.tile(x, (a, *(1,) * (x.ndim - 1))) for x in motion.arrays)
    way = model.twist(pose, np.repeat(np.eye(a), n, axis=0), errors="nan")
    pose, twist, acceleration = (np.tile(x, (2, *(1,) * (x.ndim - 1))) for x in (pose, twist, acceleration))
    rates, bends = np.tile(rates, (2 * a, 1)), np.tile(bends, (2 * a, 1))
    by = [(np.repeat(h, n)[:, None] * way * [[[1.0]], [[-1.0]]]).reshape(-1, 6) for h in steps]
    moved = displaced(pose, by[0])
    there = _finite(model.twist(moved, rates, errors="nan"))
    faster = _finite(twist + by[1])
    sides = (
        MotionRows(moved, there, _finite(model.acceleration(moved, there, bends, errors="nan"))),
        MotionRows(pose, faster, _finite(model.acceleration(pose, faster, bends, errors="nan"))),
        MotionRows(pose, twist, _finite(acceleration + by[2])),
    )
    found = np.empty((n, a, 3, a))
    for order, side in enumerate(sides):
        force = linear.forces(side, p).reshape(2, a, n, a)
        found[:, :, order] = np.moveaxis((force[0] - force[1]) / (2 * steps[order][:, None, None]), 0, 2)
    return _finite(found)


def _finite(values: Array) -> Array:
    """Values with 0 in place of what is not finite."""
    return values if np.isfinite(values).all() else np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


def _splines(
    linear: LinearModel, run: Prepared, p: Array, rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> Splines:
    smooth, log = run.smooth, run.log
    derivatives = coordinate_jacobian(linear, run, p, rows)
    sought = smooth.rows[rows]
    firsts, bases, start = [], [], 0
    for curve in smooth.curves:
        inside = sought[(sought >= curve.inner.start) & (sought < curve.inner.stop)]
        first, basis = curve.basis(log.time[inside])
        firsts.append(start + first)
        bases.append(basis)
        start += len(curve.spline.c)
    pull, square, samples = pulls(run)
    whole = np.einsum("bkoc,boj->bkjc", derivatives, np.concatenate(bases)) * np.sqrt(counts)[:, :, None, None]
    gram = np.concatenate([curve.gram for curve in smooth.curves], axis=1)
    return Splines(whole, np.concatenate(firsts), gram, pull, square, samples)


def pulls(run: Prepared) -> tuple[Array, Array, int]:
    """N^T (q - N c) (K, a), |q - N c|^2 (a,) and the number of samples of a log on its splines."""
    found, square, samples = [], np.zeros(run.log.q.shape[1]), 0
    for curve in run.smooth.curves:
        off = run.log.q[curve.stretch] - curve.spline(run.log.time[curve.stretch])
        found.append(curve.values.T @ off)
        square += np.einsum("na,na->a", off, off)
        samples += len(off)
    return np.concatenate(found), square, samples
