"""Stiffness over a robot's plane of motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ...analysis import resonances, stiffness
from ...analysis.workspace import PoseCoordinates
from ...arrays import Array
from ...errors import InputError
from ...model import Model
from .style import INK, dress, figure

_ROUGH, _POINTS = 41, 121
_WIDTH = 2.0
"""Half the map's width in sizes of the platform, or"""
_TURN = np.radians(40)
"""half of it where a coordinate is an angle."""


def stiffness_map(model: Model, **given: Any) -> Figure:
    """Lowest natural frequency [Hz] and stiffness along one coordinate over two others, the rest as at home.

    Over x and y, with the stiffness along z, of robots of six degrees of freedom; of fewer over their first two
    coordinates, with that along the last. White where the robot is out of reach, outside its limits or nearly singular.
    """
    space = PoseCoordinates(model)
    if len(space.names) < 2:
        raise InputError(f"map: needs a robot with at least two degrees of freedom, {model.robot.name!r} has 1")
    last = 2 if space.full else len(space.names) - 1
    reach = np.where(space.turns, _TURN, _WIDTH * model.size)
    rough = np.linspace(-1.0, 1.0, _ROUGH)[:, None] * reach[:2]
    _, seen = _grid(model, space, rough)
    if not seen.any():
        raise InputError(
            f"map: {model.robot.name!r} has no poses around home within its limits and away from singular poses",
            code="no_poses",
        )
    used = [rough[seen.any(axis=k), k] for k in range(2)]
    margin = rough[1] - rough[0]
    steps = np.stack(
        [np.linspace(u.min() - m, u.max() + m, _POINTS) for u, m in zip(used, margin, strict=True)], axis=1
    )
    pose, inside = _grid(model, space, steps)
    lowest, along = (np.full(inside.shape, np.nan) for _ in range(2))
    lowest[inside] = resonances(model, pose[inside], **given).frequency[:, 0]
    along[inside] = 1e-6 / stiffness(model, pose[inside], **given).compliance[:, last, last]
    fig = figure(8.4, 3.6)
    unit = "N m/urad" if space.turns[last] else "N/um"
    words = "lowest natural frequency [Hz]", f"stiffness along {space.names[last]} [{unit}]"
    factor = np.where(space.turns, 180 / np.pi, 1e3)
    start = 1e3 * np.where(space.full, space.home[:2, 3], 0.0)
    names = [f"{n} [{'deg' if turns else 'mm'}]" for n, turns in zip(space.names, space.turns, strict=True)]
    for axes, values, label in zip(fig.subplots(1, 2), (lowest, along), words, strict=True):
        across, up = (start[k] + factor[k] * steps[:, k] for k in range(2))
        top = float(np.nanmax(values))
        # little variation looks like little: colours span a fifth at least
        drawn = axes.contourf(across, up, values, levels=np.linspace(min(float(np.nanmin(values)), 0.8 * top), top, 15),
                              cmap="viridis")  # fmt: skip
        axes.plot(*start, marker="+", color="white", markersize=9)
        if space.turns[0] == space.turns[1]:
            axes.set_aspect("equal")
        axes.set_xlim(across[0], across[-1])
        axes.set_ylim(up[0], up[-1])
        dress(axes, names[0], names[1], label)
        fig.colorbar(drawn, ax=axes, shrink=0.85, format="%.3g").ax.tick_params(labelsize=8, colors=INK)
    where = (
        f"z = {1e3 * space.home[2, 3]:.4g} mm, orientation of home" if space.full else "other coordinates as at home"
    )
    fig.suptitle(f"{model.robot.name}, {where} (+: home)", fontsize=9, color=INK)
    return fig


def _grid(model: Model, space: PoseCoordinates, steps: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Poses (n, n, 4, 4) with the first two coordinates at steps (n, 2), rows along the second; which are usable."""
    count = len(steps)
    x = np.zeros((count, count, len(space.names)))
    x[..., 0], x[..., 1] = steps[None, :, 0], steps[:, None, 1]
    pose = space.poses(x.reshape(-1, x.shape[-1])).reshape(count, count, 4, 4)
    return pose, _usable(model, pose)


def _usable(model: Model, pose: Array) -> NDArray[np.bool_]:
    """Poses within limits whose Jacobian is no worse than a tenth of home's."""
    home = model.robot.home.matrix
    there: NDArray[np.bool_] = np.asarray(np.isfinite(pose).all(axis=(2, 3)))
    pose = np.where(there[..., None, None], pose, home)
    conditioning = model.conditioning(pose)
    least = 0.1 * model.conditioning(home).distance
    return np.asarray(there & (conditioning.distance > least) & model.joint_ranges(pose).inside.all(axis=-1))
