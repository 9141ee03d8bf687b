"""Numbers written as people write them, with a decimal comma or another unit: what to write instead."""

from __future__ import annotations

import re
from typing import Any

from .units import SPELLINGS, UNITS

_WRITTEN = re.compile(r"\s*(?P<number>[-+]?(?=[.,]?\d)[\d.,]+(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s.,].*?)?\s*")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


def advice(text: str, unit: str) -> str:
    """What to write instead of a text that is no number, for a field in ``unit``; empty if nobody can know.

    >>> advice("300,5 g", "kg")
    'write 300.5 g'
    >>> advice("50 N s/m", "N s/m or N m s/rad")
    'write 50 N s/m'
    >>> advice("2 kp", "N or N m")
    'write a number in N, kN, N m, kN m or N mm'
    >>> advice("66 lb", "kg")
    'write a number in kg, g or t'
    """
    written = _WRITTEN.fullmatch(text)
    numbers = _readings(written["number"]) if written else []
    if written is None or not numbers:
        return ""
    given = SPELLINGS.get(written["unit"] or "", written["unit"] or "")
    units = [] if unit in ("", "1") else re.split(r" or |, ", unit)
    meant = UNITS.get(given, (1.0, given))[1]
    if not given:
        return "write " + " or ".join(numbers) if "," in text else ""
    if meant in units:
        return "write " + " or ".join(f"{number} {given}" for number in numbers)
    kinds = {UNITS[name][1] for name in units if name in UNITS}
    known = [name for name, (_, si) in UNITS.items() if si in kinds]
    if known:
        return f"write a number in {' or '.join(filter(None, (', '.join(known[:-1]), known[-1])))}"
    return f"write a plain number{f' in {unit}' if units else '' if unit else ' in SI units'}"


def list_advice(value: Any, count: int) -> str:
    """What to write instead of a list of ``count`` numbers that is none; empty if nobody can know.

    >>> list_advice(["0.2 -0.3 0.0"], 3)
    'commas are missing: write [0.2, -0.3, 0.0]'
    >>> list_advice(-9.81, 3)
    'write them in brackets, such as [0, 0, -9.81]'
    """
    items = value if isinstance(value, (list, tuple)) else [value]
    if all(type(item) in (int, float) for item in items):
        if not isinstance(value, (list, tuple)):
            return f"write them in brackets, such as [{'0, ' * (count - 1)}{value}]" if count == 3 else ""
        # [0,7, 0,7] is a list of four whole numbers: a guess at what was meant
        whole = len(items) > count and any(type(item) is int for item in items)
        return "numbers have a decimal point, a comma starts the next one" if whole else ""
    numbers = [part for item in items for part in str(item).replace(",", " ").split()]
    if len(numbers) != count or not all(_is_number(part) for part in numbers):
        return ""
    lacking = "brackets are missing" if isinstance(value, str) else "commas are missing"
    return f"{lacking}: write [{', '.join(numbers)}]"


def _readings(number: str) -> list[str]:
    """What a number with commas may mean, written with a point: 1,000 is a thousand or one."""
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
