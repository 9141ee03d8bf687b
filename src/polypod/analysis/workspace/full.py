"""The whole workspace over all coordinates at once, counted in compiled code without being kept."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...errors import InputError
from ...model import Model
from .extent import extent
from .maps import BLOCK, MOST, POINTS, cell_sizes, labelled, tracked, volume_unit
from .pose_coordinates import PoseCoordinates, Requirements, WorkspaceTest
from .quantities import predicate, predicate_designs

if TYPE_CHECKING:
    import xarray as xr

Index = NDArray[np.int64]
DESIGNS, TILE = 512, 4096
"""Orientations and positions that compiled code gets at once: its inputs stay in the processor's cache."""
MOST_POSES = 1e13
"""Poses that are counted: some hours of a hexapod's."""
KEPT = 20_000_000
"""Poses inside that are kept to see which are connected with home; of more only the number is known."""
_LANES = [np.flatnonzero([byte >> k & 1 for k in range(8)]) for byte in range(256)]
_COUNT = np.array([len(lanes) for lanes in _LANES])
_FIRST = np.r_[0, np.cumsum(_COUNT)[:-1]]
_ALL_LANES = np.concatenate(_LANES)


class _Found(NamedTuple):
    """Numbers of poses inside: by limits alone, with the sign of det J too, and these by position.

    ``orientations`` are the volumes of positions inside by orientation (1 for each without displacements); ``kept`` the
    poses inside by number, None if they were too many or not asked for.
    """

    limits: int
    inside: int
    orientations: Array
    positions: Index
    kept: Index | None


def full_workspace(
    model: Model,
    points: int | Mapping[str, int] | None = None,
    span: Mapping[str, tuple[float, float]] | None = None,
    pivot: ArrayLike | None = None,
    requirements: Requirements | None = None,
    connected: bool = True,
    progress: bool | None = None,
) -> xr.Dataset:
    """Workspace on a grid over all coordinates of a robot: six, or its m degrees of freedom.

    Poses are decided in blocks and not kept, so that grids may be far larger than memory.

    Parameters
    ----------
    model : Model
        Model of the robot.
    points : int or mapping of str to int, optional
        Grid points of each coordinate, ends included.
    span : mapping of str to (float, float), optional
        Lowest and highest value of coordinates [m, rad]. Default: the workspace around home.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    requirements : Requirements, optional
        What poses must satisfy besides the robot's limits and the sign of det J.
    connected : bool, optional
        Whether to find the part that is connected with home.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.

    Returns
    -------
    xarray.Dataset
        Over positions: ``orientation_share``, the share of the grid's orientations that are possible, ``reachable``
        (any is) and ``dexterous`` (all are). Over orientations: ``position_volume``. For the whole: ``fraction`` of the
        grid inside, ``volume``, ``fraction_limits`` without the condition on det J, and ``fraction_connected`` with
        home (NaN if not requested, or for more than 20 million poses).
    """
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space, requirements)
    values = _grid(test, points, span or {})
    turning = [name for name, turns in zip(space.names, space.turns, strict=True) if turns]
    moving = [name for name in space.names if name not in turning]
    shapes = tuple(len(values[name]) for name in turning), tuple(len(values[name]) for name in moving)
    total, kept = prod(shapes[0]) * prod(shapes[1]), max(map(prod, shapes))
    if total > MOST_POSES or kept > MOST:
        raise InputError(
            f"points: {total:.3g} poses over {kept:.3g} positions (or orientations) are too many: the limits are "
            f"{MOST_POSES:g} and {MOST:.3g}; use fewer points"
        )
    compiled = test.requirements.plain and _closed_form(space)
    found = (_tested_compiled if compiled else _judged)(test, values, turning, moving, connected, progress)
    volume = float((cell_sizes({name: values[name] for name in turning}).ravel() * found.orientations).sum())
    data: dict[str, Any] = {
        "fraction": ((), found.inside / total, {"units": "1"}),
        "fraction_limits": ((), found.limits / total, {"units": "1"}),
        "poses": ((), float(total), {"long_name": "poses of the grid"}),
        "volume": ((), volume, {"units": volume_unit(space, space.names)}),
    }
    part = _connected_part(found.kept, (*shapes[0], *shapes[1]), _home(values, turning, moving))
    data["fraction_connected"] = ((), part / total, {"units": "1"})
    if moving:
        share = (found.positions / prod(shapes[0])).reshape(shapes[1])
        size = cell_sizes({name: values[name] for name in moving})
        unit = {"units": volume_unit(space, tuple(moving))}
        data |= {
            "orientation_share": (moving, share, {"units": "1"}),
            "reachable": (moving, share > 0),
            "dexterous": (moving, share == 1),
            "reachable_volume": ((), float(((share > 0) * size).sum()), unit),
            "dexterous_volume": ((), float(((share == 1) * size).sum()), unit),
        }
        if turning:
            data["position_volume"] = (turning, found.orientations.reshape(shapes[0]), unit)
    return labelled(space, test, data, values, space.point())


