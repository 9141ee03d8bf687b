"""Stiffness over a robot's plane of motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ...analysis import resonances, stiffness
from ...errors import InputError
from ...model import Model
from .style import INK, dress, figure

Array = NDArray[np.float64]
_POINTS = 41
_WIDTH = 2.0
"""Half the map's width in sizes of the platform."""


def stiffness_map(model: Model, **given: Any) -> Figure:
    """Lowest natural frequency [Hz] and stiffness along z [N/um] over x and y at home's height and orientation.

    White where the robot is out of reach, outside its limits or nearly singular.
    """
    if not model.mobility.full:
        raise InputError(f"map: a robot of six freedoms is needed, {model.robot.name!r} has {len(model.freedoms)}")
    home = model.robot.home.matrix
    steps = np.linspace(-_WIDTH, _WIDTH, _POINTS) * model.size
    pose = np.tile(home, (_POINTS, _POINTS, 1, 1))
    pose[..., 0, 3] += steps[None, :]
    pose[..., 1, 3] += steps[:, None]
    inside = _usable(model, pose)
    lowest, along = (np.full(inside.shape, np.nan) for _ in range(2))
    lowest[inside] = resonances(model, pose[inside], **given).frequency[:, 0]
    along[inside] = 1e-6 / stiffness(model, pose[inside], **given).compliance[:, 2, 2]
    made = figure(8.4, 3.6)
    for axes, values, label in zip(
        made.subplots(1, 2), (lowest, along), ("lowest natural frequency [Hz]", "stiffness along z [N/um]"), strict=True
    ):
        x, y = (home[k, 3] + steps for k in range(2))
        drawn = axes.contourf(x, y, values, levels=14, cmap="viridis")
        axes.plot(*home[:2, 3], marker="+", color="white", markersize=9)
        axes.set_aspect("equal")
        for limit, used, place in ((axes.set_xlim, inside.any(axis=0), x), (axes.set_ylim, inside.any(axis=1), y)):
            limit(*(place[used].mean() + 0.6 * (np.ptp(place[used]) + 2 * (place[1] - place[0])) * np.array([-1, 1])))
        dress(axes, "x [m]", "y [m]", label)
        made.colorbar(drawn, ax=axes, shrink=0.85).ax.tick_params(labelsize=8, colors=INK)
    made.suptitle(f"{model.robot.name}, z = {home[2, 3]:.3g} m, orientation of home (+: home)", fontsize=9, color=INK)
    return made


def _usable(model: Model, pose: Array) -> NDArray[np.bool_]:
    """Poses within limits whose Jacobian is no worse than a tenth of home's."""
    conditioning = model.conditioning(pose)
    least = 0.1 * model.conditioning(model.robot.home.matrix).distance
    return np.asarray((conditioning.distance > least) & model.limits(pose).inside.all(axis=-1))
