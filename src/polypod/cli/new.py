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
    name: Annotated[str | None, typer.Argument(help="Name of the robot, motion or study, or file to write.")] = None,
    motion: Annotated[bool, typer.Option("--motion", help="Write a motion file instead of a robot file.")] = False,
    study: Annotated[bool, typer.Option("--study", help="Write a study file, for sweep and optimise.")] = False,
    catalogue: Annotated[bool, typer.Option("--catalogue", help="Write a drive catalogue, for drives.")] = False,
    tolerances: Annotated[bool, typer.Option("--tolerances", help="Write a tolerance file, for accuracy.")] = False,
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
    kinds = (("motion", motion), ("study", study), ("tolerances", tolerances), ("catalogue", catalogue))
    others = [what for what, chosen in kinds if chosen]
    if len(others) > 1:
        raise InputError(f"--{others[1]}: leave out --{others[0]}; one file is written at a time")
    what = others[0] if others else "robot"
    if flexible and others:
        raise InputError(f"--flexible: applies to robots; leave out --{what}")
    if kind is not None and (others or flexible):
        raise InputError(
            f"--kind: makes a robot with a rigid platform; leave out {f'--{what}' if others else '--flexible'}"
        )
    if kind is None and given:
        raise InputError(f"--{given[0].replace('_', '-')}: requires --kind {', '.join(CHOICES['robot kinds'])}")
    name = name or (
        "drives" if catalogue else "tolerances" if tolerances else f"my-{'study' if study else kind or 'hexapod'}"
    )
    file = Path(f"{name}.csv" if catalogue else f"{name}.yaml")
    if name.endswith((".yaml", ".yml", ".csv")):
        file, name = Path(name), Path(name).stem
    if what in ("robot", "motion") and name in ((*PUBLISHED, AROUND_HOME) if motion else library()):
        raise InputError(f"name: {name!r} is a {what} of the library; choose another, such as 'my-{name}'")
    platform = "flexible" if flexible else "rigid"
    text = template(what, name, platform) if kind is None else robot_text(kind, name, sizes)
    target = Target(file if out is None else out, force)
    if what == "catalogue":
        return Answer(files={target: text}, after=f". Edit it, then:\n  polypod drives ROBOT --catalogue {target}")
    check = f"{target} --robot ROBOT" if what in ("motion", "tolerances") else target
    run = {
        "motion": f"run ROBOT {target}", "study": f"sweep {target}",
        "tolerances": f"accuracy ROBOT {target}",
    }.get(what, f"run {target}")  # fmt: skip
    return Answer(files={target: text}, after=f". Edit it, then:\n  polypod check {check}\n  polypod {run}")
