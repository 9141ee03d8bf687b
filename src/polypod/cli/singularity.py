"""``polypod singularity``: how far a robot is from being singular, of which kind, and what it does there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..tables import table
from .options import At, Json, Replace, RobotName
from .overrides import Settings, rigid_model
from .terminal import Progress, out, report_errors, show_json, show_table, working
from .workspace import parse_at

if TYPE_CHECKING:
    import xarray as xr

    from ..analysis.singularity import Nearest
    from ..model import Model

EXAMPLE = "Example: polypod singularity hexapod --at z=-50mm --out singularity"
FILES = ("loci.nc", "loci.png", "screw.png")


def section(model: Model, at: dict[str, float], points: int = 121) -> xr.Dataset:
    """det J and limits over up to three coordinates around a point: displacements if there are two, else any."""
    from ..analysis.workspace import PoseCoordinates, workspace_map

    space = PoseCoordinates(model)
    moving = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
    names = (moving if len(moving) > 1 else list(space.names))[:3]
    start = space.point(at)
    count = points if len(names) < 3 else max(points // 2 | 1, 3)
    far = {n: 1.2 * space.scale if not space.turns[space.index(n)] else 0.5 * np.pi for n in names}
    axes = {n: start[space.index(n)] + np.linspace(-far[n], far[n], count) for n in names}
    return workspace_map(model, axes, at)


@report_errors
def command(
    robot: RobotName,
    at: At = None,
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for data and figures.")] = None,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """How far a robot is from being singular, of which kind, and what its platform does there."""
    from ..analysis.singularity import nearest_singularity, singularity
    from ..analysis.workspace import PoseCoordinates
    from ..output.folder import check_target

    if folder is not None:
        check_target(folder, force, FILES)
    with working("singularity") as progress:
        progress("deriving the model")
        model = rigid_model(robot, settings)
        space = PoseCoordinates(model)
        here = parse_at(at or [], space)
        pose = space.poses(space.point(here)[None])[0]
        report = singularity(model, pose)
        progress("nearest singular poses")
        found = nearest_singularity(model, pose)
        ways = {"displacing alone": found.moving, "turning alone": found.turning, "both": found.both}
        reached = {name: way for name, way in ways.items() if np.isfinite(way.distance)}
        if folder is not None:
            _write(model, here, reached, folder, force, progress)
    if json_:
        show_json(
            {
                "here": {"actuation": report.actuation, "constraint": report.constraint, "leg": report.leg},
                "nearest": {name: _facts(model, way) for name, way in reached.items()},
            }
        )
        return
    out().print(f"[bold]{escape(model.robot.name)}[/]: {escape(model.robot.title)}\n")
    values = [
        ("actuation", report.actuation),
        ("constraint", report.constraint),
        (f"leg ({report.condition})" if report.condition else "leg", report.leg),
    ]
    caption = (
        "actuation: motion of the joints for the platform's least felt one, mm/mm, rotations as arcs at the platform's "
        "size; constraint: smallest singular value of the constraints; leg: its margin; 0 is singular"
    )
    show_table(table("Here", [("kind", ""), ("distance", "1")], values, caption))
    rows = [
        (name, 1e3 * round(way.distance, 9), float(np.degrees(way.angle)),
         f"{100 * way.certain:.0f} %" if way.certain else "not proven", "yes" if way.inside else "no",
         *(lambda r: (r.kind, r.motion))(singularity(model, way.pose)))
        for name, way in reached.items()
    ]  # fmt: skip
    if rows:
        columns = [("by", ""), ("distance", "mm"), ("angle", "deg"), ("certain", "")]
        columns += [("within limits", ""), ("kind", ""), ("there", "")]
        out().print()
        caption = "certain: nearer than this part of the way no pose is singular, proven by interval arithmetic"
        show_table(table("Nearest singular poses", columns, rows, caption))
    else:
        out().print("\nNo singular pose within reach in which the legs close.")
    if folder is not None:
        out().print(f"\nFigures and data: {escape(str(folder))}")


def _facts(model: Model, way: Nearest) -> dict[str, Any]:
    from ..analysis.singularity import singularity

    report = singularity(model, way.pose)
    pitch = None if np.isinf(report.screw.pitch) else report.screw.pitch
    return {
        "distance_m": [way.certain * way.distance, way.distance], "angle_rad": [way.certain * way.angle, way.angle],
        "within_limits": way.inside, "pose": way.pose,
        "kind": report.kind, "axis": report.screw.axis, "point_m": report.screw.point, "pitch_m_per_rad": pitch,
    }  # fmt: skip


def _write(
    model: Model, here: dict[str, float], reached: dict[str, Nearest], folder: Path, force: bool, progress: Progress
) -> None:
    from ..analysis.singularity import singularity
    from ..datasets import save_result
    from ..output.folder import atomic_folder
    from ..results.figures import singularity as figures
    from ..results.figures import without_mathtext

    with atomic_folder(folder, force, FILES) as target:
        progress("sections")
        result = section(model, here)
        save_result(result, target / "loci.nc")
        without_mathtext(figures.loci, result).savefig(target / "loci.png")
        if reached:
            progress("screw")
            way = min(reached.values(), key=lambda w: w.distance + model.size * w.angle)
            drawn = without_mathtext(figures.screw, model.robot, way.pose, singularity(model, way.pose))
            drawn.savefig(target / "screw.png")
