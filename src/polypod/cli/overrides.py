"""``--set PATH=VALUE``: other numbers for the robot of a command, without another file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .terminal import note

if TYPE_CHECKING:
    from ..description import Robot
    from ..model import Model


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Another value for a number of the robot, by its path: platform.mass=60, 'legs.*.max_force=2 kN', "
        "payload.mass=10. May be given several times; 'polypod show' lists the paths.",
    ),
]
"""Option of every command that takes a robot."""


def overrides(settings: Sequence[str] | None) -> dict[str, Any]:
    """Values by path of what was set."""
    from ..files.settings import parse_setting

    return dict(map(parse_setting, settings or ()))


def with_overrides(robot: str | Path, settings: Sequence[str] | None) -> str | Path | Robot:
    """The robot that a command's argument names: with other numbers a robot, else the name itself.

    A name leads messages to lines of its file, so it stays one where nothing is set.
    """
    from ..files import load

    return load(robot, overrides(settings)) if settings else robot


def rigid_model(robot: str | Path, settings: Sequence[str] | None) -> Model:
    """The model of a command that knows rigid platforms only; it says so if the robot's bends."""
    from ..files.robot_files import with_file_lines
    from ..model import Model

    meant = with_overrides(robot, settings)
    with with_file_lines(meant):
        model = Model(meant)
        if model.robot.flexible:
            note(f"the platform of {model.robot.name!r} bends; here it is taken as rigid")
        return model.rigid
