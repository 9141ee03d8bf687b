"""Robot and forces side by side: a study at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...datasets import internal_of, robot_of
from ...drawing import posed
from ..read import actuator_names
from .scene import PATH_STYLE, draw, extent, frame
from .style import INK, dress, figure, leg_line
from .view import best_view, points_down

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def cover(result: xr.Dataset) -> Figure:
    """The robot at the largest force, the platform's path, and the actuator forces over time [N or N m].

    A vertical line marks the time at which the robot is drawn.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    fig = figure(9.0, 3.6, fitted=False)
    peak = int(np.abs(result.force.values).max(axis=1).argmax())
    robot, pose, time = robot_of(result), result.pose.values, result.time.values
    drawn = posed(robot, pose[peak][None], internal=internal_of(result, [peak]))
    view, path = best_view(robot, drawn), pose[:, :3, 3]
    left = fig.add_axes((0.0, 0.08, 0.44, 0.9))
    draw(left, robot, drawn, 0, pose[peak], view, path)
    frame(left, *extent(robot, drawn, pose[peak][None], view, path))
    note = "; z points down" if points_down(robot) else ""
    handle = left.plot([], [], **PATH_STYLE)[0]
    fig.legend([handle], [f"path of the platform's origin{note}"], loc="lower center", frameon=False, fontsize=8,
                bbox_to_anchor=(0.22, 0.0), handlelength=2.8)  # fmt: skip
    right = fig.add_axes((0.54, 0.15, 0.44, 0.62))
    for k, name in enumerate(actuator_names(result)):
        right.plot(time, result.force.values[:, k], label=name, **leg_line(k))
    right.axvline(time[peak], color=INK, linewidth=0.6)
    dress(right, "time [s]", f"actuator force [{result.force.attrs['units']}]")
    early = time[peak] < 0.6 * time[-1]
    right.annotate(
        "robot drawn here", (time[peak], 1.0), (3 if early else -3, 2), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="left" if early else "right", fontsize=8, color=INK,
    )  # fmt: skip
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.05), ncols=3, fontsize=8, frameon=False, handlelength=2.8)
    return fig
