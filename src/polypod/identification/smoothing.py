"""Coordinates without their noise, with exact rates and accelerations: least-squares splines along a log.

A quintic spline on even knots, fitted by least squares, is a projection: a low-pass filter without phase whose
derivatives are exact. The distance of its knots is chosen by generalised cross-validation: the finest detail that is
above the noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_lsq_spline
from scipy.sparse import csr_array

from ..arrays import Array
from ..errors import InputError
from .logs import Log

DEGREE = 5
SPACINGS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Samples between two knots that are tried."""
TRIED = 8192
"""The spacing is chosen on a stretch of at most so many samples."""
FEWEST = 30
"""A stretch with fewer samples is not used."""


class Curve(NamedTuple):
    """The spline of a stretch of a log, with the stretch's samples and those of them that are used.

    ``values`` (n, K) of its basis functions at the samples and their products ``gram`` N^T N, as lower bands (6, K).
    """

    stretch: slice
    inner: slice
    spline: BSpline
    values: csr_array
    gram: Array

    def basis(self, time: Array) -> tuple[NDArray[np.int64], Array]:
        """The first (n,) of the six basis functions that are not zero at times (n,), and these (n, 3, 6).

        Values, first and second derivatives, by B'_j,k = k B_j,k-1/(t_j+k - t_j) - k B_j+1,k-1/(t_j+k+1 - t_j+1).
        """
        knots, count = self.spline.t, len(self.spline.c)
        if not len(time):
            return np.zeros(0, dtype=np.int64), np.zeros((0, 3, DEGREE + 1))
        time = np.minimum(time, np.nextafter(knots[-1], -np.inf))  # the last interval holds the last sample
        first = np.clip(np.searchsorted(knots, time, side="right") - 1, DEGREE, count - 1) - DEGREE
        found = np.zeros((len(time), 3, DEGREE + 1))
        for order in range(3):
            degree = DEGREE - order
            values = BSpline.design_matrix(time, knots, degree).data.reshape(len(time), degree + 1)
            for k in range(degree + 1, DEGREE + 1):
                left = first[:, None] + DEGREE - k + 1 + np.arange(k)
                slope = np.pad(k * values / (knots[left + k] - knots[left]), ((0, 0), (1, 1)))
                values = slope[:, :-1] - slope[:, 1:]
            found[:, order] = values
        return first, found


class Smooth(NamedTuple):
    """q, qdot, qddot (n, a) along a log, ``rows`` (n,) of the log's samples they are at, ``curves`` they lie on.

    ``noise`` (a,) is that of the coordinates; ``left`` (3,) is what part of it is left in q, qdot [1/s] and qddot
    [1/s^2]; ``spacing`` [s] is that of the knots, ``samples`` that in samples.
    """

    rows: NDArray[np.int64]
    q: Array
    qdot: Array
    qddot: Array
    noise: Array
    left: Array
    spacing: float
    samples: int
    curves: tuple[Curve, ...]

    @property
    def rate_noise(self) -> Array:
        """What is left of the noise in the rates (a,)."""
        return np.asarray(self.noise * self.left[1])

    def on(self, curves: tuple[Curve, ...], time: Array) -> Smooth:
        """The same on other curves with the same knots; ``time`` (n,) is that of the rows."""
        q, qdot, qddot = _along(curves, time)
        return self._replace(curves=curves, q=q, qdot=qdot, qddot=qddot)


def _along(curves: tuple[Curve, ...], time: Array) -> tuple[Array, Array, Array]:
    values: tuple[list[Array], list[Array], list[Array]] = ([], [], [])
    start = 0
    for curve in curves:
        t = time[start : start + curve.inner.stop - curve.inner.start]
        start += len(t)
        for order, part in enumerate(values):
            part.append(curve.spline(t, nu=order))
    return np.concatenate(values[0]), np.concatenate(values[1]), np.concatenate(values[2])


