"""Units that a number of a file may be written with, as factors to SI."""

from __future__ import annotations

import math
import re
from typing import Any

from ..errors import InputError

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
    "kg/m^3": (1.0, "kg/m^3"), "g/cm^3": (1e3, "kg/m^3"), "kg/m": (1.0, "kg/m"), "g/m": (1e-3, "kg/m"),
    "N": (1.0, "N"), "kN": (1e3, "N"), "N m": (1.0, "N m"), "kN m": (1e3, "N m"), "N mm": (1e-3, "N m"),
    "W": (1.0, "W"), "kW": (1e3, "W"), "N/A": (1.0, "N/A"), "N m/A": (1.0, "N m/A"), "mN m/A": (1e-3, "N m/A"),
    "Pa": (1.0, "Pa"), "MPa": (1e6, "Pa"), "GPa": (1e9, "Pa"), "N/m": (1.0, "N/m"), "N/um": (1e6, "N/m"),
    "N/mm": (1e3, "N/m"), "kN/m": (1e3, "N/m"), "kN/mm": (1e6, "N/m"),
    "N m/rad": (1.0, "N m/rad"), "kN m/rad": (1e3, "N m/rad"), "N mm/rad": (1e-3, "N m/rad"),
    "N s/m": (1.0, "N s/m"), "N s/mm": (1e3, "N s/m"), "kN s/m": (1e3, "N s/m"),
    "N m s/rad": (1.0, "N m s/rad"), "N m s": (1.0, "N m s/rad"), "N mm s/rad": (1e-3, "N m s/rad"),
}  # fmt: skip
"""Factor to SI and the SI unit, by the spelling in a file."""

STANDARD_GRAVITY = 9.80665
"""m/s^2: what an acceleration of ``1 g`` is."""

SPELLINGS = {"°": "deg", "degree": "deg", "degrees": "deg", "sec": "s", "meter": "m", "metre": "m", "kgs": "kg"}
"""Other spellings of units, which messages correct."""

_WRITTEN = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.,].*?)\s*")


OF_SLIDES = {"m", "m/s", "m/s^2", "N", "N/m", "N s/m", "kg"}
OF_HINGES = {"rad", "rad/s", "rad/s^2", "N m", "N m/rad", "N m s/rad", "kg m^2"}
"""SI units of what slides, and of what turns."""

_NEEDED = {
    (True, False): "a prismatic joint needs units of length and force (m, N, ...)",
    (False, False): "a revolute joint needs units of angle and moment (rad, N m, ...)",
    (True, True): "a prismatic joint needs a friction coefficient without a unit",
    (False, True): "a revolute joint needs an arm in m (friction coefficient times bearing radius)",
}


def unit_mismatch(fields: dict[str, Any], slides: bool) -> str:
    """The error of the first of a joint's fields whose unit belongs to the other kind of motion; empty if none has.

    Dry friction of a revolute joint is an arm in m, of a prismatic joint a plain number.
    """
    for name, value in fields.items():
        arm = name.rpartition(".")[2] == "coulomb"
        strange = ({"m"} if arm else OF_HINGES) if slides else OF_HINGES | OF_SLIDES - {"m"} if arm else OF_SLIDES
        for text in value if isinstance(value, (list, tuple)) else (value,):
            written = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
            if written is not None and UNITS.get(written[2], (0.0, ""))[1] in strange:
                return f"{name}: {_NEEDED[slides, arm]}, got {text!r}"
    return ""


def written_unit(text: Any) -> str:
    """The SI unit that a text such as ``60 mm`` is of; empty for a plain number or an unknown unit."""
    written = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    return UNITS.get(written[2], (0.0, ""))[1] if written is not None else ""


def in_si(value: Any, unit: str) -> Any:
    """A value with texts such as ``60 mm``, also inside lists and mappings, as numbers in the SI unit ``unit``.

    A text with a unit of another kind stays a text, which then is no number; so does every text if ``unit`` is empty.

    Examples
    --------
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
    if written is not None and written[2] == "g" and unit == "m/s^2":  # of an acceleration, not a gram
        return float(written[1]) * STANDARD_GRAVITY
    if written is None or UNITS.get(written[2], (0.0, ""))[1] != unit:
        return value
    factor = UNITS[written[2]][0]
    # a factor below one has an exact inverse, and 60 / 1000 is the double nearest to 0.06; 60 * 0.001 is not always
    inverse = round(1.0 / factor)
    return float(written[1]) / inverse if inverse > 1 and factor * inverse == 1.0 else float(written[1]) * factor


def argument_in_si(name: str, value: Any, unit: str) -> Any:
    """An argument of a function with texts such as ``60 mm`` as numbers in SI; others stay as they are.

    ``unit`` may name several (``N/m or N m/rad``). A text that is not a quantity of such a unit is an ``InputError``
    that names the argument and says what to write.

    Examples
    --------
    >>> argument_in_si("z", "450 mm", "m"), argument_in_si("z", 0.45, "m")
    (0.45, 0.45)
    """
    if isinstance(value, (list, tuple)) and not isinstance(value, str):
        return [argument_in_si(name, item, unit) for item in value] if _has_text(value) else value
    if not isinstance(value, str):
        return value
    for one in unit.split(" or "):
        number = in_si(value, one)
        if not isinstance(number, str):
            return number
    instead = advice(value, unit) or f"write a number in {unit}, such as '1 {unit.split(' or ')[0]}'"
    raise InputError(f"{name}: must be in {unit or 'SI units'}, got {value!r}; {instead}", code="unit")


def _has_text(values: Any) -> bool:
    return any(isinstance(item, str) or (isinstance(item, (list, tuple)) and _has_text(item)) for item in values)


# ----------------------------------------------------------------------------------------------------------------------
# Numbers written as people write them, with a decimal comma or another unit: what to write instead.

_WRITTEN_BY_PEOPLE = re.compile(r"\s*(?P<number>[-+]?(?=[.,]?\d)[\d.,]+(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s.,].*?)?\s*")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


def advice(text: str, unit: str) -> str:
    """What to write instead of a text that is no number, for a field in ``unit``; empty if nobody can know.

    Examples
    --------
    >>> advice("300,5 g", "kg")
    'write 300.5 g'
    >>> advice("50 N s/m", "N s/m or N m s/rad")
    'write 50 N s/m'
    >>> advice("2 kp", "N or N m")
    'write a number in N, kN, N m, kN m or N mm'
    >>> advice("66 lb", "kg")
    'write a number in kg, g or t'
    """
    written = _WRITTEN_BY_PEOPLE.fullmatch(text)
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

    Examples
    --------
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
        return "numbers have a decimal point; a comma starts the next number" if whole else ""
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
