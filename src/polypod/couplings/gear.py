"""A pair of gears, or a train of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ..description.quantities import Number
from .coupling import Coupling, Relation, Term

Ratio = Annotated[Number, Field(json_schema_extra={"unit": "1"})]


class Gear(Coupling, kind="gear"):
    """The ``input`` turns ``ratio`` times as far as the ``output``: s_in = ratio s_out.

    Two wheels that mesh outside turn against each other: their ratio is negative, -z_out/z_in of their teeth.
    """

    input: str
    output: str
    ratio: Ratio

    @model_validator(mode="after")
    def _turns(self) -> Gear:
        if self.ratio == 0.0:
            raise ValueError("ratio: must not be 0")
        return self

    def relations(self) -> tuple[Relation, ...]:
        return (Relation((Term(self.input, 1.0, "rotation"), Term(self.output, -self.ratio, "rotation"))),)
