"""Robot and forces side by side: a study at a glance."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ...datasets import robot_of
from ..read import actuators
from .fit import put
from .scene import PAD, PATH_STYLE, draw, points_down, settle
from .skeleton import skeleton
from .style import INK, dress, figure, leg_line

_WIDTH, _HEIGHT, _LEFT = 9.0, 3.6, 4.1  # inches: of the figure, and of the robot's part


def cover(result: xr.Dataset) -> Figure:
    """The robot at the largest force, the platform's path, and the actuator forces over time [N or N m].

    A vertical line marks the instant that the robot is drawn at.
    """
    made = figure(_WIDTH, _HEIGHT, fitted=False)
    peak = int(np.abs(result.force.values).max(axis=1).argmax())
    robot, pose, time = robot_of(result), result.pose.values, result.time.values
    lines = skeleton(robot, pose[peak][None])
    left = made.add_axes((0.0, 0.0, 0.4, 1.0), projection="3d")
    draw(left, robot, lines, 0, pose[:, :3, 3], 7.0)
    room = _LEFT - 2 * PAD, _HEIGHT - 0.4
    ink = settle(made, left, robot, lines, room, 8.0)
    put(made, left, ink, PAD + 0.5 * (room[0] - ink.width), 0.3 + 0.5 * (room[1] - ink.height))
    note = "; z points down" if points_down(robot) else ""
    handle = left.plot([], [], [], **PATH_STYLE)[0]
    made.legend([handle], [f"path of the platform's origin{note}"], loc="lower center", frameon=False, fontsize=8,
                bbox_to_anchor=(0.5 * _LEFT / _WIDTH, 0.0), handlelength=2.8)  # fmt: skip
    right = made.add_axes((0.54, 0.15, 0.44, 0.62))
    for k, name in enumerate(actuators(result)):
        right.plot(time, result.force.values[:, k], label=name, **leg_line(k))
    right.axvline(time[peak], color=INK, linewidth=0.6)
    dress(right, "time [s]", f"actuator force [{result.force.attrs['units']}]")
    early = time[peak] < 0.6 * time[-1]
    right.annotate(
        "robot drawn here", (time[peak], 1.0), (3 if early else -3, 2), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="left" if early else "right", fontsize=8, color=INK,
    )  # fmt: skip
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.05), ncols=3, fontsize=8, frameon=False, handlelength=2.8)
    return made
