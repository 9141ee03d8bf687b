"""``polypod new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .catalogue import CHOICES
from .frame import Answer, Target, command
from .options import Replace, measured

_LENGTH, _ANGLE, _MASS = measured("m"), measured("deg"), measured("kg")
Size = float | None


@command("new", "new my-delta --kind delta --arm 0.25, then polypod check my-delta.yaml", json=False)
def new(
    name: Annotated[str | None, typer.Argument(help="Name of the robot or motion, or file to write.")] = None,
    motion: Annotated[bool, typer.Option("--motion", help="Write a motion file instead of a robot file.")] = False,
    flexible: Annotated[bool, typer.Option("--flexible", help="Write a robot with a flexible platform.")] = False,
    kind: Annotated[
        str | None, typer.Option(help=f"Robot kind to generate from dimensions: {', '.join(CHOICES['robot kinds'])}.")
    ] = None,
    base_radius: Annotated[Size, typer.Option(help="Radius of the joints or motors on the base.", **_LENGTH)] = None,
    platform_radius: Annotated[Size, typer.Option(help="Radius of the joints on the platform.", **_LENGTH)] = None,
    base_angle: Annotated[Size, typer.Option(help="Angle between two joints of a base pair.", **_ANGLE)] = None,
    platform_angle: Annotated[Size, typer.Option(help="Angle between two joints of a platform pair.", **_ANGLE)] = None,
    height: Annotated[Size, typer.Option(help="Height of the platform at home.", **_LENGTH)] = None,
    stroke: Annotated[Size, typer.Option(help="Stroke of the legs, centred at home.", **_LENGTH)] = None,
    arm: Annotated[Size, typer.Option(help="Length of the motor arms.", **_LENGTH)] = None,
    mass: Annotated[Size, typer.Option(help="Mass of the platform and its payload.", **_MASS)] = None,
    leg_mass: Annotated[Size, typer.Option(help="Mass of one leg.", **_MASS)] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File; default: NAME.yaml.")] = None,
    force: Replace = False,
) -> Answer:
    from ..files import library
    from ..files.templates import template
    from ..files.templates.sizes import robot_text
    from ..motion import AROUND_HOME, PUBLISHED

    sizes = {
        "base_radius": base_radius, "platform_radius": platform_radius, "base_angle": base_angle,
        "platform_angle": platform_angle, "height": height, "stroke": stroke, "arm": arm, "mass": mass,
        "leg_mass": leg_mass,
    }  # fmt: skip
    given = [key for key, value in sizes.items() if value is not None]
    if motion and flexible:
        raise InputError("--flexible: applies to robots; leave out --motion")
    if kind is not None and (motion or flexible):
        raise InputError(
            f"--kind: makes a robot with a rigid platform; leave out {'--motion' if motion else '--flexible'}"
        )
    if kind is None and given:
        raise InputError(f"--{given[0].replace('_', '-')}: requires --kind {', '.join(CHOICES['robot kinds'])}")
    name = name or f"my-{kind or 'hexapod'}"
    file = Path(f"{name}.yaml")
    if name.endswith((".yaml", ".yml")):
        file, name = Path(name), Path(name).stem
    what = "motion" if motion else "robot"
    if name in ((*PUBLISHED, AROUND_HOME) if motion else library()):
        raise InputError(f"name: {name!r} is a {what} of the library; choose another, such as 'my-{name}'")
    platform = "flexible" if flexible else "rigid"
    text = template(what, name, platform) if kind is None else robot_text(kind, name, sizes)
    target = Target(file if out is None else out, force)
    check, run = (" --robot ROBOT", f"ROBOT {target}") if motion else ("", target)
    return Answer(
        files={target: text},
        after=f". Edit it, then:\n  polypod check {target}{check}\n  polypod run {run}",
    )
