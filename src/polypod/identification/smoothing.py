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

from ..errors import InputError
from .logs import Log

Array = NDArray[np.float64]
DEGREE = 5
SPACINGS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Samples between two knots that are tried."""
TRIED = 8192
"""The spacing is chosen on a stretch of at most so many samples."""
FEWEST = 30
"""A stretch with fewer samples is not used."""


class Smooth(NamedTuple):
    """q, qdot, qddot (n, a) along a log, ``rows`` (n,) of the log's samples they are at.

    ``noise`` (a,) is that of the coordinates, ``rate_noise`` (a,) what is left of it in the rates; ``spacing`` [s] is
    that of the knots.
    """

    rows: NDArray[np.int64]
    q: Array
    qdot: Array
    qddot: Array
    noise: Array
    rate_noise: Array
    spacing: float


def smoothed(log: Log, spacing: float | None = None) -> Smooth:
    """Splines along every stretch of a log; ``spacing`` [s] of knots if it is known."""
    stretches = [s for s in log.stretches if s.stop - s.start >= FEWEST]
    if not stretches:
        raise InputError(f"log: {log.name}: no stretch without gap or jump has {FEWEST} samples")
    usual = float(np.median(np.diff(log.time)))
    if spacing is None:
        longest = max(stretches, key=lambda s: s.stop - s.start)
        samples = _best(log.time[longest], log.q[longest])
    else:
        samples = max(SPACINGS[0], round(spacing / usual))
    parts: list[list[Array]] = [[], [], [], []]
    squares, freedoms = np.zeros(log.q.shape[1]), 0
    for stretch in stretches:
        t, q = log.time[stretch], log.q[stretch]
        spline = _fitted(t, q, min(samples, max(SPACINGS[0], len(t) // 8)))
        values = [spline(t), spline(t, nu=1), spline(t, nu=2)]
        squares += ((q - values[0]) ** 2).sum(axis=0)
        freedoms += len(t) - len(spline.c)
        # the outermost two knots have little to hold their second derivatives
        inner = slice(2 * samples, len(t) - 2 * samples) if len(t) > 8 * samples else slice(samples, len(t) - samples)
        for part, value in zip(parts, [np.arange(stretch.start, stretch.stop), *values], strict=True):
            part.append(value[inner])
    noise = np.sqrt(squares / max(freedoms, 1))
    rows, q, qdot, qddot = (np.concatenate(part) for part in parts)
    return Smooth(rows.astype(np.int64), q, qdot, qddot, noise, 2.5 * noise / (samples**1.5 * usual), samples * usual)


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
        raise InputError("log: no spline fits these times; samples must be spread evenly enough")
    best = int(np.argmin(scores))
    return tried[max(best - 1, 0)]
