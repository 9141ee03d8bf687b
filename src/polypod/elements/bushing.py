"""A bushing: a stiffness of all six directions between two bodies at a point, as of a rubber mount or a flexure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import casadi as ca
import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ..description.element import PerAxis, checked_matrix
from ..description.leg import LegData
from ..description.quantities import Number, Position, Rotation
from ..description.units import in_si
from ..errors import InputError
from ..symbols.vectors import dot
from .element import Element, matrix


def _six(linear: str, angular: str) -> Any:
    """6 numbers or a 6 x 6 matrix, three of each kind of motion; texts in the unit of their place."""

    def convert(value: Any) -> Any:
        if isinstance(value, (list, tuple, np.ndarray)) and len(value) == 6 and not isinstance(value[0], (list, tuple)):
            return [in_si(item, linear if k < 3 else angular) for k, item in enumerate(value)]
        return value

    return [
        BeforeValidator(convert),
        AfterValidator(checked_matrix),
        Field(json_schema_extra={"unit": f"{linear} and {angular}", "form": "6 numbers, or 6 rows of 6 numbers"}),
    ]


class Bushing(Element, kind="bushing"):
    """f = -K s - C sdot with s (6): displacement and rotation vector of the second body, seen from the first.

    ``at`` is its point at home, on both bodies; ``axes`` (3 x 3, columns) are those of K and C, base axes at home
    unless given. It is relaxed at home unless ``preload`` (6) says what it pulls back with there.
    """

    points_only = True
    measured = ()
    at: Position | None = None  # type: ignore[assignment]
    axes: Rotation | None = None
    stiffness: Annotated[PerAxis, *_six("N/m", "N m/rad")]
    damping: Annotated[PerAxis, *_six("N s/m", "N m s/rad")] | None = None
    preload: Annotated[tuple[Number, ...], Field(json_schema_extra={"unit": "N and N m"})] | None = None

    @model_validator(mode="after")
    def _six_directions(self) -> Bushing:
        for name in ("stiffness", "damping", "preload"):
            value = getattr(self, name)
            if value is not None and np.shape(value) not in ((6,), (6, 6) if name != "preload" else (6,)):
                raise ValueError(f"{name}: 6 numbers, or 6 rows of 6, are needed: x, y, z, about x, about y, about z")
        return self

    def _check_points(self) -> None:
        if self.at is None:
            raise ValueError("at: give its point at home, at: [x, y, z]")

    def check(self, legs: Sequence[LegData]) -> None:
        for end in self.body_ends(legs):
            if end.leg is not None and end.name in legs[end.leg].spin_lines():
                raise InputError(
                    f"between: {end.name} spins freely between two spherical joints, which a bushing would hold; make "
                    "one of the joints universal"
                )

    def axes_of(self, legs: Sequence[LegData]) -> tuple[str, ...]:
        return ("x", "y", "z", "about x", "about y", "about z")

    @property
    def resists(self) -> bool:
        return self.damping is not None

    def static_force(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        force = -matrix(self.stiffness, 6) @ s
        return force if self.preload is None else force - ca.SX(self.preload)

    def potential(self, s: ca.SX, s0: ca.SX) -> ca.SX:
        energy = 0.5 * dot(s, matrix(self.stiffness, 6) @ s)
        return energy if self.preload is None else energy + dot(ca.SX(self.preload), s)

    def resistance(self, s: ca.SX, rate: ca.SX) -> ca.SX:
        return -matrix(0.0 if self.damping is None else self.damping, 6) @ rate
