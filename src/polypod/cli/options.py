"""Options that several commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..errors import InputError

RobotName = Annotated[str, typer.Argument(help="Library robot or robot file.")]
RobotOrDefault = Annotated[str | None, typer.Argument(help="Library robot or robot file; 'polypod list' names them.")]
MotionName = Annotated[str | None, typer.Argument(help="Published motion or motion file.")]
WithFriction = Annotated[bool, typer.Option(help="Include friction.")]
SameLegs = Annotated[bool, typer.Option("--same-legs", help="One number for all legs.")]
Replace = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameters",
        metavar="PATHS",
        help="Numbers of the robot that are inputs rather than constants, by their paths, with commas between or the "
        "option given several times: platform.mass,'legs.*.base'; all for every number that is not zero.",
    ),
]
"""Option of commands whose functions take numbers of the robot."""

At = Annotated[
    list[str] | None, typer.Option("--at", help="Where: NAME=VALUE, such as z=20mm or pitch=5deg; from home.")
]
"""Option of commands that look at one pose."""


def split_paths(texts: Sequence[str] | None) -> tuple[str, ...]:
    """Paths of texts that have commas between paths."""
    return tuple(path.strip() for text in texts or () for path in text.split(",") if path.strip())


def number(option: str, text: str, *units: str) -> float:
    """A finite number of an option in the first of some units, or written with any unit of their kinds: ``350 mm``."""
    from ..description.quantities import LARGEST_NUMBER
    from ..description.units import UNITS, in_si

    value: float | str = text
    for unit in units:
        factor, si = UNITS.get(unit, (1.0, unit))
        value = in_si(text, si)
        if value != text:
            value = float(value) / factor
            break
    try:
        value = float(value)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        kinds = {UNITS[unit][1] for unit in units if unit in UNITS}
        known = ", ".join(name for name, (_, kind) in UNITS.items() if kind in kinds)
        with_unit = f", or one with its unit ({known})" if known else ""
        raise InputError(f"{option}: a number in {' or '.join(units)} is needed{with_unit}, got {text!r}")
    if abs(value) > LARGEST_NUMBER:
        raise InputError(f"{option}: at most {LARGEST_NUMBER:g} is allowed, as in files, got {text!r}")
    return value


def check_rate(rate: float | None) -> None:
    """Raise for a rate [Hz] that is not positive; None is the motion's own."""
    if rate is not None and not rate > 0:
        raise InputError(f"rate: must be greater than 0 samples per second, got {rate:g}")


def numbers(option: str, text: str, units: Sequence[str], names: Sequence[str]) -> list[float]:
    """Numbers of an option, each in its SI unit or with another: ``0 0 -2 kN 0 0 0``, with or without commas."""
    parts = re.split(r"\s*,\s*|\s+(?=[-+.\d])", text.strip())
    if len(parts) != len(units):
        raise InputError(
            f"{option}: {len(units)} numbers are needed ({', '.join(names)}), got {len(parts)} in {text!r}"
        )
    return [number(option, part, unit) for part, unit in zip(parts, units, strict=True)]


def measured(*units: str) -> dict[str, Any]:
    """What makes an option read numbers as ``number`` does."""

    def read(text: str) -> float:
        try:
            return number("", text, *units)
        except InputError as error:
            raise typer.BadParameter(str(error).removeprefix(": ")) from None

    return {"parser": read, "metavar": f"<{' or '.join(units)}>"}
