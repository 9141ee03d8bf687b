"""Weighted least squares of base parameters, together with the splines of coordinates where their noise counts.

Sought are beta and steps dc of the splines' coefficients with the least
|y - Y beta - G dc|^2/sigma_f^2 + |q - N (c + dc)|^2/sigma_q^2: errors in coordinates then neither pull beta towards
zero nor are missing in its intervals. dc is eliminated (its matrix is banded); what is left is a triangle R with
|R beta - z|^2, all that a log says about beta. Noise of every channel is that of its residuals by the degrees of
freedom that are left in them (restricted maximum likelihood).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve_banded

from ..arrays import Array
from .rows import Rows
from .spline_elimination import Weighted, weighted_rows

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
