"""``polypod singularity``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, Styled, command
from .options import At, Replace, RobotName, Settings, parse_at, rigid_model
from .terminal import working


@command("singularity", "singularity hexapod --at z=-50mm --out singularity")
def singularity(
    robot: RobotName,
    at: At = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for data and figures.")] = None,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..analysis.singularity import (
        margins_table,
        nearest_data,
        nearest_singularity,
        nearest_table,
        reached,
        singularity,
    )
    from ..analysis.workspace import PoseCoordinates
    from ..output.folder import check_target
    from ..results.report.surveys import SINGULARITY_FILES, write_singularities

    if out is not None:
        check_target(out, force, SINGULARITY_FILES)
    with working("singularity") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        space = PoseCoordinates(model)
        here = parse_at(at, space)
        pose = space.poses(space.point(here)[None])[0]
        report = singularity(model, pose)
        progress("nearest singular poses")
        found = reached(nearest_singularity(model, pose))
        nearest = {name: (one, singularity(model, one.pose)) for name, one in found.items()}
        if out is not None:
            write_singularities(model, here, list(nearest.values()), out, force, progress)
    return Answer(
        [
            Styled(model.robot.name, f": {model.robot.title}"),
            margins_table(report),
            nearest_table(nearest) if nearest else "No singular pose within reach in which the legs close.",
            *([] if out is None else [f"Figures and data: {out}"]),
        ],
        {
            "here": {"actuation": report.actuation, "constraint": report.constraint, "leg": report.leg},
            "nearest": {name: nearest_data(*one) for name, one in nearest.items()},
        },
    )
