"""``polypod drives``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, Target, command
from .options import Rate, Replace, RobotName, Settings, WithFriction, check_rate, rigid_model
from .terminal import working


@command("drives", "drives hexapod hexapod-tour --catalogue drives.csv")
def drives(
    robot: RobotName,
    motions: Annotated[
        list[str] | None, typer.Argument(help="Motions that the drives must make; default: that of the robot.")
    ] = None,
    catalogue: Annotated[
        Path | None, typer.Option(help="CSV file of drives; 'polypod new --catalogue' writes one to start from.")
    ] = None,
    per_leg: Annotated[
        bool, typer.Option("--per-leg", help="Also choose the cheapest drive for each actuator by itself.")
    ] = False,
    body: Annotated[
        str | None, typer.Option(help="Body of the legs that carries the mass of its drive, such as lower.")
    ] = None,
    rate: Rate = None,
    friction: WithFriction = True,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="PNG, SVG or PDF figure: force against speed.")
    ] = None,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..design.drives import select_drives
    from ..design.figures import drive_envelopes
    from ..errors import InputError
    from ..results.figures.picture import write_picture

    check_rate(rate)
    if catalogue is None:
        raise InputError("--catalogue: a CSV file of drives is needed; 'polypod new --catalogue' writes one")
    target = None if out is None else Target(out, force)
    with working("choosing drives") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        found = select_drives(
            model, list(motions or []), catalogue, per_leg=per_leg, body=body, rate=rate, friction=friction
        )
        if target is not None:
            progress("drawing")
            write_picture(target.path, drive_envelopes, found, f"{model.robot.name}: drives of {catalogue.name}",
                          force=force)  # fmt: skip
    listed = found.table()
    chosen = None if found.chosen is None else [one.name for one in found.chosen]
    lacking = ["No drive fits some actuator by itself."] if per_leg and chosen is None else []
    return Answer(
        [listed.practical(), found.sentence(), *lacking, *([] if target is None else [f"Picture: {target}"])],
        {
            "robot": model.robot.name,
            "drives": [
                record | {"use": one.use, "fits": one.fits, "price": None if math.isnan(one.candidate.price) else
                          one.candidate.price, "by_actuator": one.by_actuator.tolist()}
                for record, one in zip(listed.records(), found.fits, strict=False)
            ],
            "best": None if found.best is None else found.best.name,
            "per_leg": chosen,
            "notes": list(found.notes),
        },
        [text.replace("say which body of the legs carries them", "--body says which body of the legs carries them")
         for text in found.notes],
    )  # fmt: skip
