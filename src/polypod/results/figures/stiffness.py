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

_POINTS = 41
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
    steps = np.linspace(-1.0, 1.0, _POINTS)[:, None] * reach
    x = np.zeros((_POINTS, _POINTS, len(space.names)))
    x[..., 0], x[..., 1] = steps[None, :, 0], steps[:, None, 1]
    pose = space.poses(x.reshape(-1, x.shape[-1])).reshape(_POINTS, _POINTS, 4, 4)
    inside = _usable(model, pose)
    if not inside.any():
        raise InputError(
            f"map: {model.robot.name!r} has no poses around home within its limits and away from singular poses",
            code="no_poses",
        )
    lowest, along = (np.full(inside.shape, np.nan) for _ in range(2))
    lowest[inside] = resonances(model, pose[inside], **given).frequency[:, 0]
    along[inside] = 1e-6 / stiffness(model, pose[inside], **given).compliance[:, last, last]
    fig = figure(8.4, 3.6)
    unit = "N m/urad" if space.turns[last] else "N/um"
    words = "lowest natural frequency [Hz]", f"stiffness along {space.names[last]} [{unit}]"
    factor = np.where(space.turns, 180 / np.pi, 1.0)
    start = np.where(space.full, space.home[:2, 3], 0.0)
    names = [f"{n} [{'deg' if turns else 'm'}]" for n, turns in zip(space.names, space.turns, strict=True)]
    for axes, values, label in zip(fig.subplots(1, 2), (lowest, along), words, strict=True):
        across, up = (start[k] + factor[k] * steps[:, k] for k in range(2))
        drawn = axes.contourf(across, up, values, levels=14, cmap="viridis")
        axes.plot(*start, marker="+", color="white", markersize=9)
        if space.turns[0] == space.turns[1]:
            axes.set_aspect("equal")
        for limit, used, place in (
            (axes.set_xlim, inside.any(axis=0), across),
            (axes.set_ylim, inside.any(axis=1), up),
        ):
            limit(*(place[used].mean() + 0.6 * (np.ptp(place[used]) + 2 * (place[1] - place[0])) * np.array([-1, 1])))
        dress(axes, names[0], names[1], label)
        fig.colorbar(drawn, ax=axes, shrink=0.85).ax.tick_params(labelsize=8, colors=INK)
    where = f"z = {space.home[2, 3]:.3g} m, orientation of home" if space.full else "other coordinates as at home"
    fig.suptitle(f"{model.robot.name}, {where} (+: home)", fontsize=9, color=INK)
    return fig


def _usable(model: Model, pose: Array) -> NDArray[np.bool_]:
    """Poses within limits whose Jacobian is no worse than a tenth of home's."""
    home = model.robot.home.matrix
    there: NDArray[np.bool_] = np.asarray(np.isfinite(pose).all(axis=(2, 3)))
    pose = np.where(there[..., None, None], pose, home)
    conditioning = model.conditioning(pose)
    least = 0.1 * model.conditioning(home).distance
    return np.asarray(there & (conditioning.distance > least) & model.joint_ranges(pose).inside.all(axis=-1))
