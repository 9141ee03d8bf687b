"""Travel as makers of hexapods print it: by axis, combined, and how far the platform tilts at each height."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...datasets import robot_of
from ...errors import InputError
from ...model import Model
from .extent import extent, outside_message
from .maps import labelled, volume_unit
from .pose_coordinates import RIGID, PoseCoordinates, PoseMargins, Requirements, WorkspaceTest
from .quantities import NO_LIMIT

if TYPE_CHECKING:
    import xarray as xr


_STEPS = 200
"""Steps of a ray that are looked at."""
_HALVINGS = 30
"""Bisections of the step in which a ray leaves: 1e-9 of a step."""


class Exit(NamedTuple):
    """Where rays first leave the workspace: fractions of their length (n,), and which limit binds there (n,).

    A ray that stays inside ends at 1; its limit is -1.
    """

    fraction: Array
    binding: NDArray[np.int64]


Rays = Callable[[NDArray[np.int64], Array], PoseMargins]
"""What holds (k,) on rays by number (k,) at fractions (k,) of their length."""


def straight_rays(test: WorkspaceTest, start: Array, ends: Array) -> Rays:
    """Rays that are straight in coordinates, from ``start`` (m,) to ``ends`` (n, m)."""
    return lambda numbers, fraction: test(start + fraction[:, None] * (ends[numbers] - start))


def first_exit(rays: Rays, count: int, steps: int = _STEPS) -> Exit:
    """Where ``count`` rays first leave the workspace: by steps of their length, then bisection.

    What is narrower than a step may be stepped over.
    """
    low, high = np.zeros(count), np.ones(count)
    binding = np.full(count, -1)
    going = np.arange(count)
    # eight steps of all rays at once: most end early
    for first in range(0, steps, 8):
        part = (np.arange(first, min(first + 8, steps)) + 1) / steps
        found = rays(np.repeat(going, len(part)), np.tile(part, len(going)))
        out = ~found.inside.reshape(len(going), len(part))
        left = out.any(axis=1)
        at = out.argmax(axis=1)
        who = going[left]
        high[who] = part[at[left]]
        low[who] = high[who] - 1 / steps
        binding[who] = found.binding.reshape(out.shape)[left, at[left]]
        going = going[~left]
        if not len(going):
            break
    low[going] = 1.0
    ended = np.flatnonzero(binding >= 0)
    for _ in range(_HALVINGS if len(ended) else 0):
        middle = 0.5 * (low[ended] + high[ended])
        found = rays(ended, middle)
        low[ended] = np.where(found.inside, middle, low[ended])
        high[ended] = np.where(found.inside, high[ended], middle)
        binding[ended] = np.where(found.inside, binding[ended], found.binding)
    return Exit(low, binding)


def travel(
    model: Model,
    at: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
    combined: Sequence[Sequence[str]] | None = None,
) -> xr.Dataset:
    """Travel of each coordinate in both directions, what limits it, and the travel of several together.

    Parameters
    ----------
    model : Model
        Model of the robot.
    at : mapping of str to float, optional
        Coordinates as offsets from home [m, rad], such as ``{"z": 0.02}``. Default: home.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.
    combined : sequence of sequences of str, optional
        Groups of coordinates that move together. Default: all translations, all rotations, and all coordinates.

    Returns
    -------
    xarray.Dataset
        ``low`` and ``high`` (coordinate), the travel of one coordinate alone; ``low_limit`` and ``high_limit``, the
        limiting constraints; ``together`` (group, coordinate), +- the travel of several at once: the largest part of
        the travel of each alone, the smaller side of both, for which every combination of the lowest, middle and
        highest values, and all on the way there, is inside.

    Raises
    ------
    InputError
        If the pose is outside the workspace.
    """
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space, requirements)
    start = space.point(at)
    if not test(start[None]).inside[0]:
        raise InputError(outside_message(test, start), code="outside_workspace")
    m = len(space.names)
    ends = np.repeat(start[None], 2 * m, axis=0)
    for k, name in enumerate(space.names):
        ends[2 * k : 2 * k + 2, k] = extent(test, [name], start)[0]
    found = first_exit(straight_rays(test, start, ends), len(ends))
    reach = np.abs(ends - start)[np.arange(2 * m), np.arange(2 * m) // 2] * found.fraction
    low, high = start - reach[::2], start + reach[1::2]
    groups = _groups(space) if combined is None else {" ".join(names): tuple(names) for names in combined}
    rows = [_together(test, start, np.minimum(reach[::2], reach[1::2]), g) for g in groups.values()]
    texts = np.array([f"{leg}: {name}" for leg, name in test.limits] + [f"whole range: {NO_LIMIT}"])
    data: dict[str, Any] = {
        "low": (("coordinate",), low),
        "high": (("coordinate",), high),
        "low_limit": (("coordinate",), texts[found.binding[::2]]),
        "high_limit": (("coordinate",), texts[found.binding[1::2]]),
        "together": (("group", "coordinate"), np.array(rows).reshape(len(rows), m)),
    }
    result = labelled(space, test, data, {}, start)
    return result.assign_coords(coordinate=list(space.names), unit=("coordinate", list(space.units)), group=[*groups])


def _groups(space: PoseCoordinates) -> dict[str, tuple[str, ...]]:
    moving = tuple(name for name, turns in zip(space.names, space.turns, strict=True) if not turns)
    turning = tuple(name for name in space.names if name not in moving)
    groups = {"displacements": moving, "angles": turning, "all": space.names}
    return {name: members for name, members in groups.items() if len(members) > 1}


def _together(test: WorkspaceTest, start: Array, alone: Array, names: Sequence[str]) -> Array:
    """+- travel (m,) of some coordinates at once, NaN for the others."""
    indices = [test.space.index(name) for name in names]
    corners = np.array([c for c in product((-1.0, 0.0, 1.0), repeat=len(indices)) if any(c)])
    ends = np.repeat(start[None], len(corners), axis=0)
    ends[:, indices] += corners * alone[indices]
    part = first_exit(straight_rays(test, start, ends), len(ends), 60).fraction.min()
    result = np.full(len(start), np.nan)
    result[indices] = part * alone[indices]
    return result


def tilt_by_height(
    model: Model,
    heights: ArrayLike | int = 25,
    directions: int = 36,
    at: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
) -> xr.Dataset:
    """Largest tilt of the platform at each height, in every direction.

    A tilt rotates the platform about the horizontal axis at ``direction`` from the base's x axis, from its orientation
    at home, with the pivot at height ``z`` from home.

    Parameters
    ----------
    model : Model
        Model of the robot.
    heights : array_like or int, optional
        Heights from home [m], or their number.
    directions : int, optional
        Number of directions.
    at : mapping of str to float, optional
        Coordinates as offsets from home [m, rad], such as ``{"z": 0.02}``. Default: home.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.

    Returns
    -------
    xarray.Dataset
        ``tilt`` (z, direction) [rad]; ``tilt_any`` (z), what is possible in every direction; ``binding`` (z,
        direction), the index of the limit that stops it. Heights outside the workspace are NaN.

    Raises
    ------
    InputError
        If the robot has fewer than six degrees of freedom.
    """
    space = PoseCoordinates(model, pivot)
    if not space.full:
        raise InputError(
            f"tilt: {model.robot.name!r} does not have six degrees of freedom; use travel at heights instead"
        )
    if directions < 1:
        raise InputError(f"directions: must be at least 1, got {directions}")
    test = WorkspaceTest(space, requirements)
    start = space.point(at)
    if isinstance(heights, int | np.integer):
        low, high = extent(test, ["z"], start)[0]
        values = np.linspace(low, high, int(heights))
    else:
        values = np.atleast_1d(np.asarray(heights, dtype=np.float64))
    angle = np.linspace(0.0, 2 * np.pi, directions, endpoint=False)
    base = np.repeat(start[None], len(values), axis=0)
    base[:, RIGID.index("z")] = values
    inside = test(base).inside
    level = space.poses(base[inside])
    axes = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)

    def tilted(numbers: NDArray[np.int64], fraction: Array) -> PoseMargins:
        poses = level[numbers // directions]
        turn = scipy.spatial.transform.Rotation.from_rotvec(
            np.pi * fraction[:, None] * axes[numbers % directions]
        ).as_matrix()
        arm = poses[:, :3, :3] @ space.pivot
        result = poses.copy()
        result[:, :3, :3] = turn @ poses[:, :3, :3]
        result[:, :3, 3] += arm - np.einsum("nij,nj->ni", turn, arm)
        return test.poses(result)

    found = first_exit(tilted, len(level) * directions, 720)
    tilt = np.full((len(values), directions), np.nan)
    tilt[inside] = (np.pi * found.fraction).reshape(-1, directions)
    binding = np.full(tilt.shape, -1)
    binding[inside] = found.binding.reshape(-1, directions)
    data: dict[str, Any] = {
        "tilt": (("z", "direction"), tilt, {"units": "rad"}),
        "tilt_any": (("z",), tilt.min(axis=1), {"units": "rad"}),
        "binding": (("z", "direction"), binding),
    }
    result = labelled(space, test, data, {"z": values}, start)
    return result.assign_coords(direction=("direction", angle, {"units": "rad"}))


# ----------------------------------------------------------------------------------------------------------------------
# The surface of a workspace as seen from a point: how far one goes straight in every direction.


def straight_reach(
    model: Model,
    coordinates: Sequence[str] | None = None,
    at: Mapping[str, float] | None = None,
    directions: int = 72,
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
) -> xr.Dataset:
    """Points where straight lines from a pose first leave the workspace: a closed surface around it.

    What lies behind an edge is not seen.

    Parameters
    ----------
    model : Model
        Model of the robot.
    coordinates : sequence of str, optional
        Three coordinates. Default: the robot's translations, or its first three coordinates if it has fewer
        translations.
    at : mapping of str to float, optional
        Coordinates as offsets from home [m, rad], such as ``{"z": 0.02}``. Default: home.
    directions : int, optional
        Number of directions around the pose.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.

    Returns
    -------
    xarray.Dataset
        ``surface`` (polar, azimuth, coordinate); ``surface_binding``, the index of the limit that stops each line (-1:
        none within half a turn); ``volume`` inside the surface.

    Raises
    ------
    InputError
        If the pose is outside the workspace.
    """
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space, requirements)
    moving = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
    names = list(coordinates or (moving[:3] if len(moving) >= 3 else space.names[:3]))
    if directions < 4:
        raise InputError(f"directions: must be at least 4, got {directions}")
    if len(names) != 3:
        raise InputError(f"coordinates: a surface needs three, got {names}; maps take any number (workspace_map)")
    start = space.point(at)
    if not test(start[None]).inside[0]:
        raise InputError(outside_message(test, start), code="outside_workspace")
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


def surface_triangles(result: xr.Dataset) -> Array:
    """Surface of ``straight_reach`` over translations as triangles in the base frame, for an STL file.

    Parameters
    ----------
    result : xarray.Dataset
        What ``straight_reach`` found.

    Returns
    -------
    ndarray, shape (n, 3, 3)
        Corners of a closed surface, counter-clockwise as seen from outside: positions of the platform's origin (of the
        pivot, if one was given) in the base frame [m].

    Raises
    ------
    InputError
        If the surface is over angles.

    Examples
    --------
    >>> surface_triangles(straight_reach(Model("delta"), directions=8)).shape
    (64, 3, 3)
    """
    if (result.unit != "m").any():
        names = ", ".join(map(str, result.coordinate.values))
        raise InputError(f"surface: coordinates are {names}; only one over three displacements has a shape in space")
    space = PoseCoordinates(Model(robot_of(result)), result.attrs["pivot"])
    surface = result.surface.values
    x = np.tile(np.asarray(result.attrs["at"], dtype=float), (surface.shape[0] * surface.shape[1], 1))
    x[:, [space.index(str(name)) for name in result.coordinate.values]] = surface.reshape(-1, 3)
    poses = space.poses(x)
    rings = (poses[:, :3, 3] + poses[:, :3, :3] @ space.pivot).reshape(surface.shape)
    top, bottom = rings[0].mean(axis=0), rings[-1].mean(axis=0)
    found = []
    for k in range(rings.shape[1]):
        after = (k + 1) % rings.shape[1]
        found += [[top, rings[0, k], rings[0, after]], [bottom, rings[-1, after], rings[-1, k]]]
        for one, two in pairwise(rings):
            found += [[one[k], two[k], two[after]], [one[k], two[after], one[after]]]
    return np.array(found)
