"""Weighted least squares of base parameters, together with the splines of coordinates where their noise counts.

Sought are beta and steps dc of the splines' coefficients with the least
|y - Y beta - G dc|^2/sigma_f^2 + |q - N (c + dc)|^2/sigma_q^2: errors in coordinates then neither pull beta towards
zero nor are missing in its intervals. dc is eliminated (its matrix is banded); what is left is a triangle R with
|R beta - z|^2, all that a log says about beta. Noise of every channel is that of its residuals by the degrees of
freedom that are left in them (restricted maximum likelihood).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..arrays import Array
from ..friction import has_dry_friction
from .base import BaseParameters
from .linear_model import LinearModel, MotionRows
from .prepared import Prepared
from .sampling import displaced, evenly_spaced
from .smoothing import Smooth

PROBES = 8
"""Random vectors that measure how many degrees of freedom a channel has left."""
SAME = 0.02
"""Noise that changes by less than this part is known well enough to weigh by."""


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


def weighted_least_squares(
    parts: list[Rows],
    coordinates: list[Array],
    widening: Array | None = None,
    noise: Array | None = None,
    dof: float | None = None,
) -> Fit:
    """beta by data alone, noise found from residuals; ``coordinates`` (a,) of each log is the noise to start from.

    ``widening`` (a,) is how much longer than white noise of its size a channel's noise acts (its correlation time in
    samples): it widens the intervals. ``dof`` says that forces of all channels were projected on the motions of
    the robot, which leaves so many of their noises: then all have the same noise. ``noise`` (a,) is a start for it.
    """
    channels, size = parts[0].side.shape[1], parts[0].columns.shape[2]
    widening = np.ones(channels) if widening is None else widening
    scale = np.sqrt(sum((part.columns**2).sum(axis=(0, 1)) for part in parts))
    scale = np.where(scale > 0, scale, 1.0)
    least = 1e-12 * max(float(np.abs(part.side).max(initial=0.0)) for part in parts) + 1e-300
    rows = sum(part.used.sum(axis=0) for part in parts)
    iterations = 4 if noise is None else 2
    noise, own = np.ones(channels) if noise is None else noise, list(coordinates)
    for _ in range(iterations):
        weight = 1.0 / (noise * np.sqrt(widening))
        whole = [weighted_rows(part, weight, sigma) for part, sigma in zip(parts, own, strict=True)]
        stacked = np.concatenate([np.column_stack([one.triangle / scale, one.target]) for one in whole])
        factor: Array = np.asarray(np.linalg.qr(stacked, mode="r"))
        triangle, side = factor[:size, :size], factor[:size, size]
        inverse = np.linalg.pinv(triangle, rcond=1e-15)
        beta = inverse @ side / scale
        fixed = _fixed(parts, whole, inverse / scale[:, None])
        square = np.zeros(channels)
        for k, (part, one) in enumerate(zip(parts, whole, strict=True)):
            left = one.side - one.columns @ beta
            if one.eliminated is not None:
                step = one.eliminated.step(beta)
                left = left - one.eliminated.changed(step[:, None])[:, 0]
                own[k] = _coordinate_noise(part, step, own[k], float(fixed[k].sum()), size / len(parts))
            square += ((left.reshape(-1, channels) / weight) ** 2).sum(axis=0)
        if dof is not None:
            rest = max(rows.sum() * dof / channels - float(sum(f.sum() for f in fixed)), 1.0)
            found = np.full(channels, max(float(np.sqrt(square.sum() / rest)), least))
        else:
            found = np.maximum(np.sqrt(square / np.maximum(rows - sum(fixed), 1.0)), least)
        same, noise = np.allclose(found, noise, rtol=SAME, atol=0.0), found
        if same:
            break
    covariance = (inverse @ inverse.T) / scale / scale[:, None]
    steps = [None if one.eliminated is None else one.eliminated.step(beta).reshape(-1, channels) for one in whole]
    sought = [None if step is None else sigma for step, sigma in zip(steps, own, strict=True)]
    return Fit(beta, covariance, noise, triangle * scale, side, steps, sought)


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


def _fixed(parts: list[Rows], whole: list[Weighted], inverse: Array) -> list[Array]:
    """Degrees of freedom of each log's channels (a,) that the fit takes: traces of its hat matrix, by random signs."""
    draw = np.random.default_rng(0)
    signs, inner, own = [], [], []
    total = np.zeros((inverse.shape[0], PROBES))
    for part, one in zip(parts, whole, strict=True):
        sign = draw.choice([-1.0, 1.0], (len(one.side), PROBES)) * part.used.reshape(-1, 1)
        still = None
        side = one.columns.T @ sign
        if one.eliminated is not None:
            still = np.asarray(cho_solve_banded((one.eliminated.factor, True), one.eliminated.gathered(sign)))
            side = side - one.eliminated.cross.T @ still
        total += side
        signs.append(sign)
        inner.append(still)
    beta = inverse @ (inverse.T @ total)
    for part, one, sign, still in zip(parts, whole, signs, inner, strict=True):
        met = one.columns @ beta
        if one.eliminated is not None and still is not None:
            met = met + one.eliminated.changed(still - one.eliminated.moves[:, :-1] @ beta)
        own.append((sign * met).reshape(-1, part.side.shape[1], PROBES).sum(axis=0).mean(axis=1))
    return own


