"""Numbers written as people write them, with a unit or a decimal comma: what to write instead."""

from __future__ import annotations

import re
from typing import Any

_WRITTEN = re.compile(r"\s*(?P<number>[-+]?(?=[.,]?\d)[\d.,]+(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s.,].*?)?\s*")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_SPELLINGS = {"°": "deg", "degree": "deg", "degrees": "deg", "sec": "s", "meter": "m", "metre": "m", "kgs": "kg"}
_SI = {"mm": (1e-3, "m"), "cm": (1e-2, "m"), "km": (1e3, "m"), "g": (1e-3, "kg"), "t": (1e3, "kg"), "ms": (1e-3, "s"),
       "min": (60.0, "s"), "kN": (1e3, "N"), "kg mm^2": (1e-6, "kg m^2"), "Hz": (1.0, "1/s"), "MPa": (1e6, "Pa"),
       "GPa": (1e9, "Pa")}  # fmt: skip


def advice(text: str, unit: str) -> str:
    """What to write instead of a text that is no number, for a field in ``unit``; empty if none can be told.

    >>> advice("300 kg", "kg")
    'write a plain number in kg without its unit: 300'
    >>> advice("300,5", "kg")
    'write a decimal point, not a comma: 300.5'
    >>> advice("60,5 mm", "m")
    'write a plain number in m with a decimal point: 0.0605'
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return ""
    numbers = _readings(written["number"])
    if not numbers:
        return ""
    given = written["unit"] or ""
    given = _SPELLINGS.get(given, given)
    comma = "," in written["number"]
    allowed = [] if unit in ("", "1") else re.split(r" or |, ", unit)
    if given in ("deg", "rad") and "rad" in allowed:
        return "write " + " or ".join(f"'{number} {given}'" for number in numbers)
    if not given:
        return f"write a decimal point, not a comma: {' or '.join(numbers)}" if comma else ""
    if not allowed:  # a pure number, or a place of which the unit is not known here
        return f"write a plain number{'' if unit else ' in SI units'}"
    if given in allowed:
        point = " with a decimal point and" if comma else ""
        return f"write a plain number in {given}{point} without its unit: {' or '.join(numbers)}"
    factor, meant = _SI.get(given, (1.0, ""))
    if meant not in allowed:
        return f"write a plain number in {unit}"
    values, point = [f"{factor * float(number):.12g}" for number in numbers], " with a decimal point" if comma else ""
    return f"write a plain number in {meant}{point}: {' or '.join(values)}"


def list_advice(value: Any, count: int) -> str:
    """What to write instead of a list of ``count`` numbers that is none; empty if none can be told.

    >>> list_advice(["0.2 -0.3 0.0"], 3)
    'commas are missing: write [0.2, -0.3, 0.0]'
    >>> list_advice(-9.81, 3)
    'write them in brackets, such as [0, 0, -9.81]'
    """
    items = value if isinstance(value, (list, tuple)) else [value]
    if all(type(item) in (int, float) for item in items):
        if not isinstance(value, (list, tuple)):
            zeros = "0, " * (count - 1)
            return f"write them in brackets, such as [{zeros}{value}]" if count == 3 else ""
        # [0,7, 0,7] is a list of four whole numbers: a guess at what was meant
        whole = len(items) > count and any(type(item) is int for item in items)
        return "numbers have a decimal point, a comma starts the next one" if whole else ""
    numbers = [part for item in items for part in str(item).replace(",", " ").split()]
    if len(numbers) != count or not all(_is_number(part) for part in numbers):
        return ""
    lacking = "brackets are missing" if isinstance(value, str) else "commas are missing"
    return f"{lacking}: write [{', '.join(numbers)}]"


def _readings(number: str) -> list[str]:
    """What a number with commas may mean, spelt with a point: 1,000 is a thousand or one."""
    readings = [number.replace(",", ".")] if number.count(",") <= 1 and not ("," in number and "." in number) else []
    if _THOUSANDS.fullmatch(number):
        readings.append(number.replace(",", ""))
    if number.count(",") == 1 and "." in number and number.index(".") < number.index(","):  # 1.000,5
        readings.append(number.replace(".", "").replace(",", "."))
    return [reading for reading in readings if _is_number(reading)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
