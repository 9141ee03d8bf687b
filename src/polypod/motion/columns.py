"""Columns of tables: their names, what they measure, and the units their headers may state."""

from __future__ import annotations

import math
from typing import NamedTuple

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
    """A column: its name, the quantity (a key of :data:`COLUMN_UNITS`) and its unit; both empty if it states none."""

    name: str
    quantity: str = ""
    unit: str = ""
