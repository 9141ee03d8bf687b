"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

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


def measured(*units: str) -> dict[str, Any]:
    """What makes an option read numbers in the first of some units, or with any unit of their kinds: ``350 mm``."""

    def read(text: str) -> float:
        from ..description.units import UNITS, in_si

        for unit in units:
            factor, si = UNITS[unit]
            value = in_si(text, si)
            if value != text:
                return float(value) / factor
        try:
            return float(text)
        except ValueError:
            kinds = {UNITS[unit][1] for unit in units}
            known = ", ".join(name for name, (_, kind) in UNITS.items() if kind in kinds)
            raise typer.BadParameter(
                f"a number in {' or '.join(units)} is needed, or one with its unit ({known}), got {text!r}"
            ) from None

    return {"parser": read, "metavar": f"<{' or '.join(units)}>"}
