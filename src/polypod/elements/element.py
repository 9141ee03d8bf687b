"""The contract of an element kind: its force as a function of its displacement and of the rate of that.

Forces are positive along growing displacements, as those of actuators are: a spring that pulls has a negative one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from ..description.element import ElementData
from ..description.leg import LegData
from ..errors import InputError


class Element(ElementData):
    """An element kind: subclass with ``kind="NAME"``, add its data as fields, and state its laws.

    Displacements ``s`` (k) are a length [m], or those of a joint; numbers are symbols, so laws use arithmetic and
    ``casadi`` functions only. ``s0`` is the displacement at home: 0 of a joint.
    """

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        """What it applies along growing displacements (k) at rest; the negative gradient of its potential."""
        return ca.SX.zeros(s.numel())

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        """Its potential energy [J], of any constant level."""
        return ca.SX(0)

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        """What its damping applies along growing displacements (k) at their rates; takes power, never gives any."""
        return ca.SX.zeros(s.numel())

    @property
    def resists(self) -> bool:
        """Whether it has damping by the robot's topology."""
        return False

    def check(self, legs: Sequence[LegData]) -> None:
        super().check(legs)
        if self.single_axis and len(self.axes_of(legs)) > 1:
            end = self.joint_end(legs)
            raise InputError(
                f"joint: {self.joint} is a {end.kind} joint; a {self.kind} acts along one displacement: use a "
                "prismatic or revolute joint, or 'between' two points"
            )

    @property
    def single_axis(self) -> bool:
        """Whether its law is of one displacement only."""
        return False


def matrix(value: Any, count: int) -> ca.SX:
    """A number for all axes, one for each (k), or a matrix (k, k), as a matrix (k, k)."""
    given = ca.SX(value)
    if given.numel() == 1:
        return given * ca.SX.eye(count)
    return given if given.size2() == count and given.size1() == count else ca.diag(given)


def column(value: Any, count: int) -> ca.SX:
    """A number for all axes or one for each (k) as a column (k)."""
    given = ca.SX(value)
    return given if given.numel() == count else given * ca.SX.ones(count)


def interpolated(points: ca.SX, x: ca.SX) -> ca.SX:
    """Straight lines through points (n, 2), and on beyond the ends: f_0 + b_0 (x - x_0) + sum (b_k - b_k-1) (x - x_k)+.

    b_k is the slope from point k to the next.
    """
    slopes = _slopes(points)
    result = (points[0, 1] - slopes[0] * points[0, 0]) + slopes[0] * x
    for k in range(1, len(slopes)):
        result = result + (slopes[k] - slopes[k - 1]) * ca.fmax(x - points[k, 0], 0)
    return result


def integrated(points: ca.SX, x: ca.SX) -> ca.SX:
    """The integral of ``interpolated`` from the first point."""
    slopes, start = _slopes(points), x - points[0, 0]
    result = points[0, 1] * start + 0.5 * slopes[0] * start * start
    for k in range(1, len(slopes)):
        beyond = ca.fmax(x - points[k, 0], 0)
        result = result + 0.5 * (slopes[k] - slopes[k - 1]) * beyond * beyond
    return result


def _slopes(points: ca.SX) -> list[ca.SX]:
    rows = range(points.size1() - 1)
    return [(points[k + 1, 1] - points[k, 1]) / (points[k + 1, 0] - points[k, 0]) for k in rows]
