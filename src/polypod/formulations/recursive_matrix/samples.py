"""Constants in disguise: entries of a leg's expressions that stay the same wherever the platform goes.

An axis seen from the body it is fixed to is constant, but its symbols do not say so. A few poses near home tell. What
stays the same in all of them is taken at home, where it depends on the robot's numbers alone and is computed once a
design; zeros and ones by the robot's topology become numbers, and their products vanish from the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...mechanism import LegModel, Mechanism
from ...mechanism.samples import around_home
from ...parameters import ParameterVector
from ...platforms import DegreesOfFreedom
from ...symbols.expression import mapped
from ...symbols.vectors import Frame, skew

# A constant repeats to rounding, 1e-15; what moves at all moves by over 1e-6 between poses 1e-2 apart.
STILL = 1e-11
# Where rounding has left less than this of a length or a direction, there is none.
NOTHING = 1e-13


@dataclass(frozen=True)
class ConstantMatrix:
    """A matrix that does not move: its value for the robot at hand, for decisions, and in symbols of the numbers."""

    numbers: Array
    symbols: ca.SX


class Samples:
    """Tips (S, 12) of a leg at poses near home, and the tip's twists (S, 6, m) there for the robot's unit degrees of
    freedom."""

    def __init__(self, model: LegModel, mechanism: Mechanism, count: int = 4) -> None:
        self.inputs, self._numbers = model.all_inputs, mechanism.numbers
        home = Frame(self._numbers.home_position, ca.densify(self._numbers.home_rotation))
        self._arm = model.arm
        self._home = ca.vertcat(home.origin + home.axes @ model.arm, ca.vec(home.axes))
        self._designs = nearby_designs(self._numbers)
        places = ca.horzcat(
            *[joint.point for joint in model.placement.joints], *[body.frame.origin for body in model.placement.bodies]
        )
        span = np.ptp(self._at_designs(self.at_home(places))[0], axis=1)
        self.length = float(np.linalg.norm(span))
        for reach in 0.03 * 0.25 ** np.arange(5):
            self._place(mechanism, count, float(reach))
            if np.isfinite(self.values(places)).all():
                return
        raise InputError(f"recursive-matrix: {model.name} does not close near the home pose")

    def _place(self, mechanism: Mechanism, count: int, reach: float) -> None:
        """Tips of all designs, displaced alike from their homes, and the twists of the robot's own."""
        dof, poses = DegreesOfFreedom(mechanism.robot), around_home(mechanism.robot, count, reach)
        homes, arms = self._at_designs(self._numbers.home_position), self._at_designs(self._arm)
        self._tips = []
        for home, arm in zip(homes - homes[0], arms, strict=True):
            points = [pose[:3, 3] + (home + pose[:3, :3] @ arm).ravel() for pose in poses]
            axes = [pose[:3, :3].ravel(order="F") for pose in poses]
            self._tips.append(np.hstack([points, axes]))
        twists = []
        for pose in poses:
            carry = np.eye(6)
            carry[:3, 3:] = -np.array(ca.DM(skew(ca.SX(ca.DM(pose[:3, :3] @ arms[0])))))
            twists.append(carry @ dof.basis)
        self.tips, self.twists = self._tips[0], np.array(twists)

    def values(self, expression: ca.SX) -> Array:
        """An expression of leg and numbers at all tips of the robot at hand, (S, rows, columns)."""
        values: Array = self._at_tips(expression, 1)[0]
        return values

    def at_home(self, expression: ca.SX) -> ca.SX:
        """The expression for the platform at home: one of the robot's numbers alone."""
        return ca.densify(ca.substitute(ca.SX(expression), self.inputs, self._home))

    def fixed(self, expression: ca.SX, scale: float = 1.0) -> ConstantMatrix | None:
        """A constant expression, to ``scale``; None if it moves."""
        values = self.values(expression)
        if not np.ptp(values, axis=0).max() <= STILL * scale:
            return None
        return ConstantMatrix(snap(values.mean(axis=0), NOTHING * scale), self.snapped(expression, NOTHING * scale))

    def fold_constants(self, expression: ca.SX) -> ca.SX:
        """The expression with the entries that do not move, in this and nearby designs, as constants."""
        values = self._at_tips(expression, len(self._designs))
        still = (np.ptp(values, axis=1) <= STILL).all(axis=0)
        result, constant = ca.SX(ca.densify(expression)), self.snapped(expression)
        for i, j in np.argwhere(still).tolist():
            result[i, j] = constant[i, j]
        return result

    def snapped(self, expression: ca.SX, nothing: float = NOTHING, ones: bool = True) -> ca.SX:
        """The expression at home with its zeros (and ones) by the robot's topology as numbers.

        Less than ``nothing`` counts as zero.
        """
        result = self.at_home(expression)
        values = self._at_designs(result)
        plain = snap(values, nothing, ones)
        whole = (plain == 0.0) | (ones & (np.abs(plain) == 1.0))
        agreed = whole.all(axis=0) & (np.ptp(plain, axis=0) == 0.0)
        for i, j in np.argwhere(agreed).tolist():
            result[i, j] = float(plain[0, i, j])
        return result

    def _at_tips(self, expression: ca.SX, designs: int) -> Array:
        """(D, S, rows, columns) at the first designs."""
        tips = np.concatenate(self._tips[:designs])
        numbers = np.repeat(self._designs[:designs], len(self.tips), axis=0)
        inputs = [self.inputs, self._numbers.symbols]
        values = mapped(inputs, expression, tips, numbers)
        return values.reshape(designs, -1, *values.shape[1:])

    def _at_designs(self, expression: ca.SX) -> Array:
        """An expression of the numbers alone at all designs, (D, rows, columns)."""
        return mapped([self._numbers.symbols], expression, np.asarray(self._designs))


