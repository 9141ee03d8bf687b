"""``polypod stiffness``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .frame import Answer, Target, command
from .options import At, Replace, RobotName, Settings, measured, numbers, parse_at, rigid_model
from .terminal import working

_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


@command("stiffness", "stiffness hexapod --drive '50 N/um' --wrench '0 0 -2 kN 0 0 0' --map stiffness.png")
def stiffness(
    robot: RobotName,
    wrench: Annotated[
        str | None,
        typer.Option(help="Force [N] and moment [N m] on the platform: six numbers, such as '0 0 -2 kN 0 0 0'."),
    ] = None,
    drive: Annotated[
        float | None,
        typer.Option(help="Stiffness of every drive, if the file gives none.", **measured("N/m", "N m/rad")),
    ] = None,
    at: At = None,
    preload: Annotated[bool, typer.Option(help="Include the preload by static forces.")] = True,
    map_: Annotated[
        Path | None, typer.Option("--map", help="Picture of the lowest frequency over the first two coordinates.")
    ] = None,
    modes_: Annotated[
        Path | None, typer.Option("--modes", help="Mode shapes: a PNG, SVG or PDF picture, or an animation (GIF, MP4).")
    ] = None,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..analysis import deflection, resonances, stiffness
    from ..analysis.stiffness import rotors_text
    from ..analysis.workspace import PoseCoordinates
    from ..results.figures.mode_shapes import animate_modes, mode_shapes
    from ..results.figures.picture import write_picture
    from ..results.figures.stiffness import stiffness_map

    target = None if map_ is None else Target(map_, force)
    shapes = None if modes_ is None else Target(modes_, force)
    with working("stiffness") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        given: dict[str, Any] = {"drive": drive, "preload": preload}
        space = PoseCoordinates(model)
        where = space.point(parse_at(at, space))
        pose = space.poses(where[None])[0]
        answer = stiffness(model, pose, **given)
        modes = resonances(model, pose, **given)
        rotors = rotors_text(model, pose, **given)
        load = None if wrench is None else numbers("--wrench", wrench, ["N"] * 3 + ["N m"] * 3, _WRENCH)
        found = None if load is None else deflection(model, load, pose, **given)
        if target is not None:
            progress("mapping")
            write_picture(target.path, partial(stiffness_map, model, **given), force=force)
        if shapes is not None:
            progress("drawing modes")
            if shapes.path.suffix in (".gif", ".mp4"):
                animate_modes(model, modes, shapes.path, where, force=force)
            else:
                write_picture(shapes.path, mode_shapes, model, modes, where, force=force)
    listed = " ".join(f"{f:.2f}" for f in modes.frequency if not np.isposinf(f))
    return Answer(
        [
            answer.table(model.dof),
            f"Natural frequencies at {', '.join(at or ['home'])}: {listed} Hz.",
            *([rotors] if rotors else []),
            *([] if found is None else [found.table]),
            *([] if target is None else [f"Map: {target}"]),
            *([] if shapes is None else [f"Mode shapes: {shapes}"]),
        ],
        {
            "dof": model.dof,
            "stiffness": answer.matrix,
            "compliance": answer.compliance,
            "frequencies_Hz": modes.frequency,
            "shapes": modes.shape,
            "rotors": rotors,
            "deflection": None if found is None else found.table.records(),
            "map": None if target is None else str(target),
        },
    )