def smoothed(log: Log, spacing: float | None = None) -> Smooth:
    """Splines along every stretch of a log; ``spacing`` [s] of knots if it is known."""
    stretches = [s for s in log.stretches if s.stop - s.start >= FEWEST]
    if not stretches:
        raise InputError(f"log: {log.name}: no segment without gap or jump has {FEWEST} samples")
    usual = float(np.median(np.diff(log.time)))
    if spacing is None:
        longest = max(stretches, key=lambda s: s.stop - s.start)
        samples = _best(log.time[longest], log.q[longest])
    else:
        samples = max(SPACINGS[0], round(spacing / usual))
    curves = []
    squares, dof = np.zeros(log.q.shape[1]), 0
    for stretch in stretches:
        t, q = log.time[stretch], log.q[stretch]
        spline = _fitted(t, q, min(samples, max(SPACINGS[0], len(t) // 8)))
        squares += ((q - spline(t)) ** 2).sum(axis=0)
        dof += len(t) - len(spline.c)
        # the outermost two knots have little to hold their second derivatives
        trim = 2 * samples if len(t) > 8 * samples else samples
        inner = slice(stretch.start + trim, max(stretch.stop - trim, stretch.start + trim))  # empty of a short one
        curves.append(_curve(stretch, inner, spline, t))
    noise = np.sqrt(squares / max(dof, 1))
    rows = np.concatenate([np.arange(c.inner.start, c.inner.stop) for c in curves])
    if not len(rows):
        longest_time = max(log.time[s.stop - 1] - log.time[s.start] for s in stretches)
        raise InputError(
            f"log: {log.name}: its stretches without gap or jump last {longest_time:.4g} s at most, too short for "
            f"splines with a knot every {samples * usual:.4g} s. Record without gaps, with the times at which samples "
            "were really taken"
        )
    found = tuple(curves)
    left = _left(max(found, key=lambda c: len(c.spline.c)), log.time)
    q, qdot, qddot = _along(found, log.time[rows])
    return Smooth(rows, q, qdot, qddot, noise, left, samples * usual, samples, found)


def _curve(stretch: slice, inner: slice, spline: BSpline, time: Array) -> Curve:
    count = len(spline.c)
    values = csr_array(BSpline.design_matrix(time, spline.t, DEGREE))
    first, each = values.indices[:: DEGREE + 1], values.data.reshape(-1, DEGREE + 1)
    gram = np.zeros((DEGREE + 1, count))
    for d in range(DEGREE + 1):
        for k in range(DEGREE + 1 - d):
            gram[d] += np.bincount(first + k, each[:, k] * each[:, k + d], count)
    return Curve(stretch, inner, spline, values, gram)


def _left(curve: Curve, time: Array) -> Array:
    """sqrt(b_i (N^T N)^-1 b_i^T) (3,) of the rows b_i of values and derivatives, in the middle of a stretch."""
    from scipy.linalg import solveh_banded

    size = curve.stretch.stop - curve.stretch.start
    some = curve.stretch.start + np.unique(np.linspace(3 * size // 8, size // 2, 16).astype(int))
    first, basis = curve.basis(time[some])
    rows = np.zeros((len(curve.spline.c), len(some), 3))
    for k in range(DEGREE + 1):
        rows[first + k, np.arange(len(some))] = basis[:, :, k]
    flat = rows.reshape(len(rows), -1)
    square = (flat * solveh_banded(curve.gram, flat, lower=True)).sum(axis=0).reshape(len(some), 3)
    return np.asarray(np.sqrt(square.mean(axis=0)))


def _fitted(t: Array, q: Array, samples: int) -> BSpline:
    count = max(2, round((len(t) - 1) / samples))
    inner = np.linspace(t[0], t[-1], count + 1)[1:-1]
    knots = np.concatenate([np.full(DEGREE + 1, t[0]), inner, np.full(DEGREE + 1, t[-1])])
    return make_lsq_spline(t, q, knots, k=DEGREE, method="norm-eq")


def _best(t: Array, q: Array) -> int:
    """Samples between knots with the least score n RSS/(n - k)^2 of all coordinates together.

    The next finer one is taken: derivatives need more detail than positions.
    """
    t, q = t[:TRIED], q[:TRIED]
    scale = np.ptp(q, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    scores: list[float] = []
    tried: list[int] = []
    for samples in SPACINGS:
        if len(t) < 8 * samples and tried:
            break
        try:
            spline = _fitted(t, q, samples)
        except (np.linalg.LinAlgError, ValueError):
            continue
        rss = (((q - spline(t)) / scale) ** 2).sum(axis=0)
        # channels that do not move have nothing to say about detail
        scores.append(float(np.log(np.maximum(len(t) * rss / (len(t) - len(spline.c)) ** 2, 1e-32)).sum()))
        tried.append(samples)
    if not tried:
        raise InputError("log: no spline fits these times; samples must be more evenly spaced")
    best = int(np.argmin(scores))
    return tried[max(best - 1, 0)]
