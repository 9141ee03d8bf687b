"""Options that several commands share, and how texts of options are read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .catalogue import CHOICES
from .terminal import note

if TYPE_CHECKING:
    from ..analysis.workspace import PoseCoordinates
    from ..description import Robot
    from ..model import Model


def measured(*units: str) -> dict[str, Any]:
    """What makes an option read numbers as ``number`` does."""

    def read(text: str) -> float:
        try:
            return number("", text, *units)
        except InputError as error:
            raise typer.BadParameter(str(error).removeprefix(": ")) from None

    return {"parser": read, "metavar": f"<{' or '.join(units)}>"}


RobotName = Annotated[str, typer.Argument(help="Library robot or robot file.")]
RobotOrDefault = Annotated[str | None, typer.Argument(help="Library robot or robot file; 'polypod list' shows them.")]
MotionName = Annotated[str | None, typer.Argument(help="Published motion or motion file.")]
WithFriction = Annotated[bool, typer.Option(help="Include friction.")]
SameLegs = Annotated[bool, typer.Option("--same-legs", help="Use one value for all legs.")]
Replace = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Rate = Annotated[float | None, typer.Option(help="Sampling rate; default: that of the motion.", **measured("Hz"))]
SetPointsFile = Annotated[
    Path | None,
    typer.Option("--setpoints", help="Write time, q, qdot, qddot and force of every drive to this file, .csv or .bin."),
]
DriveRate = Annotated[float, typer.Option("--drive-rate", help="Rows per second of --setpoints.", **measured("Hz"))]
Draw = Annotated[bool, typer.Option("--draw/--no-draw", help="Draw the picture.")]
Controller = Annotated[
    str | None,
    typer.Option(
        help=f"Controller: {', '.join(CHOICES['controllers'])}. Default: the first; the second for flexible platforms."
    ),
]
MassError = Annotated[float | None, typer.Option(help="Factor on all masses in the controller's model.")]
Delay = Annotated[float | None, typer.Option(help="Delay of the actuators.", **measured("s"))]
Saturation = Annotated[
    str | None,
    typer.Option(help="Largest actuator force, such as '2 kN'; 'drives' for the limits of the robot file."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameters",
        metavar="PATHS",
        help="Parameters to export as inputs (paths, comma-separated): platform.mass,'legs.*.base'; 'all' for every "
        "one that is not zero.",
    ),
]
At = Annotated[list[str] | None, typer.Option("--at", help="Pose as offsets from home, such as z=20mm; repeatable.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a parameter of the robot, such as platform.mass=60 or 'legs.*.max_force=2 kN'; repeatable. "
        "'polypod show' lists the paths.",
    ),
]
"""Option of every command that takes a robot."""


# -- the robot ---------------------------------------------------------------------------------------------------------


def overrides(settings: Sequence[str] | None) -> dict[str, Any]:
    """Values by path of what was set."""
    from ..files.settings import parse_setting

    return dict(map(parse_setting, settings or ()))


def with_overrides(robot: str | Path, settings: Sequence[str] | None) -> str | Path | Robot:
    """The robot that a command's argument names: with other parameters a robot, else the name itself.

    A name leads messages to lines of its file, so it stays one where nothing is set.
    """
    from ..files import load

    return load(robot, overrides(settings)) if settings else robot


def load_model(robot: str | Path, settings: Sequence[str] | None) -> Model:
    """The model of the robot that a command's argument names."""
    from ..model import Model
    from ..stages import whole_model

    return whole_model(Model(with_overrides(robot, settings)))


def rigid_model(robot: str | Path, settings: Sequence[str] | None) -> Model:
    """The model of a command that knows rigid platforms only; it says so if the robot's is flexible."""
    from ..files.robot_files import with_file_lines
    from ..model import Model
    from ..stages import whole_model

    meant = with_overrides(robot, settings)
    with with_file_lines(meant):
        model = whole_model(Model(meant))
        if model.robot.flexible:
            note(f"the platform of {model.robot.name!r} is flexible; this command treats it as rigid")
        return model.rigid


# -- texts -------------------------------------------------------------------------------------------------------------


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


def numbers(option: str, text: str, units: Sequence[str], names: Sequence[str]) -> list[float]:
    """Numbers of an option, each in its SI unit or with another: ``0 0 -2 kN 0 0 0``, with or without commas."""
    parts = re.split(r"\s*,\s*|\s+(?=[-+.\d])", text.strip())
    if len(parts) != len(units):
        raise InputError(
            f"{option}: {len(units)} numbers are needed ({', '.join(names)}), got {len(parts)} in {text!r}"
        )
    return [number(option, part, unit) for part, unit in zip(parts, units, strict=True)]


def named_values(option: str, texts: Sequence[str], example: str) -> dict[str, str]:
    """Texts of values by name from texts such as ``z=20mm``."""
    found = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        if not (name and equals):
            raise InputError(f"{option}: NAME=VALUE is needed, such as {example}, got {text!r}")
        found[name] = value
    return found


def parse_at(texts: Sequence[str] | None, space: PoseCoordinates) -> dict[str, float]:
    """Coordinates from texts such as ``z=20 mm`` and ``pitch=5 deg``; plain numbers are m and rad."""
    given = named_values("--at", texts or (), "z=20mm or pitch=5deg")
    return {name: number(f"--at: {name}", value, space.units[space.index(name)]) for name, value in given.items()}


def check_rate(rate: float | None) -> None:
    """Raise for a rate [Hz] that is not positive; None is the motion's own."""
    if rate is not None and not rate > 0:
        raise InputError(f"--rate: must be greater than 0 Hz, got {rate:g}")


def parse_saturation(saturation: str | None) -> float | str | None:
    """A largest force from a text with a unit of force or torque or none; the word for those of the drives stays."""
    if saturation is None or saturation == "drives":
        return saturation
    return number("--saturation", saturation, "N", "N m")
