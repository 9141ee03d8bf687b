"""A differential: two inputs that turn two outputs by their mean and their difference."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, model_validator

from ..description.quantities import list_of
from .coupling import Coupling, Relation, Term
from .gear import Ratio

_Two = Annotated[tuple[str, str], BeforeValidator(list_of(2, "2 joints"))]


class Differential(Coupling, kind="differential"):
    """Inputs a, b and outputs p, q: a = ratio (p + q), b = ratio (p - q)."""

    inputs: _Two
    outputs: _Two
    ratio: Ratio = 1.0

    @model_validator(mode="after")
    def _turns(self) -> Differential:
        if self.ratio == 0.0:
            raise ValueError("ratio: must not be 0")
        joints = (*self.inputs, *self.outputs)
        twice = next((name for k, name in enumerate(joints) if name in joints[:k]), None)
        if twice is not None:
            field = "inputs" if twice in self.inputs else "outputs"
            raise ValueError(f"{field}: a differential joins four different joints, got {twice} twice")
        return self

    def relations(self) -> tuple[Relation, ...]:
        p, q = self.outputs
        found = []
        for own, sign, part in ((self.inputs[0], 1.0, "first"), (self.inputs[1], -1.0, "second")):
            terms = (Term(own, 1.0), Term(p, -self.ratio), Term(q, -sign * self.ratio))
            found.append(Relation(terms, part))
        return tuple(found)
