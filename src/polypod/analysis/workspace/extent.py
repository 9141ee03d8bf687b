"""How far a workspace reaches: the box of coordinates that holds the part of it around home."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from .pose_coordinates import PoseCoordinates, WorkspaceTest
from .quantities import limit_names

_COARSE = {1: 129, 2: 33, 3: 17, 4: 11, 5: 9, 6: 7}
"""Points a coordinate of the grids that are looked at first."""
_ITERATIONS = 24
_REACH = 40.0
"""How many of its sizes a robot is followed before it is said to have no edge."""
_FILLED = 0.55
"""Part of a box that the workspace takes in every coordinate when the box is tight enough."""


def extent(test: WorkspaceTest, names: Sequence[str], at: Array) -> Array:
    """Lows and highs (k, 2) of coordinates by name within which the workspace around ``at`` lies, the others fixed.

    Angles go half a turn at most (pitch a quarter). Raises ``InputError`` if nothing bounds a displacement.
    """
    space = test.space
    indices = [space.index(name) for name in names]
    turns = space.turns[indices]
    most = np.where(turns, np.pi, _REACH * space.scale)
    if space.full:
        most[[k for k, name in enumerate(names) if name == "pitch"]] = 0.5 * np.pi
    half = np.where(turns, 0.5, 0.5 * space.scale)
    box = np.stack([-half, half], axis=1)
    best = box
    for _ in range(_ITERATIONS):
        inside, axes = _component(test, indices, at, box)
        new, tight, touched = np.empty_like(box), True, False
        for k, values in enumerate(axes):
            used = np.flatnonzero(inside.any(axis=tuple(j for j in range(len(indices)) if j != k)))
            step = values[1] - values[0]
            for side, index in ((0, used[0]), (1, used[-1])):
                edge = 0 if side == 0 else len(values) - 1
                free = abs(box[k, side]) < most[k] * (1 - 1e-12)
                outward = 2 * side - 1
                if index == edge and free:
                    touched = True
                    # twice as far from home, or as wide again where that would be nearer
                    away = outward * box[k, side]
                    new[k, side] = box[k, side] + outward * (away if away > 0 else box[k, 1] - box[k, 0])
                else:
                    new[k, side] = values[index] + outward * step
                new[k, side] = np.clip(new[k, side], -most[k], most[k])
            width = values[used[-1]] - values[used[0]]
            tight &= width >= _FILLED * (values[-1] - values[0])
        best = box = new
        if not touched and tight:
            return best
        endless = [name for k, name in enumerate(names) if not turns[k] and np.abs(box[k]).max() >= most[k]]
        if endless:
            raise InputError(_no_edge(space, endless))
    return best


def _component(test: WorkspaceTest, indices: list[int], at: Array, box: Array) -> tuple[NDArray[np.bool_], list[Array]]:
    """The connected part of a coarse grid that has ``at`` in it, and the grid's axes; an error if that is outside."""
    count = _COARSE[len(indices)]
    axes = [np.linspace(low, high, count) for low, high in box]
    # the grid has the point itself, so that a workspace of a cell is found
    axes = [values - values[np.abs(values - at[p]).argmin()] + at[p] for values, p in zip(axes, indices, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(indices))
    x = np.tile(at, (len(grid), 1))
    x[:, indices] = grid
    inside = test(x).inside.reshape((count,) * len(indices))
    parts, _ = scipy.ndimage.label(inside, scipy.ndimage.generate_binary_structure(len(indices), len(indices)))
    here = parts[tuple(int(np.abs(v - at[p]).argmin()) for v, p in zip(axes, indices, strict=True))]
    if not here:
        raise InputError(outside_message(test, at), code="outside_workspace")
    return parts == here, axes


def outside_message(test: WorkspaceTest, at: Array) -> str:
    """What to say of a point that maps start from and that is not in the workspace."""
    leg, name = test.limits[int(test(at[None]).binding[0])]
    where = ", ".join(f"{n} {v:.6g} {u}" for n, v, u in zip(test.space.names, at, test.space.units, strict=True) if v)
    return (
        f"at: the start point of the map ({where or 'home'}) is outside the workspace: {leg}, {name}. Start from "
        "another point, or widen that limit"
    )


def _no_edge(space: PoseCoordinates, names: Sequence[str]) -> str:
    robot = space.model.robot
    limited = {leg for leg, _ in limit_names(space.model)}
    limits = [leg.name for leg in robot.legs if leg.name in limited]
    have = f"only {', '.join(limits)} have limits" if limits else "no leg has a limit"
    return (
        f"workspace: the workspace of {robot.name!r} is unbounded along {', '.join(names)}: {have}. Add limits to "
        "the robot file (length, range, base_cone, platform_cone of legs, range or cone of joints), or give a "
        "span of the coordinates"
    )