def reachable(
    model: Model, angles: Mapping[str, tuple[float, float]], points: int = POINTS[4], **options: Any
) -> xr.Dataset:
    """Positions that some orientation within given angles reaches, and the share of these orientations.

    Parameters
    ----------
    model : Model
        Model of the robot.
    angles : mapping of str to (float, float)
        Lowest and highest roll, pitch and yaw [rad].
    points : int, optional
        Grid points of each coordinate.
    **options
        Other arguments of ``full_workspace``.

    Returns
    -------
    xarray.Dataset
        Result of ``full_workspace``.
    """
    return full_workspace(model, points, angles, connected=False, **options)


def dexterous(
    model: Model, angle: float, points: int = POINTS[4], turn: float | None = None, **options: Any
) -> xr.Dataset:
    """Positions where roll and pitch up to an angle, and yaw up to another, are all possible.

    Parameters
    ----------
    model : Model
        Model of the robot.
    angle : float
        Largest roll and pitch [rad].
    points : int, optional
        Grid points of each coordinate.
    turn : float, optional
        Largest yaw [rad]. Default: ``angle``.
    **options
        Other arguments of ``full_workspace``.

    Returns
    -------
    xarray.Dataset
        Result of ``full_workspace``, with ``dexterous`` and ``dexterous_volume``.
    """
    if not 0 < angle <= np.pi:
        raise InputError(f"angle: must be greater than 0 and at most pi rad, got {angle:g}")
    yaw = angle if turn is None else turn
    names = PoseCoordinates(model).names
    asked = {"roll": (-angle, angle), "pitch": (-angle, angle), "yaw": (-yaw, yaw)}
    return full_workspace(
        model, points, {name: asked[name] for name in names if name in asked}, connected=False, **options
    )


def _closed_form(space: PoseCoordinates) -> bool:
    """Whether the robot's poses are displacements and its legs close without iterating."""
    mechanism = space.model.kernels.mechanism
    return not mechanism.implicit_legs and not mechanism.platform.is_constrained


def _grid(
    test: WorkspaceTest, points: int | Mapping[str, int] | None, span: Mapping[str, tuple[float, float]]
) -> dict[str, Array]:
    space = test.space
    for name, ends in span.items():
        space.index(name)
        low, high = ends
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise InputError(f"span: {name} needs a low and a high end, got {low!r} and {high!r}")
    missing = [name for name in space.names if name not in span]
    reach = dict(zip(missing, extent(test, missing, space.point()).tolist(), strict=True)) if missing else {}
    number = POINTS[len(space.names)] if points is None else points
    values = {}
    for name in space.names:
        count = number.get(name, POINTS[len(space.names)]) if isinstance(number, Mapping) else number
        if count < 2:
            raise InputError(f"points: {name} needs at least 2, got {count}")
        low, high = span[name] if name in span else reach[name]
        values[name] = np.linspace(low, high, count)
    return values


def _product(values: Mapping[str, Array], names: list[str]) -> Array:
    """All combinations (n, k) of values."""
    if not names:
        return np.zeros((1, 0))
    grid = np.meshgrid(*(values[name] for name in names), indexing="ij")
    return np.stack([part.ravel() for part in grid], axis=-1)


