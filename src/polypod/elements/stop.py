"""A stop: a one-sided spring with damping outside a joint's range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import casadi as ca
from pydantic import BeforeValidator, Field, model_validator

from ..description.leg import LegData
from ..description.quantities import Number, in_either, list_of
from ..errors import InputError
from ..symbols.vectors import absent
from .element import Element

_NUMBER = Annotated[Number, BeforeValidator(in_either("m", "rad"))]


class Stop(Element, kind="stop"):
    """f = -k p - d sdot outside the range, p the way beyond its end; nothing inside, and never a pull.

    The range is that of the joint (of a leg with one actuator, of its length or rail), or ``range``, displacements
    from home. ``damping`` grows from zero to its full value over the first ``ramp`` beyond the end, so that the force
    has no jump at contact.
    """

    joint_only = True
    measured = ("stiffness", "damping", "range", "ramp")
    stiffness: Annotated[
        Number, BeforeValidator(in_either("N/m", "N m/rad")), Field(gt=0, json_schema_extra={"unit": "N/m or N m/rad"})
    ]
    damping: Annotated[
        Number,
        BeforeValidator(in_either("N s/m", "N m s/rad")),
        Field(ge=0, json_schema_extra={"unit": "N s/m or N m s/rad"}),
    ] = 0.0
    range: Annotated[
        tuple[_NUMBER, _NUMBER] | None,
        BeforeValidator(lambda value: value if value is None else list_of(2, "2 numbers")(value)),
        Field(json_schema_extra={"unit": "m or rad"}),
    ] = None
    ramp: Annotated[
        Number, BeforeValidator(in_either("m", "rad")), Field(gt=0, json_schema_extra={"unit": "m or rad"})
    ] = 1e-4

    @model_validator(mode="after")
    def _in_order(self) -> Stop:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range: the lower limit must come first, got {list(self.range)}")
        return self

    def check(self, legs: Sequence[LegData]) -> None:
        super().check(legs)
        end = self.joint_end(legs)
        if self.range is None and not legs[end.leg].limits_joint(end.name):
            raise InputError(
                f"range: {self.joint} has no range, so there is nothing to stop at; give the joint one, or this stop"
            )

    @property
    def single_axis(self) -> bool:
        return True

    @property
    def resists(self) -> bool:
        return not absent(self.damping)

    def _beyond(self, s: ca.SX) -> ca.SX:
        """The way beyond the range, negative below it; zero inside."""
        low, high = self.__dict__["bounds"]
        return ca.fmax(s - high, 0) + ca.fmin(s - low, 0)

    def within(self, low: Any, high: Any) -> Stop:
        """The same stop with its range as symbols of displacements."""
        twin = self.model_copy()
        twin.__dict__["bounds"] = (low, high)
        return twin

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        return -self.stiffness * self._beyond(s)

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        beyond = self._beyond(s)
        return 0.5 * self.stiffness * beyond * beyond

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        """-d sdot where it deepens; on the way back no more than the spring pushes."""
        beyond = self._beyond(s)
        way, side = ca.fabs(beyond), ca.sign(beyond)
        inward = -side * rate  # positive on the way back
        damped = self.damping * ca.fmin(way / self.ramp, 1) * inward
        return side * ca.fmin(damped, self.stiffness * way)
