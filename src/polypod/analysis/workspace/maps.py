"""Maps of a workspace over some of a robot's coordinates, as labelled datasets."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...datasets import CONVENTIONS
from ...errors import InputError
from ...files import dumps
from ...model import Model
from .extent import extent
from .pose_coordinates import PoseCoordinates, Requirements, WorkspaceTest

if TYPE_CHECKING:
    import xarray as xr


Axes = Mapping[str, int | ArrayLike]
BLOCK = 1 << 16
"""Poses that are decided at once."""
MOST = 1 << 28
"""Points of a map that are kept; more are counted without being kept (``full_workspace``)."""
POINTS = {1: 401, 2: 161, 3: 49, 4: 17, 5: 11, 6: 9}
"""Points of each coordinate unless given, by the number of coordinates."""


def workspace_map(
    model: Model,
    axes: Axes,
    at: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Workspace over some coordinates, the others fixed.

    Parameters
    ----------
    model : Model
        Model of the robot.
    axes : mapping of str to int or array_like
        Coordinates and either the number of grid points, spread over the workspace around ``at``, or the points
        themselves.
    at : mapping of str to float, optional
        Coordinates as offsets from home [m, rad], such as ``{"z": 0.02}``. Default: home.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.

    Returns
    -------
    xarray.Dataset
        Over the axes: ``inside``; ``connected``, the part connected with ``at`` (in which the robot keeps its assembly
        and working mode); ``margin``, the smallest margin of all limits, 1 in the middle of a range and 0 at its edge;
        ``binding``, the index of that limit in ``limit``; ``determinant``, det J relative to home. For the whole:
        ``volume`` of the connected part (in the product of the coordinates' units) and ``share`` (limit), the part of
        its surface where each limit is active. Over roll, pitch and yaw also ``all_orientations``, the share of all
        orientations that is connected: the integral of cos(pitch) over 8 pi^2.
    """
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space, requirements)
    start = space.point(at)
    values = _values(test, axes, start)
    names = tuple(values)
    shape = tuple(map(len, values.values()))
    total = prod(shape)
    if total > MOST:
        raise InputError(
            f"axes: {' x '.join(map(str, shape))} points are {total:.3g}; the limit for a map is {MOST:.3g}; use "
            "fewer, or full_workspace, which scans any number without keeping them"
        )
    indices = [space.index(name) for name in names]
    margin, binding = np.empty(total, dtype=np.float32), np.empty(total, dtype=np.int16)
    relative = np.empty(total, dtype=np.float32)
    for first in tracked(range(0, total, BLOCK), "mapping", progress):
        rows = np.arange(first, min(first + BLOCK, total))
        x = np.tile(start, (len(rows), 1))
        for column, index, axis in zip(indices, np.unravel_index(rows, shape), values.values(), strict=True):
            x[:, column] = axis[index]
        found = test(x)
        part = slice(first, first + len(rows))
        # what is inside by less than a float's rounding stays inside
        margin[part] = np.where(found.inside, np.maximum(found.margin, 0.0), np.minimum(found.margin, -1e-30))
        binding[part], relative[part] = found.binding, found.determinant
    inside = (margin >= 0).reshape(shape)
    connected = _connected(inside, values, start[indices], [space.full and n in ("roll", "yaw") for n in names])
    size = cell_sizes(values)
    data: dict[str, Any] = {
        "inside": (names, inside, {"long_name": "all requirements hold"}),
        "connected": (names, connected, {"long_name": "inside, and connected to the start point"}),
        "margin": (names, margin.reshape(shape), {"long_name": "smallest margin of the limits", "units": "1"}),
        "binding": (names, binding.reshape(shape), {"long_name": "limit with the smallest margin"}),
        "determinant": (names, relative.reshape(shape), {"long_name": "det J relative to home", "units": "1"}),
        "share": (("limit",), shares(connected, binding.reshape(shape), len(test.limits)), {"units": "1"}),
        "volume": ((), float((connected * size).sum()), {"units": volume_unit(space, names)}),
        "volume_all": ((), float((inside * size).sum()), {"units": volume_unit(space, names)}),
    }
    if space.full and set(names) == {"roll", "pitch", "yaw"}:
        upright = np.cos(values["pitch"]).reshape([-1 if name == "pitch" else 1 for name in names])
        turned = float((connected * size * upright).sum() / (8 * np.pi**2))
        data["all_orientations"] = ((), turned, {"long_name": "share of all orientations", "units": "1"})
    return labelled(space, test, data, values, start)


