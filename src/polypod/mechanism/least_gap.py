"""Why a leg without a closed form does not close at a pose: it does not reach, or only in another working mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Robot
from .numeric_leg import NumericLeg, interpolated_from_home

_STEPS = 64
"""Poses on the way from home at which the leg is closed, one after the other."""
_ITERATIONS = 200
_CLOSED = 1e-9
"""Gap [m] of a closed leg."""
_STILL = 1e-12


class LeastGap(NamedTuple):
    """The smallest ``gap`` [m or rad] of a leg that was found at a pose.

    ``converged``: no smaller gap is near. ``home_mode``: the leg is in the working mode of home there,
    by the sign of its closing determinant.
    """

    gap: float
    converged: bool
    home_mode: bool

    @property
    def closed(self) -> bool:
        """Whether the leg reaches the platform: its gap is rounding."""
        return self.gap < _CLOSED


def least_gap(robot: Robot, number: int, pose: Array) -> LeastGap:
    """The smallest gap of a leg at a pose (4, 4), the leg followed there on the straight path from home.

    By Levenberg-Marquardt steps: where Newton's iteration has no solution they end at the least gap.
    """
    leg = NumericLeg(robot.legs[number], robot)
    place, gap, converged = leg.home, np.inf, False
    for part in np.linspace(0.0, 1.0, _STEPS + 1)[1:]:
        place, gap, converged = _minimise(leg, interpolated_from_home(robot, pose, float(part)), place)
    sides = [np.linalg.slogdet(leg.gap_at(*at)[1])[0] for at in ((robot.home.matrix, leg.home), (pose, place))]
    return LeastGap(gap, converged, bool(sides[0] * sides[1] > 0))


def _minimise(leg: NumericLeg, pose: Array, place: Array) -> tuple[Array, float, bool]:
    """The place of least gap near another, that gap, and whether no smaller one is near."""
    damping, (residual, derivatives) = 1e-3, leg.gap_at(pose, place)
    for _ in range(_ITERATIONS):
        gap = float(np.linalg.norm(residual))
        downhill = derivatives.T @ residual
        if gap < _CLOSED or np.linalg.norm(downhill) <= _STILL * max(gap, _STILL):
            return place, gap, True
        normal = derivatives.T @ derivatives
        step = -np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), downhill)
        trial = leg.moved(place, step)
        new_residual, new_derivatives = leg.gap_at(pose, trial)
        if np.linalg.norm(new_residual) < gap:
            place, residual, derivatives, damping = trial, new_residual, new_derivatives, 0.3 * damping
            if np.linalg.norm(step) < _STILL:
                return place, float(np.linalg.norm(residual)), True
        else:
            damping *= 4.0
            if damping > 1e12:
                return place, gap, True
    return place, float(np.linalg.norm(residual)), False
