"""Legs with one actuator: what it can do stands among the leg's own fields."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from ..description.drive import Bearing, Drive, drive_fields
from ..description.quantities import Frozen
from ..errors import UnknownNameError
from ..symbols.vectors import Frame
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
            names = tuple(joint.name for joint in self.place(Frame.symbols("tip")).joints)
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
