"""Types of the fields of motions: numbers in lists of any depth, times and durations, with their units."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from ..description.quantities import Number, Triple, angle_text


def _numbers(value: Any) -> Any:
    """Numbers in lists of any depth, as tuples, which nobody can change later; an angle may be written ``15 deg``."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(_numbers(item) for item in value)
    if isinstance(value, str):
        return angle_text(value, "a number or an angle such as '15 deg' is needed")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"numbers are needed, got {value!r}")
    return float(value)


def _numbers_or_none(value: Any) -> Any:
    return None if value is None else _numbers(value)


def _unit(unit: str, **limits: Any) -> Any:
    return Field(json_schema_extra={"unit": unit}, **limits)


Numbers = Annotated[Any, BeforeValidator(_numbers), _unit("m, rad")]
Velocities = Annotated[Any, BeforeValidator(_numbers), _unit("m/s, rad/s")]
Accelerations = Annotated[Any, BeforeValidator(_numbers), _unit("m/s^2, rad/s^2")]
Coefficients = Annotated[Any, BeforeValidator(_numbers), _unit("m/s^j, rad/s^j")]
Frequencies = Annotated[Any, BeforeValidator(_numbers), _unit("Hz")]
Phases = Annotated[Any, BeforeValidator(_numbers), _unit("rad")]
Times = Annotated[Any, BeforeValidator(_numbers), _unit("s")]
MaybeNumbers = Annotated[Any, BeforeValidator(_numbers_or_none), _unit("m, rad")]
MaybeAccelerations = Annotated[Any, BeforeValidator(_numbers_or_none), _unit("m/s^2, rad/s^2")]
MaybeTimes = Annotated[Any, BeforeValidator(_numbers_or_none), _unit("s")]
Wrenches = Annotated[Any, BeforeValidator(_numbers), _unit("N, N m")]
MaybeWrenches = Annotated[Any, BeforeValidator(_numbers_or_none), _unit("N, N m")]
Seconds = Annotated[Number, _unit("s")]
Duration = Annotated[Number, _unit("s", gt=0)]
Axis = Annotated[Triple, _unit("1")]
"""A direction of any length but zero."""
