"""A screw: turn and travel of one cylindrical joint, or of two joints."""

from __future__ import annotations

from math import pi
from typing import Annotated

from pydantic import Field, model_validator

from ..description.quantities import Number
from .coupling import Coupling, Relation, Term

Lead = Annotated[Number, Field(json_schema_extra={"unit": "m"})]


class Screw(Coupling, kind="screw"):
    """Travel is ``lead`` [m] a turn: 2 pi z = lead s; a negative lead is that of a left-hand thread.

    ``joint`` is a cylindrical joint with both motions; or ``turn`` and ``travel`` are two joints (or motions of them).
    """

    lead: Lead
    joint: str = ""
    turn: str = ""
    travel: str = ""

    @model_validator(mode="after")
    def _both_motions(self) -> Screw:
        if self.lead == 0.0:
            raise ValueError("lead: must not be 0; a joint that turns and does not travel is revolute")
        if bool(self.joint) == bool(self.turn) or bool(self.turn) != bool(self.travel):
            raise ValueError("joint: give a cylindrical joint, or 'turn' and 'travel', a joint each")
        return self

    def relations(self) -> tuple[Relation, ...]:
        turn, travel = (
            (self.turn, self.travel) if self.turn else (f"{self.joint}.rotation", f"{self.joint}.translation")
        )
        return (Relation((Term(travel, 2 * pi, "translation"), Term(turn, -self.lead, "rotation")), input=1),)
