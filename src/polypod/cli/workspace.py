"""``polypod workspace``: how far a robot moves, what stops it, and figures of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..errors import InputError
from ..tables import Table, practical_unit, table
from .options import At, Json, Replace, RobotName, measured, number
from .overrides import Settings, with_overrides
from .terminal import Progress, out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    import xarray as xr

    from ..analysis.workspace import PoseCoordinates, Requirements
    from ..model import Model

EXAMPLE = "Example: polypod workspace hexapod --pivot 0 0 0.1 --out workspace"
FILES = ("positions.nc", "orientations.nc", "reach.nc", "travel.nc", "tilt.nc", "full.nc", "figures")


def workspace(
    model: Model,
    at: dict[str, float] | None = None,
    pivot: tuple[float, float, float] | None = None,
    points: int = 41,
    requirements: Requirements | None = None,
    angle: float | None = None,
    full: int | None = None,
    progress: Progress = lambda step: None,
) -> dict[str, xr.Dataset]:
    """All results of the command by the name of their file: travel, positions, orientations, reach, tilt, full."""
    from ..analysis.workspace import (
        PoseCoordinates,
        dexterous,
        full_workspace,
        orientations_at,
        straight_reach,
        tilt_by_height,
        travel,
        workspace_map,
    )

    space = PoseCoordinates(model, pivot)
    here = at or {}
    moving = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
    results = {}
    progress("travel of each axis")
    results["travel"] = travel(model, here, pivot, requirements)
    shared: dict[str, Any] = {"pivot": pivot, "requirements": requirements}
    if len(moving) > 1:
        progress("positions")
        results["positions"] = workspace_map(model, dict.fromkeys(moving, points), here, **shared)
    if space.turns.sum() > 1:
        progress("orientations")
        if space.full:
            position = here.get("x", 0.0), here.get("y", 0.0), here.get("z", 0.0)
            results["orientations"] = orientations_at(model, position, points, **shared)
        else:
            results["orientations"] = workspace_map(model, dict.fromkeys(space.names, points), here, **shared)
    if len(space.names) > 2:
        progress("straight ways")
        results["reach"] = straight_reach(model, at=here, **shared)
    if space.full:
        progress("tilt by height")
        results["tilt"] = tilt_by_height(model, at={k: v for k, v in here.items() if k != "z"}, **shared)
    if angle is not None:
        progress("positions with all orientations")
        results["full"] = dexterous(model, angle, full or 11, **shared)
    elif full is not None:
        progress("all coordinates")
        results["full"] = full_workspace(model, full, **shared)
    return results


def travel_table(result: xr.Dataset) -> Table:
    """Travel of each coordinate alone and of several together, in mm and degrees."""
    groups = [str(group) for group in result.group.values]
    columns = [("coordinate", ""), ("unit", ""), ("low", ""), ("high", ""), ("stopped low by", ""), ("high by", "")]
    columns += [(f"+- with {group}", "") for group in groups]
    rows = []
    for k, name in enumerate(result.coordinate.values):
        factor, unit = practical_unit(str(result.unit.values[k]))
        both = [factor * float(row[k]) for row in result.together.values]
        ends = factor * float(result.low[k]), factor * float(result.high[k])
        rows.append((str(name), unit, *ends, str(result.low_limit.values[k]), str(result.high_limit.values[k]), *both))
    caption = "low and high: with the other coordinates as asked for; +-: at once with all others of the group"
    return table("Travel from home", columns, rows, caption)


def share_table(result: xr.Dataset) -> Table:
    """What limits the workspace, by its part of the surface."""
    order = np.argsort(-result.share.values, kind="stable")
    rows = [(str(result.limit.values[k]), 100 * float(result.share[k])) for k in order if result.share[k] > 0]
    return table("What binds", [("limit", ""), ("part of the surface", "%")], rows)


def _limited(result: xr.Dataset) -> bool:
    """Whether anything but the legs' reach and singularities bounds a map."""
    from ..analysis.workspace.quantities import CLOSING, NO_LIMIT, SINGULARITY

    bounds = [str(name) for name, part in zip(result.limit_name.values, result.share.values, strict=True) if part > 0]
    return any(name not in (CLOSING, SINGULARITY, NO_LIMIT) for name in bounds)


def parse_at(texts: list[str], space: PoseCoordinates) -> dict[str, float]:
    """Coordinates from texts such as ``z=20 mm`` and ``pitch=5 deg``; plain numbers are m and rad."""
    found = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise InputError(f"--at: NAME=VALUE such as z=20mm or pitch=5deg is needed, got {text!r}")
        found[name] = number(f"--at: {name}", value, space.units[space.index(name)])
    return found


def report_data(results: dict[str, xr.Dataset]) -> dict[str, Any]:
    """Numbers for programs, SI units."""
    data: dict[str, Any] = {"travel": travel_table(results["travel"]).records()}
    for name in ("positions", "orientations"):
        if name in results:
            part = results[name]
            data[name] = {
                "volume": float(part.volume),
                "unit": part.volume.units,
                "shares": {row[0]: row[1] for row in share_table(part).rows},
            }
            if "all_orientations" in part:
                data[name]["all_orientations"] = float(part.all_orientations)
    if "tilt" in results:
        part = results["tilt"]
        data["tilt"] = {"z_m": part.z.values, "tilt_rad": np.nan_to_num(part.tilt_any.values)}
    if "full" in results:
        part = results["full"]
        data["full"] = {name: float(v) for name, v in part.data_vars.items() if v.ndim == 0 and np.isfinite(v)}
    return data


