"""Assembly modes of a robot side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...drawing import BASE, PLATFORM, PosedRobot, Shape, posed
from ...drawing.shapes import ROD, flat_outline
from ...legs import Leg
from ...model import AssemblyModes
from ...viewer.extras import mode_labels
from .scene import draw, extent, frame
from .style import INK, figure
from .view import best_view, points_down

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _HEAD, _FOOT = 2.6, 3.2, 0.36, 0.24  # inches, at most, of a panel; above it; below all
_COLUMNS, MOST = 4, 16
"""Panels in a row, and in all: more cannot be read."""


def modes_picture(robot: Robot, q: Array, modes: AssemblyModes) -> Figure:
    """The robot in every assembly mode (at most 16, nearest to home first), to one scale and from one side.

    Each says whether it is proven, within limits and reachable from home; a mode with legs in another working mode is
    drawn by its struts alone.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : ndarray, shape (n,)
        Coordinates of the actuators [m or rad].
    modes : AssemblyModes
        Modes of one state, from ``Model.assembly_modes``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    count = min(len(modes.pose), MOST)
    parts = [
        posed(robot, modes.pose[k][None]) if modes.own_branch[k] else _struts(robot, q, modes.pose[k])
        for k in range(count)
    ]
    view = best_view(robot, parts[0])
    boxes = np.array([extent(robot, part, modes.pose[k][None], view) for k, part in enumerate(parts)])
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    wide, tall = high - low
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    height = min(_WIDTH * tall / wide, _HEIGHT)
    total = rows * (height + _HEAD) + _FOOT
    fig = figure(columns * _WIDTH, total, fitted=False)
    for k, part in enumerate(parts):
        row, column = divmod(k, columns)
        top = total - row * (height + _HEAD)
        axes = fig.add_axes((column / columns, (top - _HEAD - height) / total, 1.0 / columns, height / total))
        draw(axes, robot, part, 0, modes.pose[k], view, letters=5.5)
        frame(axes, low, high, scale=k == 0)
        fig.text((column + 0.5) / columns, (top - 0.04) / total, _title(modes, k), ha="center", va="top", fontsize=7,
                  color=INK)  # fmt: skip
    fig.text(0.01, 0.01, _foot(robot, len(modes.pose), count), fontsize=7, color=INK, va="bottom")
    return fig


def _title(modes: AssemblyModes, k: int) -> str:
    proven, limits, reach = mode_labels(modes, k)
    return f"mode {k + 1}, {proven}\n{limits}, {reach}"


def _foot(robot: Robot, total: int, drawn: int) -> str:
    more = f"; {total - drawn} more modes are not drawn" if total > drawn else ""
    down = "; z points down" if points_down(robot) else ""
    return f"{robot.name}: poses with the same actuated coordinates, nearest to home first{more}{down}"


def _struts(robot: Robot, q: Array, pose: Array) -> PosedRobot:
    """Bars from the points that the actuators hold to the platform's joints."""
    found = [leg.strut(q[k : k + 1]) for k, leg in enumerate(robot.legs) if isinstance(leg, Leg)]
    struts = [strut for strut in found if strut is not None]
    starts = [strut.point if strut.start is None else strut.start for strut in struts]
    ends = np.array([[p[0], pose[:3, :3] @ s.joint + pose[:3, 3]] for p, s in zip(starts, struts, strict=True)])
    bar = ROD * float(np.linalg.norm(np.ptp(ends.reshape(-1, 3), axis=0)))
    shapes = [Shape(BASE, "base", pair, bar, "link", k) for k, pair in enumerate(ends)]
    shapes += [Shape(BASE, "base", point[None], 1.35 * bar, "joint") for point in ends.reshape(-1, 3)]
    outline = flat_outline(ends[:, 1])
    if outline is not None:
        shapes.append(Shape(PLATFORM, "platform", outline, bar, "platform"))
    frames = np.tile(np.eye(4), (1, 2, 1, 1))
    return PosedRobot(tuple(shapes), frames, ends.reshape(1, -1, 3), ends[None, :, 1], ends[:, 0], ends[None, :, 0])
