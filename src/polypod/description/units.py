"""Units that a number of a file may be written with, as factors to SI."""

from __future__ import annotations

import math
import re
from typing import Any

UNITS: dict[str, tuple[float, str]] = {
    "m": (1.0, "m"), "mm": (1e-3, "m"), "cm": (1e-2, "m"), "um": (1e-6, "m"), "km": (1e3, "m"),
    "rad": (1.0, "rad"), "deg": (math.pi / 180.0, "rad"), "mrad": (1e-3, "rad"),
    "s": (1.0, "s"), "ms": (1e-3, "s"), "min": (60.0, "s"),
    "1/s": (1.0, "1/s"), "Hz": (1.0, "1/s"), "kHz": (1e3, "1/s"),
    "m/s": (1.0, "m/s"), "mm/s": (1e-3, "m/s"), "m/s^2": (1.0, "m/s^2"), "mm/s^2": (1e-3, "m/s^2"),
    "rad/s": (1.0, "rad/s"), "deg/s": (math.pi / 180.0, "rad/s"), "rpm": (math.pi / 30.0, "rad/s"),
    "rad/s^2": (1.0, "rad/s^2"), "deg/s^2": (math.pi / 180.0, "rad/s^2"),
    "m/s^3": (1.0, "m/s^3"), "mm/s^3": (1e-3, "m/s^3"), "rad/s^3": (1.0, "rad/s^3"),
    "kg": (1.0, "kg"), "g": (1e-3, "kg"), "t": (1e3, "kg"),
    "kg m^2": (1.0, "kg m^2"), "kg mm^2": (1e-6, "kg m^2"), "g mm^2": (1e-9, "kg m^2"), "kg cm^2": (1e-4, "kg m^2"),
    "kg/m^3": (1.0, "kg/m^3"), "g/cm^3": (1e3, "kg/m^3"),
    "N": (1.0, "N"), "kN": (1e3, "N"), "N m": (1.0, "N m"), "kN m": (1e3, "N m"), "N mm": (1e-3, "N m"),
    "W": (1.0, "W"), "kW": (1e3, "W"), "N/A": (1.0, "N/A"), "N m/A": (1.0, "N m/A"), "mN m/A": (1e-3, "N m/A"),
    "Pa": (1.0, "Pa"), "MPa": (1e6, "Pa"), "GPa": (1e9, "Pa"), "N/m": (1.0, "N/m"), "N/um": (1e6, "N/m"),
    "N/mm": (1e3, "N/m"), "N m/rad": (1.0, "N m/rad"), "kN m/rad": (1e3, "N m/rad"),
    "N s/m": (1.0, "N s/m"), "N s/mm": (1e3, "N s/m"),
    "N m s/rad": (1.0, "N m s/rad"), "N m s": (1.0, "N m s/rad"), "N mm s/rad": (1e-3, "N m s/rad"),
}  # fmt: skip
"""Factor to SI and the SI unit, by the spelling in a file."""

SPELLINGS = {"°": "deg", "degree": "deg", "degrees": "deg", "sec": "s", "meter": "m", "metre": "m", "kgs": "kg"}
"""Other spellings of units, which messages correct."""

_WRITTEN = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.,].*?)\s*")


_OF_SLIDES = {"m", "m/s", "m/s^2", "N", "N/m", "N s/m", "kg"}
_OF_HINGES = {"rad", "rad/s", "rad/s^2", "N m", "N m/rad", "N m s/rad", "kg m^2"}


def unit_mismatch(fields: dict[str, Any], slides: bool) -> str:
    """What is wrong with the first of a joint's fields whose unit is that of a joint which moves otherwise.

    Empty if all fit. Dry friction of a joint that turns is an arm in m, of one that slides a number.
    """
    for name, value in fields.items():
        arm = name.rpartition(".")[2] == "coulomb"
        strange = ({"m"} if arm else _OF_HINGES) if slides else _OF_HINGES | _OF_SLIDES - {"m"} if arm else _OF_SLIDES
        for text in value if isinstance(value, (list, tuple)) else (value,):
            written = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
            if written is not None and UNITS.get(written[2], (0.0, ""))[1] in strange:
                return f"{name}: the joint {'slides' if slides else 'turns'}, and {text!r} is of one that does not"
    return ""


def in_si(value: Any, unit: str) -> Any:
    """A value with texts such as ``60 mm``, also inside lists and mappings, as numbers in the SI unit ``unit``.

    A text with a unit of another kind stays a text, which then is no number; so does every text if ``unit`` is empty.

    >>> in_si(["60 mm", 0.1, "2 kg"], "m")
    [0.06, 0.1, '2 kg']
    """
    if not unit:
        return value
    if isinstance(value, dict):
        return {key: in_si(item, unit) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [in_si(item, unit) for item in value]
    written = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if written is None or UNITS.get(written[2], (0.0, ""))[1] != unit:
        return value
    factor = UNITS[written[2]][0]
    # a factor below one has an exact inverse, and 60 / 1000 is the double nearest to 0.06; 60 * 0.001 is not always
    inverse = round(1.0 / factor)
    return float(written[1]) / inverse if inverse > 1 and factor * inverse == 1.0 else float(written[1]) * factor
