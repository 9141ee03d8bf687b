"""A gas spring: its force over its length by a curve, as its maker prints it, with damping."""

from __future__ import annotations

from typing import Annotated

import casadi as ca
from pydantic import Field

from ..description.element import Damping, curve
from ..description.quantities import Number
from .element import Element, integrated, interpolated, matrix


class GasSpring(Element, kind="gas spring"):
    """f = temperature_factor curve(s) - damping sdot: positive forces push its ends apart.

    ``force`` are points [length, force] (of a joint: [displacement, force]), straight lines between them and on beyond
    the ends. ``temperature_factor`` is that of the gas: T/T_printed in kelvin.
    """

    force: Annotated[tuple[tuple[Number, Number], ...], *curve(("m", "rad"), "length")]
    temperature_factor: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1"})] = 1.0
    damping: Damping | None = None

    @property
    def single_axis(self) -> bool:
        return True

    @property
    def resists(self) -> bool:
        return self.damping is not None

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        return self.temperature_factor * interpolated(ca.SX(self.force), s)

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        return -self.temperature_factor * integrated(ca.SX(self.force), s)

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        return -matrix(0.0 if self.damping is None else self.damping, s.numel()) @ rate
