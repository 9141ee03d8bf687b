"""What holds a robot at rest: actuator forces that dry friction bears.

With all forces but the i-th those that hold it without friction, J^T (f - f0) = G^T lambda has f_i - f0_i = t with
t = min over virtual velocities y with (J y)_i = 1 of the power sum c_j |G_j y| that friction can take, c_j the limits
(duality of norms). That convex problem is solved by iteratively reweighted least squares; each round has an upper
bound (its power) and a lower one (its lambda, scaled until no joint is beyond its limit), which meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array

_ITERATIONS, _SMOOTH, _SMOOTHEST = 400, 0.8, 1e-9
_GAP = 1e-7
"""Both bounds are this near each other, relative; what is given is the lower one, which is attained."""


class StaticForceRange(NamedTuple):
    """Actuator forces between which the robot stays at rest, each with the other actuators at ``force``.

    Attributes
    ----------
    lower, upper : ndarray, shape (..., n)
        Ends of the range of each actuator [N or N m].
    force : ndarray, shape (..., n)
        Forces that hold the robot without friction [N or N m].
    joints : tuple of (str, str)
        Leg and joint of the j joints that may stick.
    limit : ndarray, shape (..., j)
        Largest friction of each of these joints, at the loads without friction [N or N m].
    """

    lower: Array
    force: Array
    upper: Array
    joints: tuple[tuple[str, str], ...]
    limit: Array


def stiction_range(jacobian: Array, rows: Array, sizes: list[int], limits: Array) -> tuple[Array, Array, Array]:
    """How much more or less than f0 each actuator may give: at least (s, n), at most (s, n), and lambda (s, n, r).

    ``jacobian`` (s, n, m), ``rows`` (s, r, m), ``limits`` (s, n, j) of s states; joints have ``sizes`` components.
    """
    states, n, m = jacobian.shape
    groups = np.repeat(np.arange(len(sizes)), sizes)
    # what no joint resists moves freely, as softly as rounding lets it
    soft = 1e-13 * (limits.max(axis=2, initial=0.0) * np.abs(rows).max(axis=(1, 2), initial=0.0)[:, None] ** 2)
    soft = soft[..., None, None] + 1e-300
    target = jacobian  # (J y)_i = 1
    y = target / (target**2).sum(axis=2, keepdims=True)
    least, most = np.zeros((states, n)), np.full((states, n), np.inf)
    best = np.zeros((states, n, rows.shape[1]))
    smooth = np.ones((states, n))
    for _ in range(_ITERATIONS):
        rate = np.einsum("srm,snm->snr", rows, y)
        speed = np.sqrt(np.add.reduceat(rate**2, np.cumsum([0, *sizes[:-1]]), axis=2))
        most = np.minimum(most, (limits * speed).sum(axis=2))
        weight = limits / np.sqrt(speed**2 + (smooth * speed.max(axis=2, initial=0.0))[..., None] ** 2 + 1e-300)
        full = weight[..., groups]
        matrix = np.einsum("snr,srm,srk->snmk", full, rows, rows)
        matrix = matrix + soft * np.eye(m)
        along = np.linalg.solve(matrix, target[..., None])[..., 0]
        y = along / (target * along).sum(axis=2, keepdims=True)
        force = full * np.einsum("srm,snm->snr", rows, y)
        # G^T lambda is along J_i by the least squares; how far along is what it holds
        pull = np.einsum("snr,srm->snm", force, rows)
        held = (pull * target).sum(axis=2) / (target**2).sum(axis=2)
        off = np.linalg.norm(pull - held[..., None] * target, axis=2)
        size = np.sqrt(np.add.reduceat(force**2, np.cumsum([0, *sizes[:-1]]), axis=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            over = np.nanmax(np.where(limits > 0, size / limits, np.where(size > 0, np.inf, 0.0)), axis=2)
            attained = np.where((over > 0) & np.isfinite(over), held / over, 0.0)
        attained = np.where(off <= 1e-6 * np.abs(held) * np.linalg.norm(target, axis=2), attained, 0.0)
        better = attained > least
        least = np.where(better, attained, least)
        best = np.where(better[..., None], force / np.where(over > 0, over, 1.0)[..., None], best)
        if (most - least <= _GAP * most + 1e-300).all():
            break
        smooth = np.maximum(smooth * _SMOOTH, _SMOOTHEST)
    return least, most, best
