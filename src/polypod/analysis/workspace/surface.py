"""The surface of a workspace as seen from a point: how far one goes straight in every direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError
from ...model import Model
from .extent import extent, outside_message
from .maps import labelled, volume_unit
from .pose_coordinates import PoseCoordinates, Requirements, WorkspaceTest
from .travel import first_exit, straight_rays

if TYPE_CHECKING:
    import xarray as xr


def straight_reach(
    model: Model,
    coordinates: Sequence[str] | None = None,
    at: Mapping[str, float] | None = None,
    directions: int = 72,
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
) -> xr.Dataset:
    """Where straight ways of three coordinates from ``at`` first leave the workspace: a closed surface around it.

    ``surface`` (polar, azimuth, coordinate) are its points, ``surface_binding`` the number of the limit that stops each
    way (-1: none within half a turn), ``volume`` that of what is inside it. What lies behind an edge is not seen.
    ``coordinates`` are the robot's displacements unless named, or its first three where it has fewer than three.
    """
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space, requirements)
    moving = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
    names = list(coordinates or (moving[:3] if len(moving) >= 3 else space.names[:3]))
    if directions < 4:
        raise InputError(f"directions: at least 4 around a point are needed, got {directions}")
    if len(names) != 3:
        raise InputError(f"coordinates: a surface needs three, got {names}; maps take any number (workspace_map)")
    start = space.point(at)
    if not test(start[None]).inside[0]:
        raise InputError(outside_message(test, start))
    indices = [space.index(name) for name in names]
    far = np.abs(extent(test, names, start) - start[indices][:, None]).max(axis=1)
    polar = (np.arange(directions // 2) + 0.5) * np.pi / (directions // 2)
    azimuth = np.arange(directions) * 2 * np.pi / directions
    p, a = (grid.ravel() for grid in np.meshgrid(polar, azimuth, indexing="ij"))
    way = np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)], axis=1) * np.sqrt(3) * far
    ends = np.repeat(start[None], len(way), axis=0)
    ends[:, indices] += way
    found = first_exit(straight_rays(test, start, ends), len(ends))
    points = start[indices] + way * found.fraction[:, None]
    shape = (len(polar), len(azimuth))
    # of a surface r(polar, azimuth) in scaled coordinates: sum r^3/3 times the solid angle of each direction
    edges = np.cos(np.linspace(0.0, np.pi, len(polar) + 1))
    solid = (edges[:-1] - edges[1:])[:, None] * 2 * np.pi / directions
    volume = float((found.fraction.reshape(shape) ** 3 * solid).sum() / 3 * np.prod(np.sqrt(3) * far))
    data: dict[str, Any] = {
        "surface": (("polar", "azimuth", "coordinate"), points.reshape(*shape, 3)),
        "surface_binding": (("polar", "azimuth"), found.binding.reshape(shape)),
        "volume": ((), volume, {"units": volume_unit(space, tuple(names))}),
    }
    result = labelled(space, test, data, {}, start)
    units = [space.units[k] for k in indices]
    return result.assign_coords(
        polar=("polar", polar, {"units": "rad"}), azimuth=("azimuth", azimuth, {"units": "rad"}),
        coordinate=names, unit=("coordinate", units),
    )  # fmt: skip
