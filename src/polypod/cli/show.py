"""``polypod show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, Styled, Target, command
from .options import Draw, Replace, RobotName, Settings, with_overrides
from .terminal import working


def picture_target(picture: Path | None, name: str, force: bool) -> Target:
    """The file of a picture: one that is named, or one in polypod's own folder, which is replaced without asking."""
    from ..output.safe_names import file_name

    default = Path("polypod-results") / f"{file_name(name)}.png"
    return Target(default, force=True) if picture is None else Target(picture, force)


@command("show", "show kim-ryu --picture kim-ryu.png")
def show(
    robot: RobotName,
    picture: Annotated[
        Path | None, typer.Option("--picture", "-p", help="Picture file; default: polypod-results/ROBOT.png.")
    ] = None,
    draw: Draw = True,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..description import Robot
    from ..files import load
    from ..files.robot_files import with_file_lines
    from ..results.figures import robot_picture
    from ..results.figures.picture import write_picture
    from ..results.overview import describe, overview, parameters_table

    with working("showing") as progress:
        progress("compiling the robot")
        meant = with_overrides(robot, settings)
        described = meant if isinstance(meant, Robot) else load(meant)
        target = picture_target(picture, described.name, force) if draw else None
        with with_file_lines(meant):
            data = describe(described)
        if target is not None:
            progress("drawing")
            write_picture(target.path, robot_picture, described, force=target.force)
    return Answer(
        [
            Styled(data["name"], f": {data['title']}"),
            *([Styled(data["reference"], style="dim")] if data["reference"] else []),
            "",
            *overview(data),
            parameters_table(data),
            *([] if target is None else [f"Picture: {target}"]),
        ],
        data | {"picture": None if target is None else str(target)},
    )
