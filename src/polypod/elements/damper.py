"""A damper: its force against the rate of its length or of a joint, viscous or by a curve."""

from __future__ import annotations

from typing import Annotated

import casadi as ca
from pydantic import model_validator

from ..description.element import Damping, curve
from ..description.quantities import Number
from .element import Element, interpolated, matrix


class Damper(Element, kind="damper"):
    """f = -damping sdot, or f = -curve(sdot).

    ``force`` are points [speed, force] of what it resists with, straight lines between them and on beyond the ends; a
    curve that starts at speed 0 is the same in both directions.
    """

    measured = ("damping", "force")
    damping: Damping | None = None
    force: Annotated[tuple[tuple[Number, Number], ...], *curve(("m/s", "rad/s"), "speed")] | None = None

    @model_validator(mode="after")
    def _one_law(self) -> Damper:
        if (self.damping is None) == (self.force is None):
            raise ValueError("damping: give 'damping', or 'force' as a curve over the speed; one of both")
        for speed, force in self.force or ():
            if speed * force < 0 or (speed == 0) != (force == 0):
                raise ValueError(f"force: a damper resists: at the speed {speed:g} it cannot have the force {force:g}")
        if self.force is not None and self.force[0][0] < 0 < self.force[-1][0] and (0.0, 0.0) not in self.force:
            raise ValueError("force: a curve of both directions must pass through [0, 0]; add that point")
        if self.force is not None and self.force[0][0] > 0:
            raise ValueError("force: a curve must start at [0, 0]; add that point")
        if self.force is not None and (self.force[-1][0] <= 0 or not _rises_beyond(self.force)):
            raise ValueError("force: beyond its last point the curve falls below zero, where it would drive; extend it")
        return self

    @property
    def single_axis(self) -> bool:
        return self.force is not None

    @property
    def resists(self) -> bool:
        return True

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        if self.force is None:
            return -matrix(self.damping, s.numel()) @ rate
        points = ca.SX(self.force)
        if points[0, 0].is_zero():
            return -ca.sign(rate) * interpolated(points, ca.fabs(rate))
        return -interpolated(points, rate)


def _rises_beyond(points: tuple[tuple[float, float], ...]) -> bool:
    """Whether the straight lines beyond the ends never change their sign."""
    ends = [(points[-2], points[-1])] + ([(points[1], points[0])] if points[0][0] < 0 else [])
    return all((outer[1] - inner[1]) * (outer[0] - inner[0]) >= 0 for inner, outer in ends)
