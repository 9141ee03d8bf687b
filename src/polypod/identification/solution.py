"""Numbers that logs and file together say: iterations of friction with reactions, of coordinates, and of outliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError
from .base import BaseParameters
from .channel_checks import lag
from .cones import cones, inside
from .fit import Fit, weighted_least_squares
from .linear_model import LinearModel
from .physical import most_likely
from .prepared import Prepared, refined
from .residuals import Whiteness, outliers, whiteness
from .rows import rows_of
from .sampling import evenly_spaced

ITERATIONS = 8
"""Most iterations of Gauss-Newton."""
CONVERGED = 0.05
"""Base parameters that move by this part of their standard uncertainty have converged, or would with the next step,
which is about as much smaller as this one is than the last."""


class Solution(NamedTuple):
    """What :func:`solve` finds; see :class:`polypod.identification.Identification`.

    ``runs`` are the logs on coordinates that fit forces too, ``goods`` the samples used, ``notes`` what is to be said.
    """

    fit: Fit
    beta: Array
    deviations: Array
    numbers: Array
    covariance: Array
    constrained: bool
    residuals: Whiteness
    runs: list[Prepared]
    goods: list[NDArray[np.bool_]]
    notes: list[str]


def solve(linear: LinearModel, base: BaseParameters, runs: list[Prepared], prior: Array, sigma: Array) -> Solution:
    """Base parameters and numbers from logs, with the file's values ``prior`` (k,) and their uncertainty (k,)."""
    every_sigma, sigma = sigma, np.where([s == "not" for s in base.identifiability], 0.0, sigma)
    notes = _late(linear, base, runs)
    dof = linear.model.mobility.count if linear.redundant else None
    goods, noise = [run.good for run in runs], None
    coordinates = [run.smooth.noise for run in runs]
    numbers, beta, moved, marked = prior, base.values(prior), np.inf, 0
    for turn in range(ITERATIONS):
        data = [rows_of(linear, base, run, good, numbers, noise) for run, good in zip(runs, goods, strict=True)]
        fit = weighted_least_squares(data, coordinates, noise=noise, dof=dof)
        noise = fit.noise
        coordinates = [old if new is None else new for old, new in zip(coordinates, fit.coordinates, strict=True)]
        numbers, _, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
        # where friction bends forces, straight lines hold where numbers are, not where data alone would have them
        now = base.values(numbers) if linear.loaded else fit.beta
        last, moved = moved, _moved(now - beta, now, fit)
        beta = now
        # the first round knows no noise: whether coordinates are to be sought is seen in the second
        converged = turn > 0 and (moved <= CONVERGED or moved**2 <= CONVERGED * last)
        if not converged:
            runs = [run if step is None else refined(linear.model, run, step)
                    for run, step in zip(runs, fit.steps, strict=True)]  # fmt: skip
        left = [run.force - linear.forces(run.motion, numbers) for run in runs]
        marks = [outliers(one, g) for one, g in zip(left, goods, strict=True)]
        fresh = sum(int(m.sum()) for m in marks)
        if converged and fresh == 0:
            break
        marked += fresh
        goods = [g & ~m for g, m in zip(goods, marks, strict=True)]
    else:
        notes.append(
            f"{ITERATIONS} iterations were too few: base parameters last moved by {moved:.2g} of their standard "
            "uncertainty, "
            f"with {fresh} new outliers; intervals may be too narrow"
        )
    if marked:
        notes.append(f"{marked} outliers of forces (beyond 6 times the usual residual): not used")
    if not all(g.any() for g in goods):
        raise InputError("logs: no sample of forces is left to use")
    white = _whiteness(left, goods)
    if (white.widening > 1).any():
        # this only widens intervals: weights by channel hardly move the values
        fit = weighted_least_squares(data, coordinates, white.widening, noise=noise, dof=dof)
    real = cones(linear, base, every_sigma)
    numbers, covariance, constrained = most_likely(fit.triangle, fit.side, base, prior, sigma, real)
    beta, wide = fit.beta, fit.covariance
    loose, whole, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
    if linear.loaded:
        # forces bend with the numbers: straight lines hold where numbers are, not where data alone would have them
        beta, wide = base.values(loose), base.matrix @ whole @ base.matrix.T
    if constrained:
        moving = [c.across_flat(prior, sigma > 0) for c in real if (sigma[c.places] > 0).any()]
        paths = dict.fromkeys(linear.numbers[c.places[0]].path for c in moving if not inside([c], loose))
        more = f" and {len(paths) - 4} more" if len(paths) > 4 else ""
        notes.append(
            "numbers are held where real bodies (or friction above zero) can have them; the least squares alone would "
            f"be none for {', '.join(list(paths)[:4])}{more}"
        )
    deviations = np.sqrt(np.maximum(np.diag(wide), 0.0))
    return Solution(fit, beta, deviations, numbers, covariance, constrained, white, runs, goods, notes)


def _moved(step: Array, beta: Array, fit: Fit) -> float:
    """The largest step of a base parameter by its standard uncertainty; steps that are rounding do not count."""
    wide = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    beyond = np.abs(step) > 1e-12 * np.abs(beta)
    return float(np.max(np.abs(step)[beyond] / np.maximum(wide[beyond], 1e-300), initial=0.0))


def _late(linear: LinearModel, base: BaseParameters, runs: list[Prepared]) -> list[str]:
    notes = []
    for run in runs:
        rows = evenly_spaced(run.motion, max(1000, 2 * len(base.independent)))
        columns = linear.derivatives(run.motion[rows], linear.values, base.independent)
        sound = np.isfinite(columns).all(axis=(1, 2))
        columns, at = columns[sound], run.smooth.rows[rows][sound]
        force, half = np.nan_to_num(run.log.force), len(at) // 2
        shift = lag(columns, force, at)
        if shift is None:
            continue
        step = float(np.median(np.diff(run.log.time)))
        first, second = ((lag(columns[part], force, at[part]) or 0.0) for part in (slice(half), slice(half, None)))
        if abs(second - first) > max(0.5 * abs(shift), 1.0):
            notes.append(
                f"{run.log.name}: forces come {first * step:.4g} s after the coordinates in the first half and "
                f"{second * step:.4g} s in the second (clocks run at different rates): bring them to one clock first"
            )
            continue
        notes.append(
            f"{run.log.name}: forces come {abs(shift) * step:.4g} s {'after' if shift > 0 else 'before'} the "
            f"coordinates (clocks do not match): pass delay={shift * step:.4g} (--delay on the command line)"
        )
    return notes


def _whiteness(left: list[Array], goods: list[NDArray[np.bool_]]) -> Whiteness:
    longest = max(range(len(left)), key=lambda k: len(left[k]))
    return whiteness(left[longest], goods[longest])
