"""A spring: between two points, or in a joint about or along its axes (a flexure, a torsion spring)."""

from __future__ import annotations

from typing import Annotated

import casadi as ca
from pydantic import BeforeValidator, Field, model_validator

from ..description.element import Damping, Stiffness, numbers_in
from ..description.quantities import Number
from ..symbols.vectors import dot
from .element import Element, column, matrix

_Either = Number | tuple[Number, ...]
Displacement = Annotated[
    _Either, BeforeValidator(numbers_in("m", "rad")), Field(json_schema_extra={"unit": "m or rad"})
]
Force = Annotated[_Either, BeforeValidator(numbers_in("N", "N m")), Field(json_schema_extra={"unit": "N or N m"})]


class Spring(Element, kind="spring"):
    """f = -K (s - rest), or -(preload + K (s - s_home)); relaxed at home unless one of these is given.

    ``length`` is the free length [m] of a spring between two points, ``rest`` the displacement at which one in a joint
    is relaxed, ``preload`` what it pulls back with at home: the tension of one between points. ``stiffness`` and
    ``damping`` are numbers, lists with one for each axis of a joint, or matrices.
    """

    stiffness: Stiffness
    length: Annotated[Number | None, Field(ge=0, json_schema_extra={"unit": "m"})] = None
    rest: Displacement | None = None
    preload: Force | None = None
    damping: Damping | None = None

    @model_validator(mode="after")
    def _one_rest(self) -> Spring:
        if self.joint and self.length is not None:
            raise ValueError("length: only a spring between two points has one; give 'rest', the joint's displacement")
        if not self.joint and self.rest is not None:
            raise ValueError("rest: only a spring in a joint has one; give 'length', the free length")
        stated = [name for name in ("length", "rest", "preload") if getattr(self, name) is not None]
        if len(stated) > 1:
            raise ValueError(f"{stated[1]}: follows from {stated[0]} and the stiffness; give one of both")
        return self

    @property
    def resists(self) -> bool:
        return self.damping is not None

    def _stretch(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        rest = self.length if self.length is not None else self.rest
        return s - (s0 if rest is None else column(rest, s.numel()))

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        force = -matrix(self.stiffness, s.numel()) @ self._stretch(s, s0)
        return force if self.preload is None else force - column(self.preload, s.numel())

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        stretch = self._stretch(s, s0)
        energy = 0.5 * dot(stretch, matrix(self.stiffness, s.numel()) @ stretch)
        return energy if self.preload is None else energy + dot(column(self.preload, s.numel()), stretch)

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        return -matrix(0.0 if self.damping is None else self.damping, s.numel()) @ rate
