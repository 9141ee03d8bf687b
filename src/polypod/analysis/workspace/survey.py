"""The workspace of a robot in all the ways that fit it, with its tables and sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model import Model
from ...tables import Table, practical_unit, table
from .full import dexterous, full_workspace
from .maps import orientations_at, workspace_map
from .pose_coordinates import PoseCoordinates, Requirements
from .quantities import CLOSING, NO_LIMIT, SINGULARITY
from .travel import straight_reach, tilt_by_height, travel

if TYPE_CHECKING:
    import xarray as xr


def survey(
    model: Model,
    at: dict[str, float] | None = None,
    pivot: tuple[float, float, float] | None = None,
    points: int = 41,
    requirements: Requirements | None = None,
    angle: float | None = None,
    full: int | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> dict[str, xr.Dataset]:
    """The workspace of a robot in all the ways that fit it.

    Parameters
    ----------
    model : the robot
    at : coordinates of the pose it starts from, as offsets from home [m, rad]
    pivot : centre of rotation in the platform frame [m]
    points : points of maps along each coordinate
    requirements : what a pose must keep in addition to the limits of the robot file
    angle : tilt [rad] up to which a position must allow all orientations to count as dexterous
    full : points along each coordinate of a scan of the full workspace
    progress : called with the name of each step before it begins

    Returns
    -------
    dict of xarray.Dataset : ``travel``, and ``positions``, ``orientations``, ``reach``, ``tilt`` and ``full`` where the
        robot has them
    """
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
        progress("straight paths")
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
    caption = "low, high: one coordinate at a time; +-: all coordinates of the group together"
    return table("Travel from home", columns, rows, caption)


def share_table(result: xr.Dataset) -> Table:
    """What limits a map of the workspace, by its share of the boundary."""
    order = np.argsort(-result.share.values, kind="stable")
    rows = [(str(result.limit.values[k]), 100 * float(result.share[k])) for k in order if result.share[k] > 0]
    return table("Limiting constraints", [("constraint", ""), ("share of the boundary", "%")], rows)


def limited(result: xr.Dataset) -> bool:
    """Whether anything but the legs' reach and singularities bounds a map."""
    bounds = [str(name) for name, part in zip(result.limit_name.values, result.share.values, strict=True) if part > 0]
    return any(name not in (CLOSING, SINGULARITY, NO_LIMIT) for name in bounds)


def tilt_table(result: xr.Dataset, most: int = 9) -> Table:
    """Tilt that is possible in every direction, at about ``most`` heights."""
    part = result.dropna("z")
    rows = [(1e3 * float(z), float(np.degrees(t))) for z, t in zip(part.z, part.tilt_any, strict=True)]
    columns = [("z from home", "mm"), ("in every direction", "deg")]
    return table("Tilt", columns, rows[:: max(len(rows) // most, 1)])


def size_text(result: xr.Dataset) -> str:
    """How large a map of the workspace is, in a sentence."""
    over, size = ", ".join(map(str, result.inside.dims)), f"{float(result.volume):.4g} {result.volume.units}"
    if "all_orientations" in result:
        size += f", {100 * float(result.all_orientations):.3g} % of all orientations"
    return f"Reachable from the start pose over {over}: {size}."


def full_text(result: xr.Dataset) -> str:
    """What a scan of the full workspace found, in a sentence."""
    return (
        f"All coordinates: {float(result.fraction):.4g} of {float(result.poses):.4g} poses inside, "
        f"{float(result.volume):.4g} {result.volume.units}; positions reached {float(result.reachable_volume):.4g}, "
        f"with all orientations {float(result.dexterous_volume):.4g} {result.reachable_volume.units}."
    )


def survey_data(results: dict[str, xr.Dataset]) -> dict[str, Any]:
    """What ``survey`` found as JSON data, SI units."""
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