def snap(values: Array, nothing: float, ones: bool = True) -> Array:
    """Numbers with the rounding off zeros and ones."""
    result: Array = np.array(values)
    result[np.abs(result) < nothing] = 0.0
    if ones:
        whole = np.abs(np.abs(result) - 1.0) < NOTHING
        result[whole] = np.sign(result[whole])
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Robots near a robot: its numbers changed a little, to tell what holds by its topology from what holds by its numbers.
#
# An entry that is zero for the robot at hand may be something else for another design that the same function
# serves. It
# is left out of the function only if it is zero for these designs too.

# Large against rounding in all that follows from the numbers, too small for a leg to lose its reach.
_CHANGE = 1e-3
_UNIT = 1e-9


def nearby_designs(numbers: ParameterVector, count: int = 2) -> Array:
    """Values (1 + count, k) of a robot's inputs: its own, then random changes of them; only its own if it has none.

    Directions keep their length; the home rotation, and numbers that are no inputs, keep their values.
    """
    own = numbers.values
    if not len(own):
        return own[None]
    draw = np.random.default_rng(0)
    return np.stack([own, *(_changed(numbers, draw) for _ in range(count))])


def _changed(numbers: ParameterVector, draw: np.random.Generator) -> Array:
    own, result = numbers.values, numbers.values.copy()
    fixed: dict[str, list[float]] = {}
    for entry in numbers.constants:
        fixed.setdefault(entry.path, []).append(entry.value)
    places: dict[str, list[int]] = {}
    for k, entry in enumerate(numbers.entries):
        places.setdefault(entry.path, []).append(k)
    for path, mine in places.items():
        if path == "home.rotation":
            continue
        size = float(np.abs(own[mine]).max()) or 1.0
        result[mine] += _CHANGE * size * draw.uniform(-1.0, 1.0, len(mine))
        rest = float(np.square(fixed.get(path, ())).sum())
        if len(mine) + len(fixed.get(path, ())) == 3 and abs(np.square(own[mine]).sum() + rest - 1.0) < _UNIT:
            result[mine] *= np.sqrt((1.0 - rest) / np.square(result[mine]).sum())
    return result
