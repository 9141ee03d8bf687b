"""``polypod workspace``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..errors import InputError
from .frame import Answer, Styled, command
from .options import At, Replace, RobotName, Settings, measured, parse_at, with_overrides
from .terminal import working

if TYPE_CHECKING:
    import xarray as xr

_UNBOUNDED = (
    "No limit of the robot file bounds this: legs may cross or flip over on the way. Set the limits of the joints "
    "(range or cone of joints, base_cone and platform_cone of legs)."
)


@command("workspace", "workspace hexapod --pivot 0 0 0.1 --out workspace")
def workspace(
    robot: RobotName,
    at: At = None,
    pivot: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Centre of rotation, in the platform frame.", **measured("m")),
    ] = None,
    points: Annotated[int, typer.Option(help="Grid points per coordinate of the maps.")] = 41,
    angle: Annotated[
        float | None,
        typer.Option("--dexterous", help="Map the dexterous workspace for tilts up to this angle.", **measured("deg")),
    ] = None,
    full: Annotated[int | None, typer.Option(help="Scan the full workspace, this many points per axis.")] = None,
    distance: Annotated[float, typer.Option(help="Smallest distance to singularity, mm/mm.")] = 0.0,
    payload: Annotated[
        float | None, typer.Option(help="Point mass at the platform's origin, for --max-force.", **measured("kg"))
    ] = None,
    max_force: Annotated[
        float | None, typer.Option(help="Largest actuator force at rest.", **measured("N", "N m"))
    ] = None,
    drives: Annotated[
        bool, typer.Option("--drives", help="Forces at rest within max_force and force_speed of the drives.")
    ] = False,
    force_range: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Lowest and highest actuator force at rest (cables: negative).", **measured("N", "N m")),
    ] = None,
    wrench_box: Annotated[
        tuple[float, float, float, float, float, float] | None,
        typer.Option(
            help="Half widths of a box of wrenches to hold: three forces, three moments.", **measured("N", "N m")
        ),
    ] = None,
    wrench_ellipsoid: Annotated[
        tuple[float, float, float, float, float, float] | None,
        typer.Option(help="Semi-axes of an ellipsoid of wrenches to hold, instead of a box.", **measured("N", "N m")),
    ] = None,
    accelerations: Annotated[
        tuple[float, float, float, float, float, float] | None,
        typer.Option(
            help="Half widths of a box of accelerations to be made from rest: three linear, three angular.",
            **measured("m/s^2", "rad/s^2"),
        ),
    ] = None,
    closure: Annotated[
        bool, typer.Option("--closure", help="Wrench closure: cables of unlimited tension can hold any wrench.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results and figures.")] = None,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..analysis.workspace import PoseCoordinates, Requirements, WorkspaceTest, survey
    from ..analysis.workspace.survey import survey_data
    from ..files.robot_files import with_file_lines
    from ..limits import left_out_text
    from ..model import Model
    from ..output.folder import check_target
    from ..results.report.surveys import WORKSPACE_FILES, write_workspace

    for option, count in (("points", points), ("full", full)):
        if count is not None and count < 2:
            raise InputError(f"--{option}: at least 2 are needed, got {count}")
    if out is not None:
        check_target(out, force, WORKSPACE_FILES)
    load = None if payload is None else (payload, (0.0, 0.0, 0.0))
    asked = Requirements(
        distance, max_force, load, None, drives, force_range, wrench_box, wrench_ellipsoid, accelerations, closure
    )
    with working("workspace") as progress:
        progress("compiling the robot")
        meant = with_overrides(robot, settings)
        model = Model(meant)
        with with_file_lines(meant):
            space = PoseCoordinates(model, pivot)
            test = WorkspaceTest(space, asked)
            here, judged = parse_at(at, space), test.criteria
            tilt = None if angle is None else float(np.radians(angle))
            results = survey(model, here, pivot, points, asked, tilt, full, progress)
        if out is not None:
            write_workspace(results, out, force, progress)
    return Answer(
        [
            Styled(model.robot.name, f": {model.robot.title}"),
            *_parts(results),
            f"Constraints taken into account: {'; '.join([*judged, *([test.sharing] if test.sharing else [])])}.",
            *([f"Not judged: {left_out_text(test.left_out)}."] if test.left_out else []),
            *([] if out is None else [f"Figures and data: {out}"]),
        ],
        {"limits_counted": judged, "limits_left_out": test.left_out, **survey_data(results)},
    )


def _parts(results: dict[str, xr.Dataset]) -> list[Any]:
    """Tables and sentences of a survey."""
    from ..analysis.workspace.survey import full_text, limited, share_table, size_text, tilt_table, travel_table

    parts: list[Any] = [travel_table(results["travel"])]
    for name in ("positions", "orientations"):
        if name in results:
            part = results[name]
            parts += [size_text(part), *([share_table(part)] if part.share.any() else [])]
            parts += [] if limited(part) else [_UNBOUNDED]
    parts += [tilt_table(results["tilt"])] if "tilt" in results else []
    return [*parts, *([full_text(results["full"])] if "full" in results else [])]
