"""``polypod accuracy``: how far off the platform may be, and because of what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..errors import InputError, StateError
from ..tables import Table, table
from .options import At, Json, RobotName
from .overrides import Settings, rigid_model
from .terminal import note, out, report_errors, show_json, show_table, working
from .workspace import parse_at

EXAMPLE = "Example: polypod accuracy hexapod tolerances.yaml --samples 2000"
_AXES = [("x", "um"), ("y", "um"), ("z", "um"), ("turn x", "urad"), ("turn y", "urad"), ("turn z", "urad")]


def errors_table(rows: dict[str, Any], where: str = "home") -> Table:
    """Errors of the whole platform by how they were found."""
    listed = [(name, *map(float, 1e6 * np.asarray(values))) for name, values in rows.items()]
    return table(f"Errors of the platform at {where}", [("", ""), *_AXES], listed)


def causes_table(found: Any, most: int) -> Table:
    """Standard deviations by cause, largest share first."""
    rows = [
        (name, *map(float, 1e6 * part), float(100 * share))
        for name, part, share in zip(found.names[:most], found.parts, found.share, strict=False)
    ]
    left = len(found.names) - len(rows)
    caption = "Standard deviations; share of the variance, rotations weighted by the platform's size."
    caption += f" {left} more causes are left out (--most)." if left > 0 else ""
    return table("Causes", [("cause", ""), *_AXES, ("share", "%")], rows, caption)


@report_errors
def command(
    robot: RobotName,
    tolerances: Annotated[Path, typer.Argument(help="File of tolerances.")],
    at: At = None,
    samples: Annotated[int, typer.Option(help="Robots drawn at random; 0 for none.")] = 1000,
    most: Annotated[int, typer.Option(help="Causes that are listed.")] = 20,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Errors of the platform from tolerances of numbers, encoders, backlash and heat: by cause, ranked."""
    from ..analysis import budget, load_tolerances, scatter, worst_case
    from ..analysis.workspace import PoseCoordinates
    from ..legs import Chain

    with working("accuracy") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        given = load_tolerances(tolerances)
        space = PoseCoordinates(model)
        pose = space.poses(space.point(parse_at(at or [], space))[None])[0]
        found = budget(model, given, pose)
        if not at and given.numbers and any(isinstance(leg, Chain) for leg in model.robot.legs):
            note("legs drawn at home close there whatever their numbers are: errors of joints' places show with --at")
        rows = {"standard deviation, first order": found.deviation, "largest, first order": found.bound}
        if samples:
            progress("drawing robots at random")
            drawn = scatter(model, given, pose, samples=samples)
            rows[f"standard deviation of {samples} robots"] = drawn.deviation
            if drawn.lost:
                note(f"{drawn.lost} of {samples} robots drawn at random cannot be assembled near this pose")
        try:
            rows["bound, all orders"] = worst_case(model, given, pose).bound
        except (InputError, StateError) as error:
            note(str(error))
    if json_:
        show_json(
            {
                "errors": {name: np.asarray(values) for name, values in rows.items()},
                "causes": causes_table(found, len(found.names)).records(),
            }
        )
        return
    show_table(errors_table(rows, ", ".join(at or ["home"])))
    out().print()
    show_table(causes_table(found, most))
