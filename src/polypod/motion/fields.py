"""Types of the fields of motions: numbers in lists of any depth, times and durations, with their units."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from ..description.quantities import Number, Triple
from ..description.units import UNITS, in_si
from ..errors import InputError

# ----------------------------------------------------------------------------------------------------------------------
# Columns of tables: their names, what they measure, and the units their headers may state.

COLUMN_UNITS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3},
    "length": {"m": 1.0, "mm": 1e-3, "um": 1e-6},
    "angle": {"rad": 1.0, "deg": math.pi / 180},
    "force": {"N": 1.0, "kN": 1e3},
    "moment": {"N m": 1.0, "Nm": 1.0},
    "current": {"A": 1.0, "mA": 1e-3},
}
"""Units a column's header may state in brackets, by what they measure, as factors to SI; without one it is in SI."""
QUANTITY_OF_UNIT = {unit: quantity for quantity, units in COLUMN_UNITS.items() for unit in units}
"""The quantity that each unit measures."""


class MotionColumn(NamedTuple):
    """A column: its name, the quantity (a key of ``COLUMN_UNITS``) and its unit; both empty if it states none."""

    name: str
    quantity: str = ""
    unit: str = ""


# ----------------------------------------------------------------------------------------------------------------------
# Types of the fields of motions: numbers in lists of any depth, times and durations, with their units.

_SI = {quantity: next(iter(units)) for quantity, units in COLUMN_UNITS.items()}


class Written(float):
    """A number that was written with a unit: the ``text``, and the SI ``unit`` that the number is in."""

    text: str = ""
    unit: str = ""


def check_written(field: str, value: Any, columns: tuple[MotionColumn, ...]) -> None:
    """Raise for a number in rows of columns (or alone, of the only one) whose unit is not of its column's kind."""
    row = value if isinstance(value, tuple) else (value,)
    for item in row:
        if isinstance(item, tuple):
            check_written(field, item, columns)
    if len(row) != len(columns):
        return
    for item, column in zip(row, columns, strict=True):
        if isinstance(item, Written) and _SI[column.quantity] not in (item.unit, item.unit.partition("/")[0]):
            article = "an" if column.quantity[0] in "aeiou" else "a"
            units = " or ".join(COLUMN_UNITS[column.quantity])
            kind = f"{column.name} is {article} {column.quantity}"
            raise InputError(f"{field}: {kind}, got {item.text!r}; write it in {units}")


def _numbers(*units: str) -> Any:
    """A validator of numbers in lists of any depth, as tuples, which nobody can change later; texts have a unit."""

    def read(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if value is None or isinstance(value, Written):
            return value
        if isinstance(value, (list, tuple)):
            return tuple(read(item) for item in value)
        if isinstance(value, str):
            return _text(value, units)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"must be numbers, got {value!r}")
        return float(value)

    return BeforeValidator(read)


def _text(text: str, units: tuple[str, ...]) -> float:
    for unit in units:
        si = UNITS[unit][1]
        value = in_si(text, si)
        if value != text:
            written = Written(value)
            written.text, written.unit = text, si
            return written
    try:
        return float(text)
    except ValueError:
        # the message is written where the field and its unit are known
        wanted = "must be a number, or one with its unit such as '15 deg'" if "rad" in units else "must be a number"
        raise PydanticCustomError("number_text", "{wanted}", {"wanted": wanted, "text": text}) from None


def _unit(unit: str, **limits: Any) -> Any:
    return Field(json_schema_extra={"unit": unit}, **limits)


_DISPLACEMENTS, _SPEEDS, _ACCELERATIONS = ("m", "rad"), ("m/s", "rad/s"), ("m/s^2", "rad/s^2")
Numbers = Annotated[Any, _numbers(*_DISPLACEMENTS), _unit("m, rad")]
Velocities = Annotated[Any, _numbers(*_SPEEDS), _unit("m/s, rad/s")]
Accelerations = Annotated[Any, _numbers(*_ACCELERATIONS), _unit("m/s^2, rad/s^2")]
Coefficients = Annotated[Any, _numbers(*_DISPLACEMENTS, *_SPEEDS, *_ACCELERATIONS), _unit("m/s^j, rad/s^j")]
Frequencies = Annotated[Any, _numbers("Hz"), _unit("Hz")]
Phases = Annotated[Any, _numbers("rad"), _unit("rad")]
Times = Annotated[Any, _numbers("s"), _unit("s")]
Wrenches = Annotated[Any, _numbers("N", "N m"), _unit("N, N m")]
MaybeNumbers, MaybeAccelerations, MaybeTimes, MaybeWrenches = Numbers, Accelerations, Times, Wrenches
_JERKS = ("m/s^3", "rad/s^3")
LargestSpeed = Annotated[Number, _numbers(*_SPEEDS), _unit(" or ".join(_SPEEDS), gt=0)]
LargestAcceleration = Annotated[Number, _numbers(*_ACCELERATIONS), _unit(" or ".join(_ACCELERATIONS), gt=0)]
LargestJerk = Annotated[Number, _numbers(*_JERKS), _unit(" or ".join(_JERKS), gt=0)]
Tolerance = Annotated[Number, _numbers(*_DISPLACEMENTS), _unit(" or ".join(_DISPLACEMENTS), ge=0)]
Seconds = Annotated[Number, _unit("s")]
Duration = Annotated[Number, _unit("s", gt=0)]
Axis = Annotated[Triple, _unit("1")]
"""A direction of any length but zero."""
