"""Assembly modes of a robot side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ...description import Robot
from ...legs import Leg
from ...model import AssemblyModes, Reach
from .fit import Ink, put
from .scene import PAD, draw, extent, points_down, settle
from .skeleton import Bone, Skeleton, skeleton
from .style import INK, figure

Array = NDArray[np.float64]
_WIDTH, _HEIGHT, _HEAD = 2.6, 2.6, 0.36  # inches, at most, of a panel; above it
_COLUMNS, MOST = 4, 16
"""Panels in a row, and in all: more cannot be read."""


def modes_picture(robot: Robot, q: Array, modes: AssemblyModes) -> Figure:
    """The robot in every mode (at most 16, those nearest to home first), all in one scale and from one side.

    Each says whether it is proven, within limits and reachable from home; a mode in another working mode of the legs is
    drawn by its struts alone.
    """
    count = min(len(modes.pose), MOST)
    lines = [
        skeleton(robot, modes.pose[k][None]) if modes.own_branch[k] else _struts(robot, q, modes.pose[k])
        for k in range(count)
    ]
    every = np.concatenate([extent(part) for part in lines])
    made = figure(_WIDTH * _COLUMNS, _HEIGHT, fitted=False)
    panels: list[Any] = []
    inks: list[Ink] = []
    for part in lines:
        axes: Any = made.add_axes((0.0, 0.0, 0.5, 0.5), projection="3d")
        draw(axes, robot, part, 0, None, 5.5, every)
        if panels:
            axes.view_init(elev=panels[0].elev, azim=panels[0].azim, roll=panels[0].roll)
        panels.append(axes)
        inks.append(settle(made, axes, robot, part, (_WIDTH, _HEIGHT), 5.5, inks[0].side if inks else None))
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    width, height = max(i.width for i in inks) + 4 * PAD, max(i.height for i in inks) + _HEAD + 2 * PAD
    foot = 0.24
    made.set_size_inches(columns * width, rows * height + foot)
    for k, (axes, ink) in enumerate(zip(panels, inks, strict=True)):
        row, column = divmod(k, columns)
        left, top = column * width, foot + (rows - row) * height
        put(made, axes, ink, left + 0.5 * (width - ink.width), top - _HEAD - 0.5 * (height - _HEAD + ink.height))
        made.text((left + 0.5 * width) / (columns * width), (top - PAD) / (rows * height + foot), _title(modes, k),
                  ha="center", va="top", fontsize=7, color=INK)  # fmt: skip
    made.text(0.01, 0.01, _foot(robot, len(modes.pose), count), fontsize=7, color=INK, va="bottom")
    return made


def words(modes: AssemblyModes, k: int) -> list[str]:
    """What is known of a mode of one state, in words."""
    reach = {Reach.YES: "reachable", Reach.NO: "beyond a singularity", Reach.UNKNOWN: "reachable: unknown"}
    if not modes.own_branch[k]:
        limits = "another working mode"
    else:
        limits = "within limits" if modes.within_limits[k] else "outside limits"
    return ["proven" if modes.certified[k] else "not proven", limits, reach[Reach(modes.reachable[k])]]


def _title(modes: AssemblyModes, k: int) -> str:
    proven, limits, reach = words(modes, k)
    return f"mode {k + 1}, {proven}\n{limits}, {reach}"


def _foot(robot: Robot, total: int, drawn: int) -> str:
    more = f"; {total - drawn} more modes are not drawn" if total > drawn else ""
    down = "; z points down" if points_down(robot) else ""
    return f"{robot.name}: poses with the same actuated coordinates, nearest to home first{more}{down}"


def _struts(robot: Robot, q: Array, pose: Array) -> Skeleton:
    """Lines from the points that the actuators hold to the platform's joints."""
    found = [leg.strut(q[k : k + 1]) for k, leg in enumerate(robot.legs) if isinstance(leg, Leg)]
    struts = [strut for strut in found if strut is not None]
    ends = np.array([[s.point[0], pose[:3, :3] @ s.joint + pose[:3, 3]] for s in struts])
    bones = tuple(Bone(k, pair[None], False) for k, pair in enumerate(ends))
    joints = ends.reshape(1, -1, 3)
    return Skeleton(bones, (), joints, ends[None, :, 1], ends[:, 0], ends[None, :, 0])