# ----------------------------------------------------------------------------------------------------------------------
# What a log says, as rows of one linear problem in base parameters and in the errors of its coordinates.
#
# Coordinates are measured with noise, so that a row y = Y(q) beta has an error in Y too: where it counts, the splines'
# coefficients c are unknowns beside beta. With q, qdot, qddot = N c, N' c, N'' c, forces bend by G dc,
# G = df/dq N + df/dqdot N' + df/dqddot N'', and the coordinates themselves are measured: q = N c. Samples are
# averaged in
# blocks much shorter than the distance of knots, forces and columns alike, which changes nothing but their number.

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
    linear: LinearModel,
    base: BaseParameters,
    run: Prepared,
    good: Good,
    p: Array,
    noise: Array | None = None,
    further: Iterable[Array] = (),
) -> Rows:
    """The rows of a log at numbers p (k,); ``noise`` (a,) of forces decides whether coordinates are sought.

    ``further`` are columns (n, a) of other unknowns, which come first.

    Where it is not known yet, some samples have to do. Where friction depends on reactions forces bend with the
    numbers: then y is what the straight line through p leaves, y - f(p) + Y_I beta(p). Of blocks whose columns are
    smooth in time (all samples good, no dry friction) three samples give the sum of all.
    """
    if noise is None:
        some = evenly_spaced(run.motion, FEW)
        columns, side, use = _samples(linear, base, run, good, p, some)
        more = [np.where(use, _finite(one[some]), 0.0)[..., None] for one in further]
        return Rows(np.concatenate([*more, columns], axis=2), side, use.astype(np.int64), None)
    seek = _shows(linear, run, p, noise)
    starts, length = _blocks(run.smooth, seek)
    shape = (len(starts), run.force.shape[1])
    columns, side, counts = np.zeros((*shape, base.count)), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    every = np.arange(length)
    smooth: Good = np.asarray(np.asarray(good.all(axis=1))[starts[:, None] + every].all(axis=1))
    if has_dry_friction(linear.mechanism) or not LEAST <= length <= run.smooth.samples // 4:
        smooth[:] = False
    nodes, shares = _nodes(length)
    for chosen, offsets in ((np.flatnonzero(smooth), nodes), (np.flatnonzero(~smooth), every)):
        step = max(STATES // len(offsets), 1)
        for part in (chosen[k : k + step] for k in range(0, len(chosen), step)):
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
    blocks = starts[:, None] + every
    more = [(np.where(good, _finite(one), 0.0)[blocks].sum(axis=1) * (counts > 0))[..., None] for one in further]
    if more:
        columns = np.concatenate([*more, columns], axis=2)
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


# ----------------------------------------------------------------------------------------------------------------------
# Rows of a log with its splines eliminated: a banded matrix of their coefficients, and a triangle about beta.

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
        """The transpose of ``changed``: rows (B a, p) to coefficients (K a, p)."""
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