def _tested_compiled(
    test: WorkspaceTest,
    values: Mapping[str, Array],
    turning: list[str],
    moving: list[str],
    keep: bool,
    bar: bool | None,
) -> _Found:
    """By compiled conditions: orientations are designs, positions states."""
    space, tool = test.space, predicate(test.space.model)
    x = np.zeros((len(_product(values, turning)), len(space.names)))
    x[:, space.turns] = _product(values, turning)
    rotations = space.poses(x)[:, :3, :3]
    offsets = space.offsets(rotations) if space.full else np.tile(space.home[:3, 3], (len(rotations), 1))
    designs = predicate_designs(space.model, rotations, offsets, space.sign)
    y = np.zeros((len(_product(values, moving)), len(space.names)))
    y[:, ~space.turns] = _product(values, moving)
    columns = (y[:, :3] if space.full else y @ space.model.mobility.basis[:3].T).T
    n = columns.shape[1]
    by_orientation, by_position = np.zeros(len(designs)), np.zeros(n, dtype=np.int64)
    size = cell_sizes({name: values[name] for name in moving}).ravel()
    limits, kept, count = 0, [], 0
    for first in tracked(range(0, len(designs), DESIGNS), "counting", bar):
        for start in range(0, n, TILE):
            bits = tool(designs[first : first + DESIGNS], columns[:, start : start + TILE])
            limits += int(_COUNT[bits[:, 0]].sum())
            design, state = _set_bits(bits[:, 1], tool.width)
            by_orientation[first : first + DESIGNS] += np.bincount(design, size[start + state], len(bits))
            by_position += np.bincount(start + state, minlength=n)
            count += len(design)
            if keep and count <= KEPT:
                kept.append((first + design) * n + start + state)
    return _Found(limits, count, by_orientation, by_position, _gathered(kept) if keep and count <= KEPT else None)


def _set_bits(bits: NDArray[np.uint8], width: int) -> tuple[Index, Index]:
    """Numbers of the designs and states whose bits (D, v) are set."""
    design, vector = np.nonzero(bits)
    bytes_ = bits[design, vector]
    each = _COUNT[bytes_]
    begin = np.repeat(np.cumsum(each) - each, each)
    lanes = _ALL_LANES[np.repeat(_FIRST[bytes_], each) + np.arange(len(begin)) - begin]
    return np.repeat(design, each), np.repeat(vector, each) * width + lanes


def _judged(
    test: WorkspaceTest,
    values: Mapping[str, Array],
    turning: list[str],
    moving: list[str],
    keep: bool,
    bar: bool | None,
) -> _Found:
    """Pose by pose in blocks, for any robot and any requirement."""
    space = test.space
    shape = tuple(len(values[name]) for name in (*turning, *moving))
    n = prod(len(values[name]) for name in moving)
    total = prod(shape)
    by_orientation, by_position = np.zeros(total // n), np.zeros(n, dtype=np.int64)
    size = cell_sizes({name: values[name] for name in moving}).ravel()
    limits, kept, count = 0, [], 0
    for first in tracked(range(0, total, BLOCK), "counting", bar):
        rows = np.arange(first, min(first + BLOCK, total))
        x = np.zeros((len(rows), len(space.names)))
        for name, index in zip((*turning, *moving), np.unravel_index(rows, shape), strict=True):
            x[:, space.index(name)] = values[name][index]
        found = test(x)
        limits += int((found.inside | (found.kept & (found.determinant < 0))).sum())
        inside = rows[found.inside]
        by_orientation += np.bincount(inside // n, size[inside % n], len(by_orientation))
        by_position += np.bincount(inside % n, minlength=n)
        count += len(inside)
        if keep and count <= KEPT:
            kept.append(inside)
    return _Found(limits, count, by_orientation, by_position, _gathered(kept) if keep and count <= KEPT else None)


def _gathered(kept: list[Index]) -> Index:
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *kept]))


def _home(values: Mapping[str, Array], turning: list[str], moving: list[str]) -> tuple[int, ...]:
    return tuple(int(np.abs(values[name]).argmin()) for name in (*turning, *moving))


def _connected_part(kept: Index | None, shape: tuple[int, ...], home: tuple[int, ...]) -> float:
    """How many of the poses inside, by their numbers (sorted), are connected with home face by face; NaN if unknown."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if kept is None:
        return float("nan")
    if not len(kept):
        return 0.0
    strides = np.r_[np.cumprod(shape[::-1])[-2::-1], 1].astype(np.int64)
    pairs: list[tuple[Index, Index]] = []
    for stride, size in zip(strides, shape, strict=True):
        own = np.flatnonzero(kept // stride % size < size - 1)
        at = np.searchsorted(kept, kept[own] + stride)
        met = at < len(kept)
        met[met] = kept[at[met]] == kept[own[met]] + stride
        pairs.append((own[met], at[met]))
    rows, columns = (np.concatenate(part) for part in zip(*pairs, strict=True))
    graph = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(len(kept),) * 2)
    _, parts = connected_components(graph, directed=False)
    where = int(np.ravel_multi_index(home, shape))
    at_home = int(np.searchsorted(kept, where))
    if at_home == len(kept) or kept[at_home] != where:
        # home is between points of the grid: the nearest pose inside stands for it
        index = np.stack(np.unravel_index(kept, shape), axis=1)
        at_home = int(np.abs(index - np.array(home)).sum(axis=1).argmin())
    return float((parts == parts[at_home]).sum())
