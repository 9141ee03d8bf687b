"""``polypod import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .catalogue import CHOICES
from .frame import Answer, Target, command
from .options import Replace, named_values, number, split_paths
from .terminal import working


@command("import", "import five-bar/robot.urdf --close --platform effector -o five-bar.yaml")
def import_(
    file: Annotated[Path, typer.Argument(help="MJCF (.xml, .mjcf) or URDF file.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Robot file; default: NAME.yaml.")] = None,
    platform: Annotated[str | None, typer.Option(help="Body or frame to use as the platform.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the robot; default: that in the file.")] = None,
    hold: Annotated[list[str] | None, typer.Option(help="Joint to lock at its position; repeatable.")] = None,
    actuated: Annotated[
        list[str] | None, typer.Option(help="Actuated joint, if the file has none; repeatable.")
    ] = None,
    at: Annotated[list[str] | None, typer.Option(help="JOINT=VALUE at home, such as motor=30deg; repeatable.")] = None,
    close: Annotated[bool, typer.Option("--close", help="Close loops that are open in the file.")] = False,
    limb: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="FROM TO", help="Limb of a larger robot: the body that stays and the one that moves."),
    ] = None,
    dof: Annotated[
        str | None, typer.Option(help="Joints whose positions are the coordinates, such as pitch,roll.")
    ] = None,
    loops: Annotated[Path | None, typer.Option(help="Loops of a URDF; default: robot.yaml next to it.")] = None,
    format: Annotated[
        str | None, typer.Option(help=f"{', '.join(CHOICES['formats'])}; default: from the suffix.")
    ] = None,
    force: Replace = False,
) -> Answer:
    from ..exchange import import_robot
    from ..file_kinds.checking import checked_text
    from ..output.safe_names import file_name

    given = named_values("--at", at or (), "motor=30deg or slide=20mm")
    home = {joint: number(f"--at: {joint}", value, "m", "rad") for joint, value in given.items()}
    with working("importing"):
        imported = import_robot(
            file, platform, format=format, loops=loops, hold=hold or (), actuated=actuated or (), at=home, close=close,
            limb=limb or (), dof=split_paths([dof] if dof else None),
        )  # fmt: skip
    if name:
        imported = imported._replace(robot=imported.robot.model_copy(update={"name": name}))
    target = Target(out or Path(f"{file_name(imported.robot.name)}.yaml"), force)
    text = imported.text(file.name)
    with working("checking"):
        remarks = [*imported.remarks, *checked_text(text, target.path)]
    return Answer(
        data={"file": str(target), "robot": imported.robot.name, "remarks": remarks},
        notes=remarks,
        files={target: text},
        after=f". Check it:\n  polypod check {target}",
    )
