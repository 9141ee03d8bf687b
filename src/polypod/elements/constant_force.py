"""A constant force: a counterbalance, a weight that hangs over a pulley, a constant moment in a joint."""

from __future__ import annotations

from typing import Annotated

import casadi as ca
from pydantic import BeforeValidator, Field, model_validator

from ..description.quantities import Direction, Number, in_either
from .element import Element


class ConstantForce(Element, kind="constant force"):
    """f along growing length or displacement: positive pushes its ends apart, negative pulls as a rope with a weight.

    With ``direction`` (at home, fixed in the first body) the length is measured along it: the second body feels a
    force of that direction at its point, whatever way it moves.
    """

    force: Annotated[Number, BeforeValidator(in_either("N", "N m")), Field(json_schema_extra={"unit": "N or N m"})]
    direction: Direction | None = None

    @model_validator(mode="after")
    def _between_points(self) -> ConstantForce:
        if self.joint and self.direction is not None:
            raise ValueError("direction: a force in a joint acts along its axis; leave it out")
        return self

    @property
    def needs_length(self) -> bool:
        return self.direction is None

    @property
    def single_axis(self) -> bool:
        return True

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        return ca.SX(self.force)

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        return -self.force * (s - s0)
