"""Legs with one actuator: what it can do stands among the leg's own fields."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import casadi as ca
from pydantic import Field, model_validator

from ..description import ConeLimit
from ..description.drive import Bearing, Drive, drive_fields
from ..description.quantities import Frozen, Number
from ..errors import UnknownNameError
from ..symbols.vectors import dot, vector
from .contract import Limit, Spring
from .leg import Leg

Bearings = Annotated[dict[str, Bearing], Frozen, Field(json_schema_extra={"rating": "yes"})]


class DrivenLeg(Drive, Leg):
    """A leg kind with one actuator; ``bearings`` rates bearings by the names of joints.

    ``turns`` says whether the actuator turns (rad, N m) or pushes along a line.
    """

    turns: ClassVar[bool] = False
    bearings: Bearings = Field(default={})

    @model_validator(mode="before")
    @classmethod
    def _drive(cls, value: Any) -> Any:
        return drive_fields(value, cls.turns) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _bearings_of_joints(self) -> DrivenLeg:
        if self.bearings:
            names = tuple(self.parts.joints)
            for name in self.bearings:
                if name not in names:
                    raise ValueError(f"bearings.{name}: {UnknownNameError('joint', name, names)}")
        return self

    def drive(self, actuator: str = "") -> Drive:
        """What its actuator can do."""
        return self.drive_only

    def states_rotor(self, actuator: str = "") -> bool:
        """Whether the file gives the motor's inertia."""
        return bool({"rotor_inertia", "rotor_mass"} & self.model_fields_set)

    def bearing(self, joint: str) -> Bearing:
        """The rating of a joint's bearing."""
        return self.bearings.get(joint, Bearing())


# ----------------------------------------------------------------------------------------------------------------------
# Limits that several leg kinds share.


def range_limit(name: str, value: ca.SX, allowed: tuple[Any, Any] | None, joint: str) -> tuple[Limit, ...]:
    """A length, the coordinate of a joint, that must stay in a range [m]; none where none is given."""
    return () if allowed is None else (Limit(name, value, *allowed, "m", joint=joint),)


def cone_limit(name: str, n: ca.SX, cone: ConeLimit | None, axes: ca.SX | None = None) -> tuple[Limit, ...]:
    """A leg direction n that must stay in a cone, fixed to the base or to ``axes`` [rad]."""
    if cone is None:
        return ()
    axis = vector(cone.axis) if axes is None else axes @ vector(cone.axis)
    return (Limit.of_angle(name, dot(n, axis), cone.half_angle),)


# ----------------------------------------------------------------------------------------------------------------------
# Compliances that several leg kinds share.

Stiffness = Annotated[Number | None, Field(gt=0, json_schema_extra={"unit": "N/m"})]
"""Stiffness [N/m] of a part of a leg, which is rigid if none is given."""


def springs(load: Any, **parts: Any) -> tuple[Spring, ...]:
    """Springs of the parts that deflect, in series with the leg's actuator; ``load`` is that of all but ``drive``."""
    given = {name: value for name, value in parts.items() if value is not None}
    return tuple(Spring(name, value, 1.0 if name == "drive" else load) for name, value in given.items())
