"""A brake: dry friction in a joint while it is engaged."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from ..description.leg import Friction
from ..description.quantities import Number, in_either
from .element import Element


class Brake(Element, kind="brake"):
    """While ``engaged`` the joint holds up to ``force`` [N or N m] at rest, and slides against it beyond.

    It is friction of its joint: functions that leave friction out leave it out too. A simulation may switch it.
    """

    joint_only = True
    measured = ("force",)
    force: Annotated[
        Number, BeforeValidator(in_either("N", "N m")), Field(gt=0, json_schema_extra={"unit": "N or N m"})
    ]
    engaged: bool = False

    @property
    def single_axis(self) -> bool:
        return True

    def friction(self) -> Friction:
        """What resists in the joint while it is engaged, as numbers or symbols."""
        return Friction.model_construct(viscous=0.0, coulomb=0.0, drag=self.force, static=1.0, stribeck_speed=0.0)
