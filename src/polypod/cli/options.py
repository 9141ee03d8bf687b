"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

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
