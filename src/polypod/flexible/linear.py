"""The elastic equations of a robot whose frame is led along a motion, linearised: how fast, and whether stable.

With the frame's acceleration given, the inverse model makes q'' a function of q and qdot. Its eigenvalues say how long
a step may be. They also say whether the frame can be led exactly at all: where the effective mass of a mode, what is
left of it when the actuators hold the frame, is small or negative, a shape error grows however stiff the platform is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formulations.friction import has_dry_friction
from ..trajectories import Motion

if TYPE_CHECKING:
    from .model import FlexibleModel

Array = NDArray[np.float64]
_STATES = 5
_REST = np.zeros(6)


class Rates(NamedTuple):
    """Largest rate and largest growth [1/s] along a motion, when it grows so [s], and the rate of dry friction."""

    fastest: float
    growth: float
    time: float
    rubbing: float


def led_rates(model: FlexibleModel, motion: Motion, loads: Array, bent: Array, friction: bool) -> Rates:
    """Rates at a few states of a motion, about the shape ``bent`` (N,); dry friction where joints turn about."""
    chosen = np.unique(np.linspace(0, len(motion.time) - 1, _STATES).astype(int)).tolist()
    fastest, growth, when, rubbing = 0.0, -np.inf, float(motion.time[0]), 0.0
    for k in chosen:
        at = motion.pose[k], motion.twist[k], motion.acceleration[k], loads[k]
        values = _eigenvalues(model, at, bent, 1e-6 * max(1.0, float(np.abs(bent).max())), False)
        fastest = max(fastest, float(np.abs(values).max()))
        if values.real.max() > growth:
            growth, when = float(values.real.max()), float(motion.time[k])
    if friction and has_dry_friction(model.kernels.mechanism):
        # the law of dry friction is steepest where joints rest, and all may rest at some instant
        width = model.kernels.dry.law.width
        if width == 0.0:
            return Rates(fastest, growth, when, np.inf)
        reach = 1e-3 * width / float(np.abs(model.modes.attachment_shapes).max())
        for k in chosen:
            at = motion.pose[k], _REST, motion.acceleration[k], loads[k]
            rubbing = max(rubbing, float(np.abs(_eigenvalues(model, at, bent, reach, True)).max()))
    return Rates(fastest, growth, when, rubbing)


def _eigenvalues(
    model: FlexibleModel, at: tuple[Array, Array, Array, Array], bent: Array, reach: float, friction: bool
) -> NDArray[np.complex128]:
    """Of the first-order system of q and qdot; d(q'') by central differences."""
    n = len(bent)
    pose, twist, acceleration, load = at
    states = np.concatenate([bent, np.zeros(n)]) + reach * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    found = model.inverse_dynamics(
        pose, twist, states[:, :n], states[:, n:], acceleration, load, friction, errors="raise"
    ).elastic_acceleration
    slopes = (found[: 2 * n] - found[2 * n :]).T / (2 * reach)
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [slopes]])).astype(np.complex128)