def labelled(
    space: PoseCoordinates, test: WorkspaceTest, data: Mapping[str, Any], values: Mapping[str, Array], at: Array
) -> xr.Dataset:
    """Variables over coordinates as a dataset that says what robot, pivot and point it is of."""
    import xarray as xr

    coordinates: dict[str, Any] = {
        name: (name, axis, {"units": space.units[space.index(name)]}) for name, axis in values.items()
    }
    coordinates["limit"] = [f"{leg}: {name}" for leg, name in test.limits]
    coordinates["limit_name"] = ("limit", [name for _, name in test.limits])
    about = {
        "robot": space.model.robot.name,
        "robot_file": dumps(space.model.robot),
        "conventions": CONVENTIONS,
        "names": ", ".join(space.names),
        "at": at,
        "pivot": space.pivot,
    }
    return xr.Dataset(dict(data), coordinates, about)


def cell_sizes(values: Mapping[str, Array]) -> Array:
    """Volumes of the cells around the points of a grid, halfway to their neighbours: none goes beyond the grid's ends.

    A whole turn from -pi to pi counts once, then, though the grid has both of its ends.
    """
    sizes = np.ones(())
    for axis in values.values():
        ends = np.r_[axis[0], 0.5 * (axis[1:] + axis[:-1]), axis[-1]]
        sizes = sizes[..., None] * np.diff(ends)
    return sizes


def volume_unit(space: PoseCoordinates, names: tuple[str, ...]) -> str:
    """Unit of a volume over coordinates."""
    units = [space.units[space.index(name)] for name in names]
    powers = [(unit, units.count(unit)) for unit in ("m", "rad") if unit in units]
    return " ".join(unit if count == 1 else f"{unit}^{count}" for unit, count in powers)


def shares(connected: NDArray[np.bool_], binding: NDArray[np.int16], limits: int) -> Array:
    """Part (limits,) of the surface of a region at which each limit binds: that of the neighbours outside."""
    counts = np.zeros(limits)
    for axis in range(connected.ndim):
        ahead, behind = _slices(connected.ndim, axis, 1), _slices(connected.ndim, axis, 0)
        for inner, outer in ((behind, ahead), (ahead, behind)):
            edge = connected[inner] & ~connected[outer]
            counts += np.bincount(binding[outer][edge], minlength=limits)
    return counts / max(counts.sum(), 1.0)


def _slices(ndim: int, axis: int, first: int) -> tuple[slice, ...]:
    own = slice(1, None) if first else slice(None, -1)
    return tuple(own if k == axis else slice(None) for k in range(ndim))


def _connected(
    inside: NDArray[np.bool_], values: Mapping[str, Array], at: Array, turns: list[bool]
) -> NDArray[np.bool_]:
    """The part that is connected, cell by face, with the cell nearest to a point; none if that is outside.

    Coordinates that are ``turns`` come back after a whole one, where the grid has both its ends.
    """
    parts, count = scipy.ndimage.label(inside)
    ends = []
    for k, axis in enumerate(values.values()):
        if turns[k] and np.isclose(axis[-1] - axis[0], 2 * np.pi, rtol=1e-9, atol=0.0):
            ends.append(np.stack([np.take(parts, 0, axis=k).ravel(), np.take(parts, -1, axis=k).ravel()]))
    if ends:
        first, last = np.concatenate(ends, axis=1)
        both = (first > 0) & (last > 0)
        joined = scipy.sparse.coo_array((np.ones(both.sum()), (first[both], last[both])), shape=(count + 1, count + 1))
        parts = scipy.sparse.csgraph.connected_components(joined, directed=False)[1][parts]
    here = tuple(int(np.abs(axis - x).argmin()) for axis, x in zip(values.values(), at, strict=True))
    return np.asarray((parts == parts[here]) & inside & inside[here])


