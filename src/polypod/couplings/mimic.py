"""A joint that follows another, as URDF's mimic."""

from __future__ import annotations

from pydantic import model_validator

from .coupling import Coupling, Relation, Term
from .gear import Ratio


class Mimic(Coupling, kind="mimic"):
    """``joint`` moves ``multiplier`` times as far as another (``of``), both turning or both sliding or one of each."""

    joint: str
    of: str
    multiplier: Ratio = 1.0

    @model_validator(mode="after")
    def _moves(self) -> Mimic:
        if self.multiplier == 0.0:
            raise ValueError("multiplier: must not be 0; a joint that does not move is fixed")
        return self

    def relations(self) -> tuple[Relation, ...]:
        return (Relation((Term(self.joint, 1.0), Term(self.of, -self.multiplier)), input=1),)
