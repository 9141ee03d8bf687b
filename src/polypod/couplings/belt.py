"""A toothed belt, chain or cable over two pulleys."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from ..description.quantities import Length, list_of
from .coupling import Coupling, Relation, Term


class Belt(Coupling, kind="belt"):
    """Pulleys on two joints with ``radii`` [m] and no slip: r_1 s_1 = r_2 s_2, or -r_2 s_2 if the belt is ``crossed``.

    Both joints are between the body that carries the pulleys and a pulley each, with axes in one direction.
    """

    joints: Annotated[tuple[str, str], BeforeValidator(list_of(2, "2 joints"))]
    radii: Annotated[
        tuple[Length, Length], BeforeValidator(list_of(2, "2 radii")), Field(json_schema_extra={"unit": "m"})
    ]
    crossed: bool = False

    def relations(self) -> tuple[Relation, ...]:
        first, second = self.radii[0], self.radii[1] if self.crossed else -self.radii[1]
        return (Relation((Term(self.joints[0], first, "rotation"), Term(self.joints[1], second, "rotation"))),)
