"""A stop: a one-sided spring with damping outside a joint's range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import casadi as ca
import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..description.element import Stiffness, numbers_in
from ..description.leg import LegData
from ..description.quantities import Number, in_either, list_of
from ..errors import InputError
from ..symbols.vectors import absent, dot
from .element import Element, column


def _ranges(value: Any) -> Any:
    """Two numbers, or a pair of them for each axis; texts in any unit of length or angle."""
    if value is None:
        return None
    pairs = value if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)) else [value]
    found = tuple(list_of(2, "2 numbers")(pair) for pair in pairs)
    convert = in_either("m", "rad")
    found = tuple(tuple(convert(end) for end in pair) for pair in found)
    return found if pairs is value else found[0]


class Stop(Element, kind="stop"):
    """f = -k p - d sdot outside the range, p the way beyond its end; nothing inside, and never a pull.

    The range is that of the joint (of a leg with one actuator, of its length or rail), or ``range``, displacements
    from home. A universal or cylindrical joint has a pair for each of its two displacements, and ``stiffness`` and
    ``damping`` are numbers or one for each; of its own ``ranges`` those that are stated count. ``damping`` grows from
    zero to its full value over the first ``ramp`` beyond the end, so that the force has no jump at contact.
    """

    joint_only = True
    measured = ("stiffness", "damping", "range", "ramp")
    stiffness: Stiffness
    damping: Annotated[
        Number | tuple[Number, ...],
        BeforeValidator(numbers_in("N s/m", "N m s/rad")),
        Field(json_schema_extra={"unit": "N s/m or N m s/rad", "form": "a number, or a list with one for each axis"}),
    ] = 0.0
    range: Annotated[
        tuple[Number, Number] | tuple[tuple[Number, Number], ...] | None,
        BeforeValidator(_ranges),
        Field(json_schema_extra={"unit": "m or rad", "form": "[low, high], or one for each axis"}),
    ] = None
    ramp: Annotated[
        Number, BeforeValidator(in_either("m", "rad")), Field(gt=0, json_schema_extra={"unit": "m or rad"})
    ] = 1e-4

    @model_validator(mode="after")
    def _in_order(self) -> Stop:
        for low, high in () if self.range is None else np.reshape(self.range, (-1, 2)).tolist():
            if not low < high:
                raise ValueError(f"range: the lower limit must come first, got {[low, high]}")
        if np.ndim(self.stiffness) == 2 or not np.all(np.array(self.stiffness) > 0):
            raise ValueError("stiffness: a stop needs a positive number, or one for each axis")
        if not np.all(np.array(self.damping) >= 0):
            raise ValueError(f"damping: must not be negative, got {self.damping}")
        return self

    def check(self, legs: Sequence[LegData]) -> None:
        super().check(legs)
        end = self.joint_end(legs)
        if end.kind == "spherical":
            raise InputError(
                f"joint: {self.joint} is a spherical joint, which has no axes to stop at; use a universal joint"
            )
        count = len(self.axes_of(legs))
        if self.range is not None and np.shape(self.range) != ((2,) if count == 1 else (count, 2)):
            raise InputError(f"range: a pair for each of {', '.join(self.axes_of(legs))} is needed, got {self.range}")
        if self.range is None and not legs[end.leg].limits_joint(end.name):
            raise InputError(
                f"range: {self.joint} has no range, so there is nothing to stop at; give the joint one, or this stop"
            )

    @property
    def resists(self) -> bool:
        return any(not absent(one) for one in ca.SX(self.damping).elements())

    def _beyond(self, s: ca.SX) -> ca.SX:
        """The way beyond the range, negative below it; zero inside."""
        low, high = self.__dict__["bounds"]
        return ca.fmax(s - high, 0) + ca.fmin(s - low, 0)

    def within(self, low: Any, high: Any) -> Stop:
        """The same stop with its range as symbols (k) of displacements."""
        twin = self.model_copy()
        twin.__dict__["bounds"] = (low, high)
        return twin

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        return -column(self.stiffness, s.numel()) * self._beyond(s)

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        beyond = self._beyond(s)
        return 0.5 * dot(column(self.stiffness, s.numel()) * beyond, beyond)

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        """-d sdot where it deepens; on the way back no more than the spring pushes."""
        beyond = self._beyond(s)
        way, side = ca.fabs(beyond), ca.sign(beyond)
        inward = -side * rate  # positive on the way back
        damped = column(self.damping, s.numel()) * ca.fmin(way / self.ramp, 1) * inward
        return side * ca.fmin(damped, column(self.stiffness, s.numel()) * way)
