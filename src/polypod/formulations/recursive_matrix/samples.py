"""Constants in disguise: entries of a leg's expressions that stay the same wherever the platform goes.

An axis seen from the body it is fixed to is constant, but its symbols do not say so. A few poses near home tell; what
stays the same in all of them becomes a number, and the products of zeros and ones vanish from the graph.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...errors import InputError
from ...mechanism import Freedoms, LegModel
from ...symbols.vectors import skew

Array = NDArray[np.float64]

# A constant repeats to rounding, 1e-15; what moves at all moves by over 1e-6 between poses 1e-2 apart.
STILL = 1e-11
# Where rounding has left less than this of a length or a direction, there is none.
NOTHING = 1e-13


class Samples:
    """Tips (S, 12) of a leg at poses near home, and the tip's twists (S, 6, m) there for the robot's unit freedoms."""

    def __init__(self, model: LegModel, freedoms: Freedoms, count: int = 4) -> None:
        self.inputs = model.all_inputs
        self._arm = np.array(ca.DM(model.arm)).ravel()
        self._freedoms = freedoms
        placement = model.placement
        places = ca.horzcat(*[j.point for j in placement.joints], *[b.frame.origin for b in placement.bodies])
        steps = np.random.default_rng(0).uniform(-1.0, 1.0, (count, freedoms.count))
        self.length = 1.0
        self.tips = self._moved(np.zeros((1, freedoms.count)))
        self.length = float(np.linalg.norm(np.ptp(self.values(places)[0], axis=1)))
        for size in 0.03 * 0.25 ** np.arange(5):
            self.tips = self._moved(size * steps)
            if np.isfinite(self.values(places)).all():
                return
        raise InputError(f"recursive-matrix: {model.name} does not close around the home pose")

    def _moved(self, steps: Array) -> Array:
        """Tips after small displacements of the freedoms (S, m) from home, translations in units of the leg's size."""
        tips, twists = [], []
        home, basis = self._freedoms.home, self._freedoms.basis
        for step in steps @ basis.T * np.repeat([self.length, 1.0], 3):
            axes = Rotation.from_rotvec(step[3:]).as_matrix() @ home[:3, :3]
            arm = axes @ self._arm
            tips.append(np.concatenate([home[:3, 3] + step[:3] + arm, axes.ravel(order="F")]))
            carry = np.eye(6)
            carry[:3, 3:] = -np.array(ca.DM(skew(ca.SX(ca.DM(arm)))))
            twists.append(carry @ basis)
        self.twists = np.array(twists)
        return np.array(tips)

    def values(self, expression: ca.SX) -> Array:
        """The expression's values at all tips, (S, rows, columns)."""
        function = ca.Function("values", [self.inputs], [ca.densify(expression)])
        return np.array([np.array(function(tip)) for tip in self.tips])

    def fixed(self, expression: ca.SX, scale: float = 1.0) -> Array | None:
        """The value of a constant expression, to ``scale``; None if it moves."""
        values = self.values(expression)
        return tidy(values, scale) if np.ptp(values, axis=0).max() <= STILL * scale else None

    def settled(self, expression: ca.SX) -> ca.SX:
        """The expression with the entries that do not move as numbers."""
        values = self.values(expression)
        still, numbers = np.ptp(values, axis=0) <= STILL, tidy(values, 1.0)
        result = ca.SX(ca.densify(expression))
        for i, j in np.argwhere(still).tolist():
            result[i, j] = float(numbers[i, j])
        return result


def tidy(values: Array, scale: float) -> Array:
    """The mean of samples (S, ...), with the rounding off zeros and ones."""
    mean: Array = np.array(values.mean(axis=0))
    mean[np.abs(mean) < NOTHING * scale] = 0.0
    whole = np.abs(np.abs(mean) - 1.0) < NOTHING
    mean[whole] = np.sign(mean[whole])
    return mean
