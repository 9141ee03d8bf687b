"""Any linear relation: joints with their factors."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from ..description.quantities import Number
from .coupling import Coupling, Relation, Term


class Linear(Coupling, kind="linear"):
    """sum of ``factors`` times displacements of ``joints`` is zero [rad and m].

    A file may write the joints themselves as fields: {leg1.nut: 1, leg1.screw: -1256.6}. The first is its input.
    """

    joints: tuple[str, ...]
    factors: Annotated[tuple[Number, ...], Field(json_schema_extra={"unit": "1", "form": "one number for each joint"})]

    @model_validator(mode="before")
    @classmethod
    def _from_mapping(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = {name: factor for name, factor in value.items() if name not in cls.model_fields}
        if not given:
            return value
        if "joints" in value:
            raise ValueError(f"{next(iter(given))}: give 'joints' with 'factors', or joints as fields; one of both")
        for name, factor in given.items():
            if not isinstance(factor, (int, float)) or isinstance(factor, bool):
                raise ValueError(
                    f"{name}: a factor is a plain number for displacements in rad and m, got {factor!r}; a kind takes "
                    "lengths with units: {kind: screw, joint: leg1.spindle, lead: 5 mm}"
                )
        own = {name: value[name] for name in cls.model_fields if name in value}
        return {**own, "joints": list(given), "factors": list(given.values())}

    @model_validator(mode="after")
    def _complete_terms(self) -> Linear:
        if len(self.joints) != len(self.factors):
            raise ValueError(f"factors: one for each of the {len(self.joints)} joints, got {len(self.factors)}")
        for joint, factor in zip(self.joints, self.factors, strict=True):
            if factor == 0.0:
                raise ValueError(f"factors: must not be 0, got 0 for {joint}; leave the joint out")
        return self

    def relations(self) -> tuple[Relation, ...]:
        return (Relation(tuple(Term(joint, self.factors[k]) for k, joint in enumerate(self.joints))),)
