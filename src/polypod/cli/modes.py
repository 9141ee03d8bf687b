"""``polypod modes``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .frame import Answer, command
from .options import Draw, Replace, RobotName, Settings, numbers, rigid_model
from .show import picture_target
from .terminal import working


@command("modes", "modes hexapod --q '0.42 0.43 0.44 0.43 0.45 0.42' --picture modes.png")
def modes(
    robot: RobotName,
    q: Annotated[
        str | None, typer.Option("--q", help="Actuator positions [m, rad] or with units; default: at home.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", "-p", help="Picture file; default: polypod-results/ROBOT-modes.png.")
    ] = None,
    draw: Draw = True,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..model import Completeness
    from ..results.assembly import modes_table
    from ..results.figures import modes_picture
    from ..results.figures.picture import write_picture

    with working("finding modes") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        names, units = zip(*((a.name, a.unit) for a in model.actuators), strict=True)
        home = model.robot.home.matrix
        at = model.inverse_kinematics(home) if q is None else np.array(numbers("--q", q, units, names))
        target = picture_target(picture, f"{model.robot.name}-modes", force) if draw else None
        progress("solving")
        found = model.assembly_modes(at)
        if target is not None and len(found.pose):
            progress("drawing")
            write_picture(target.path, modes_picture, model.robot, np.asarray(at), found, force=target.force)
    drawn = str(target) if target is not None and len(found.pose) else None
    listed = modes_table(found)
    return Answer(
        [listed.practical(), *([] if drawn is None else [f"Picture: {drawn}"])],
        {
            "q": at,
            "modes": listed.records(),
            "complete": Completeness(int(found.complete)).name.lower(),
            "picture": drawn,
        },
    )