def write(results: dict[str, xr.Dataset], target: Path, force: bool, progress: Progress = lambda step: None) -> None:
    """Write results as netCDF and their figures into a folder, whole or not at all."""
    from ..datasets import save_result
    from ..output.folder import atomic_folder
    from ..results.figures import WORKSPACE_FIGURES, figures

    with atomic_folder(target, force, FILES) as folder:
        (folder / "figures").mkdir()
        for name, result in results.items():
            progress(f"{name}.nc")
            save_result(result, folder / f"{name}.nc")
            for kind, _, figure in figures(result, WORKSPACE_FIGURES):
                stem = name if kind == "sections" else kind
                figure.savefig(folder / "figures" / f"{stem}.png")


@report_errors
def command(
    robot: RobotName,
    at: At = None,
    pivot: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Point of the platform that moves and about which it turns, its frame.", **measured("m")),
    ] = None,
    points: Annotated[int, typer.Option(help="Points of maps along each coordinate.")] = 41,
    angle: Annotated[
        float | None,
        typer.Option(
            "--dexterous", help="Positions where all orientations up to this are possible.", **measured("deg")
        ),
    ] = None,
    full: Annotated[
        int | None, typer.Option("--full", help="Count all coordinates with this many points each.")
    ] = None,
    distance: Annotated[float, typer.Option(help="Least distance to singularity, mm/mm.")] = 0.0,
    payload: Annotated[
        float | None, typer.Option(help="Mass on the platform's origin; with --max-force.", **measured("kg"))
    ] = None,
    max_force: Annotated[
        float | None, typer.Option(help="Largest actuator force at rest.", **measured("N", "N m"))
    ] = None,
    drives: Annotated[
        bool, typer.Option("--drives", help="Forces at rest within max_force and force_speed of the drives.")
    ] = False,
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results and figures.")] = None,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """How far a robot moves within its limits, what stops it, and maps of its workspace."""
    from ..analysis.workspace import PoseCoordinates, Requirements, WorkspaceTest
    from ..files.robot_files import with_file_lines
    from ..model import Model
    from ..output.folder import check_target

    for option, count in (("points", points), ("full", full)):
        if count is not None and count < 2:
            raise InputError(f"--{option}: at least 2 are needed, got {count}")
    if folder is not None:
        check_target(folder, force, FILES)
    mass = None if payload is None else (payload, (0.0, 0.0, 0.0))
    asked = Requirements(distance, max_force, mass, drives=drives)
    with working("workspace") as progress:
        progress("deriving the model")
        meant = with_overrides(robot, settings)
        model = Model(meant)
        with with_file_lines(meant):
            space = PoseCoordinates(model, pivot)
            here, judged = parse_at(at or [], space), WorkspaceTest(space, asked).criteria
            results = workspace(
                model, here, pivot, points, asked, None if angle is None else np.radians(angle), full, progress
            )
        if folder is not None:
            write(results, folder, force, progress)
    if json_:
        show_json({"limits_counted": judged, **report_data(results)})
        return
    _print(model, results)
    out().print(f"\nLimits counted: {escape('; '.join(judged))}.")
    if folder is not None:
        out().print(f"\nFigures and data: {escape(str(folder))}")


def _print(model: Model, results: dict[str, xr.Dataset]) -> None:
    console = out()
    console.print(f"[bold]{escape(model.robot.name)}[/]: {escape(model.robot.title)}\n")
    show_table(travel_table(results["travel"]))
    for name in ("positions", "orientations"):
        if name in results:
            part = results[name]
            over, size = ", ".join(map(str, part.inside.dims)), f"{float(part.volume):.4g} {part.volume.units}"
            if "all_orientations" in part:
                size += f", {100 * float(part.all_orientations):.3g} % of all orientations"
            console.print(f"\nOver {over}: {size}, connected with the point asked for.\n")
            if part.share.any():
                show_table(share_table(part))
            if not _limited(part):
                console.print(
                    "No limit of the robot file bounds this: legs may cross or turn over on the way. State what stops "
                    "them (range or cone of joints, base_cone and platform_cone of legs)."
                )
    if "tilt" in results:
        part = results["tilt"].dropna("z")
        rows = [(1e3 * float(z), float(np.degrees(t))) for z, t in zip(part.z, part.tilt_any, strict=True)]
        console.print()
        show_table(
            table("Tilt", [("z from home", "mm"), ("in every direction", "deg")], rows[:: max(len(rows) // 9, 1)])
        )
    if "full" in results:
        part = results["full"]
        console.print(
            f"\nAll coordinates: {float(part.fraction):.4g} of {float(part.poses):.4g} poses inside, "
            f"{float(part.volume):.4g} {part.volume.units}; positions reached {float(part.reachable_volume):.4g}, with "
            f"all orientations {float(part.dexterous_volume):.4g} {part.reachable_volume.units}."
        )
