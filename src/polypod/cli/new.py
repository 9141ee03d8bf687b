"""``polypod new``: a commented file to start from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..errors import InputError, UnknownNameError
from .options import Replace, measured
from .sizes import DEFAULTS, robot_text
from .templates import template_part
from .terminal import out, report_errors

EXAMPLE = "Example: polypod new my-delta --delta --arm 0.25, then polypod check my-delta.yaml"
_NAME = re.compile(r"[A-Za-z][\w-]*")


_LENGTH, _ANGLE, _MASS = measured("m"), measured("deg"), measured("kg")


def template(kind: str, name: str, platform: str = "rigid") -> str:
    """Text of a robot or motion file to start from, with ``name`` in it; a robot on a rigid or flexible platform."""
    _check_name(name)
    text = template_part(kind).replace("PLATFORM", template_part(f"platform-{platform}"))
    return text.replace("NAME", name)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(f"name: letters, digits, - and _ after a letter are allowed, got {name!r}")


def new(
    name: str | None = None,
    motion: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    flexible: bool = False,
    robot: str | None = None,
    sizes: Mapping[str, float | None] | None = None,
) -> Path:
    """Write a robot file (or motion file) to start from; returns its path.

    ``robot`` is a kind of robot, ``hexapod``, ``delta``, ``servo-hexapod`` or ``tripod``, that is written from
    ``sizes`` (m, deg, kg), each of which has a default. ``name`` is ``my-hexapod`` or the like unless given; a
    file ``NAME.yaml`` in its place is where the file goes, unless ``out`` says otherwise.
    """
    from ..files import library
    from ..motion import AROUND_HOME, PUBLISHED
    from ..output.atomic import atomic_write

    if motion and flexible:
        raise InputError("--flexible: is about a robot's platform; leave it out for a motion file")
    if robot is not None and robot not in DEFAULTS:
        raise UnknownNameError("kind of robot", robot, tuple(DEFAULTS))
    if robot is not None and (motion or flexible):
        raise InputError(
            f"--{robot}: is a robot on a rigid platform; leave out {'--motion' if motion else '--flexible'}"
        )
    given = [key for key, value in (sizes or {}).items() if value is not None]
    if robot is None and given:
        kinds = ", ".join(f"--{kind}" for kind in DEFAULTS)
        raise InputError(f"--{given[0].replace('_', '-')}: sizes are for a kind of robot; add one of {kinds}")
    name = name or f"my-{robot or 'hexapod'}"
    file = Path(f"{name}.yaml")
    if name.endswith((".yaml", ".yml")):
        file, name = Path(name), Path(name).stem
    kind = "motion" if motion else "robot"
    taken = (*PUBLISHED, AROUND_HOME) if motion else library()
    if name in taken:
        raise InputError(f"name: {name!r} is a {kind} of the library; choose another, such as 'my-{name}'")
    path = file if out is None else Path(out)
    if robot is None:
        text = template(kind, name, "flexible" if flexible else "rigid")
    else:
        _check_name(name)
        text = robot_text(robot, name, sizes or {})
    atomic_write(path, text.encode(), force)
    return path


@report_errors
def command(
    name: Annotated[str | None, typer.Argument(help="Name of the robot or motion, or its file.")] = None,
    motion: Annotated[bool, typer.Option("--motion", help="A motion file instead of a robot file.")] = False,
    flexible: Annotated[bool, typer.Option("--flexible", help="A robot with a flexible platform.")] = False,
    hexapod: Annotated[bool, typer.Option("--hexapod", help="A hexapod (6-UPS) from sizes.")] = False,
    delta: Annotated[bool, typer.Option("--delta", help="A Delta robot from sizes.")] = False,
    servo_hexapod: Annotated[bool, typer.Option("--servo-hexapod", help="A hexapod on servo motors, 6-RSS.")] = False,
    tripod: Annotated[bool, typer.Option("--tripod", help="A tripod (3-RPS) from sizes.")] = False,
    base_radius: Annotated[
        float | None, typer.Option(help="Radius of the joints or motors on the base, m.", **_LENGTH)
    ] = None,
    platform_radius: Annotated[
        float | None, typer.Option(help="Radius of the joints on the platform, m.", **_LENGTH)
    ] = None,
    base_angle: Annotated[
        float | None, typer.Option(help="Angle between two joints of a base pair, deg.", **_ANGLE)
    ] = None,
    platform_angle: Annotated[float | None, typer.Option(help="The same of a platform pair, deg.", **_ANGLE)] = None,
    height: Annotated[float | None, typer.Option(help="Height of the platform at home, m.", **_LENGTH)] = None,
    stroke: Annotated[
        float | None, typer.Option(help="Stroke of the legs, half of it each way from home, m.", **_LENGTH)
    ] = None,
    arm: Annotated[float | None, typer.Option(help="Length of the motors' arms, m.", **_LENGTH)] = None,
    mass: Annotated[float | None, typer.Option(help="Mass of the platform with its load, kg.", **_MASS)] = None,
    leg_mass: Annotated[float | None, typer.Option(help="Mass of one leg, kg.", **_MASS)] = None,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="File; NAME.yaml if not given.")] = None,
    force: Replace = False,
) -> None:
    """Write a commented robot file (a valid hexapod, or another kind from sizes) or motion file to start from."""
    flags = {"hexapod": hexapod, "delta": delta, "servo-hexapod": servo_hexapod, "tripod": tripod}
    chosen = [kind for kind, flag in flags.items() if flag]
    if len(chosen) > 1:
        raise InputError(f"--{chosen[1]}: one kind of robot a file, got {' and '.join(f'--{kind}' for kind in chosen)}")
    sizes = {
        "base_radius": base_radius, "platform_radius": platform_radius, "base_angle": base_angle,
        "platform_angle": platform_angle, "height": height, "stroke": stroke, "arm": arm, "mass": mass,
        "leg_mass": leg_mass,
    }  # fmt: skip
    path = new(name, motion, out_file, force, flexible, chosen[0] if chosen else None, sizes)
    console = out()
    console.print(f"Wrote {escape(str(path))}. Edit it, then:")
    console.print(f"  polypod check {escape(str(path))}{' --robot ROBOT' if motion else ''}")
    console.print(f"  polypod run {f'ROBOT {path}' if motion else path}")