def _values(test: WorkspaceTest, axes: Axes, at: Array) -> dict[str, Array]:
    """Points along every axis that was named."""
    if not axes:
        raise InputError(f"axes: give at least one of {', '.join(test.space.names)}")
    found: Array | None = None
    values = {}
    for k, (name, given) in enumerate(axes.items()):
        test.space.index(name)
        if isinstance(given, int | np.integer):
            if given < 2:
                raise InputError(f"axes: {name} needs at least 2 points, got {given}")
            found = extent(test, tuple(axes), at) if found is None else found
            spread = np.linspace(found[k, 0], found[k, 1], int(given))
            # the grid has the point itself, so that sections go through it
            here = at[test.space.index(name)]
            values[name] = spread - spread[np.abs(spread - here).argmin()] + here
            continue
        points = np.asarray(given, dtype=np.float64)
        if points.ndim != 1 or not len(points) or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
            raise InputError(f"axes: {name} needs increasing finite numbers, got {given!r}")
        values[name] = points
    return values


def constant_orientation(
    model: Model,
    orientation: tuple[float, float, float] = (0.0, 0.0, 0.0),
    points: int = POINTS[3],
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Positions that the platform reaches at one orientation.

    Parameters
    ----------
    model : Model
        Model of the robot.
    orientation : (float, float, float), optional
        Roll, pitch and yaw from home [rad].
    points : int, optional
        Grid points of each coordinate.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.

    Returns
    -------
    xarray.Dataset
        Result of ``workspace_map`` over positions.
    """
    axes, at = _part(model, pivot, False, points, dict(zip(("roll", "pitch", "yaw"), orientation, strict=True)))
    return workspace_map(model, axes, at, pivot, requirements, progress)


def orientations_at(
    model: Model,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    points: int = POINTS[3],
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Orientations that the platform reaches at one position.

    Parameters
    ----------
    model : Model
        Model of the robot.
    position : (float, float, float), optional
        Displacement of the pivot from home [m].
    points : int, optional
        Grid points of each coordinate.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.

    Returns
    -------
    xarray.Dataset
        Result of ``workspace_map`` over orientations.
    """
    axes, at = _part(model, pivot, True, points, dict(zip(("x", "y", "z"), position, strict=True)))
    return workspace_map(model, axes, at, pivot, requirements, progress)


def _part(
    model: Model, pivot: ArrayLike | None, turning: bool, points: int, others: dict[str, float]
) -> tuple[dict[str, int], dict[str, float]]:
    """Points along the coordinates that turn, or along those that do not, and where the others stay."""
    space = PoseCoordinates(model, pivot)
    names = [name for name, turns in zip(space.names, space.turns, strict=True) if turns == turning]
    if not names:
        lacks, instead = ("does not rotate", "positions") if turning else ("only turns", "orientation workspace")
        raise InputError(f"workspace: {model.robot.name!r} {lacks}; use its {instead}", code="no_coordinates")
    if not space.full and any(others.values()):
        raise InputError(
            f"{'position' if turning else 'orientation'}: a robot with fewer than six degrees of freedom has "
            "generalized coordinates; use workspace_map with at"
        )
    return dict.fromkeys(names, points), others if space.full else {}


# ----------------------------------------------------------------------------------------------------------------------
# Long computations in blocks, with a bar and the time left on a terminal.

_EVERY = 0.1  # s between updates
_WORTH = 1.0  # s after which a bar is drawn at all
Item = TypeVar("Item")


def tracked(parts: Sequence[Item], what: str, wanted: bool | None = None) -> Iterator[Item]:
    """The parts one after the other, each about as long as the others; None shows a bar on a terminal only.

    The bar says how much is done and how long the rest will take.
    """
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield from parts
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("left"))
    began = last = monotonic()
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=len(parts), visible=False)
        for done, part in enumerate(parts):
            if monotonic() - last > _EVERY:
                last = monotonic()
                bar.update(task, completed=done, visible=last - began > _WORTH)
            yield part
