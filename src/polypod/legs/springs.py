"""Compliances that several leg kinds share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ..description.quantities import Number
from .contract import Spring

Stiffness = Annotated[Number | None, Field(gt=0, json_schema_extra={"unit": "N/m"})]
"""Stiffness [N/m] of a part of a leg, which is rigid if none is given."""


def springs(load: Any, **parts: Any) -> tuple[Spring, ...]:
    """Springs of the parts that deflect, in series with the leg's actuator; ``load`` is that of all but ``drive``."""
    given = {name: value for name, value in parts.items() if value is not None}
    return tuple(Spring(name, value, 1.0 if name == "drive" else load) for name, value in given.items())
