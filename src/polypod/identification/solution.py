"""Numbers that logs and file together say: rounds of friction with reactions, of coordinates, and of outliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .base import BaseParameters
from .fit import Fit, weighted
from .numbers import LinearModel
from .physical import cones, most_likely
from .prepared import Prepared, refined
from .residuals import Whiteness, outliers, whiteness
from .rows import rows_of
from .suspects import lag, motion_rows

Array = NDArray[np.float64]
ROUNDS = 8
"""At most so many rounds."""


class Solution(NamedTuple):
    """What :func:`solved` finds; see :class:`polypod.identification.Identification`.

    ``runs`` are the logs on coordinates that fit forces too, ``goods`` the samples used, ``notes`` what is to be said.
    """

    fit: Fit
    beta: Array
    deviations: Array
    numbers: Array
    covariance: Array
    held: bool
    residuals: Whiteness
    runs: list[Prepared]
    goods: list[NDArray[np.bool_]]
    notes: list[str]


def solved(linear: LinearModel, base: BaseParameters, runs: list[Prepared], prior: Array, sigma: Array) -> Solution:
    """Base parameters and numbers from logs, with the file's values ``prior`` (k,) and their uncertainty (k,)."""
    notes = _late(linear, base, runs)
    freedoms = linear.model.mobility.count if linear.redundant else None
    goods, noise = [run.good for run in runs], None
    coordinates = [run.smooth.noise for run in runs]
    numbers, marked = prior, 0
    for turn in range(ROUNDS):
        data = [rows_of(linear, base, run, good, numbers, noise) for run, good in zip(runs, goods, strict=True)]
        fit = weighted(data, coordinates, noise=noise, freedoms=freedoms)
        last, noise = numbers, fit.noise
        numbers, _, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
        runs = [run if step is None else refined(linear.model, run, step)
                for run, step in zip(runs, fit.steps, strict=True)]  # fmt: skip
        coordinates = [old if new is None else new for old, new in zip(coordinates, fit.coordinates, strict=True)]
        predicted = [linear.forces(run.motion, numbers) for run in runs]
        marks = [outliers(run.force - p, g) for run, p, g in zip(runs, predicted, goods, strict=True)]
        fresh = sum(int(m.sum()) for m in marks)
        # the first round knows no noise: whether coordinates are to be sought is seen in the second
        if turn and fresh == 0 and _settled(base, last, numbers, fit):
            break
        marked += fresh
        goods = [g & ~m for g, m in zip(goods, marks, strict=True)]
    if marked:
        notes.append(f"{marked} outliers of forces (beyond 6 times the usual residual): not used")
    if not all(g.any() for g in goods):
        raise InputError("logs: no sample of forces is left to use")
    white = _whiteness(runs, predicted, goods)
    if (white.spread > 1).any():
        # this only widens intervals: weights by channel hardly move the values
        fit = weighted(data, coordinates, white.spread, noise=noise, freedoms=freedoms)
    numbers, covariance, held = most_likely(fit.triangle, fit.side, base, prior, sigma, cones(linear, base))
    beta, wide = fit.beta, fit.covariance
    if linear.loaded:
        # forces bend with the numbers: straight lines hold where numbers are, not where data alone would have them
        loose, whole, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
        beta, wide = base.values(loose), base.matrix @ whole @ base.matrix.T
    if held:
        notes.append("numbers were held where real bodies and friction can have them")
    deviations = np.sqrt(np.maximum(np.diag(wide), 0.0))
    return Solution(fit, beta, deviations, numbers, covariance, held, white, runs, goods, notes)


def _settled(base: BaseParameters, last: Array, now: Array, fit: Fit) -> bool:
    wide = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    moved = np.abs(base.values(now) - base.values(last))
    return bool((moved <= 0.05 * wide + 1e-12 * np.abs(base.values(now))).all())


def _late(linear: LinearModel, base: BaseParameters, runs: list[Prepared]) -> list[str]:
    notes = []
    for run in runs:
        rows = motion_rows(run.motion, max(1000, 2 * len(base.independent)))
        columns = linear.slopes(run.motion[rows], linear.values, base.independent)
        sound = np.isfinite(columns).all(axis=(1, 2))
        shift = lag(columns[sound], np.nan_to_num(run.log.force), run.smooth.rows[rows][sound])
        if shift is not None:
            step = float(np.median(np.diff(run.log.time)))
            notes.append(
                f"{run.log.name}: forces come {shift * step:.4g} s after the coordinates (clocks do not match): pass "
                f"delay={shift * step:.4g} (--delay on the command line)"
            )
    return notes


def _whiteness(runs: list[Prepared], predicted: list[Array], goods: list[NDArray[np.bool_]]) -> Whiteness:
    longest = max(range(len(runs)), key=lambda k: len(runs[k].motion))
    return whiteness(runs[longest].force - predicted[longest], goods[longest])
