"""The robot at home with its main dimensions in mm: from the side and above, in plan, and in side view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...datasets import robot_of
from ...description import Robot
from ...drawing import PosedRobot, posed
from .scene import draw, extent, frame, note
from .style import INK, add_circle, figure
from .view import View, best_view, points_down

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_WIDTH = 7.2
_DIMENSION = "#7A1FA2"
_ROUND = 0.02  # joints are on a circle if their radii differ by less, of the mean


def geometry(result: xr.Dataset) -> Figure:
    """Three views of the robot of a study at home, with the radii of the joint circles and the platform's height [mm].

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    return dimensions(robot_of(result))


def dimensions(robot: Robot) -> Figure:
    """Three views of a robot at home, with the radii of the joint circles and the platform's height [mm].

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    poses = robot.home.matrix[None]
    drawn = posed(robot, poses)
    down = points_down(robot)
    views = [("", best_view(robot, drawn)), ("plan", View.plan(down)), ("side", View.side(down))]
    boxes = [extent(robot, drawn, poses, view, bare=bool(name)) for name, view in views]
    boxes = [(low - 0.09 * (high - low).max(), high + 0.06 * (high - low).max()) if k else (low, high)
             for k, (low, high) in enumerate(boxes)]  # fmt: skip
    shares = [float((high - low)[0]) for low, high in boxes]
    tallest = max(float((high - low)[1]) for low, high in boxes)
    scale = _WIDTH / sum(shares)
    height = min(scale * tallest, 4.0)
    fig = figure(_WIDTH, height + 0.3, fitted=False)
    x = 0.0
    for (name, view), (low, high), share in zip(views, boxes, shares, strict=True):
        width = share / sum(shares)
        axes = fig.add_axes((x, 0.0, width, height / (height + 0.3)))
        draw(axes, robot, drawn, 0, poses[0], view, names=not name, letters=6.5)
        if name == "plan" and not _circles(axes, drawn, view):
            _span(axes, drawn, view)
        elif name == "side":
            _height(axes, drawn, view)
        frame(axes, low, high, scale=not name)
        fig.text(x + 0.5 * width, 1.0 - 0.06 / (height + 0.3), name or f"{robot.name} at home {note(robot)}".strip(),
                  fontsize=9, color=INK, va="top", ha="center")  # fmt: skip
        x += width
    return fig


def circle_of(points: Array) -> tuple[Array, float] | None:
    """Centre (3) and radius of a circle about a vertical line through the points' middle; None if they are on none."""
    if len(points) < 3:
        return None
    centre = points.mean(axis=0)
    radii = np.linalg.norm((points - centre)[:, :2], axis=1)
    level = np.ptp(points[:, 2]) <= _ROUND * radii.mean()
    return (centre, float(radii.mean())) if level and np.ptp(radii) <= _ROUND * radii.mean() else None


def _circles(axes: Any, drawn: PosedRobot, view: View) -> bool:
    """Dashed circles through the joints of base and platform, each with its radius; whether there are any."""
    found_any = False
    for points, way in ((drawn.ground, np.array([-0.75, -0.66])), (drawn.platform[0], np.array([0.6, 0.8]))):
        found = circle_of(points)
        if found is None:
            continue
        found_any = True
        centre, radius = view.project(found[0]), found[1]
        add_circle(axes, centre, radius, color=_DIMENSION, linewidth=0.8, linestyle=(0, (5, 3)), zorder=10)
        end = centre + radius * way / np.linalg.norm(way)
        axes.annotate("", end, centre, arrowprops={"arrowstyle": "-|>", "color": _DIMENSION, "lw": 0.8, "shrinkA": 0,
                                                   "shrinkB": 0, "mutation_scale": 6}, zorder=11)  # fmt: skip
        _write(axes, centre + 0.6 * (end - centre), f"R {1e3 * radius:.4g}")
    return found_any


def _span(axes: Any, drawn: PosedRobot, view: View) -> None:
    """How wide the joints are apart in plan, below them, and how deep, at their left."""
    flat = view.project(np.concatenate([drawn.joints[0], *(ends for _, ends in drawn.rails())]))
    low, high = flat.min(axis=0), flat.max(axis=0)
    gap = 0.07 * float((high - low).max())
    for k in range(2):
        if high[k] - low[k] < 0.1 * float((high - low).max()):
            continue
        side = np.array([low[0] - gap, low[1] - gap])
        ends = [np.where(np.arange(2) == k, end, side) for end in (low, high)]
        _arrow(axes, ends[1], ends[0])
        _write(axes, 0.5 * (ends[0] + ends[1]), f"{1e3 * (high[k] - low[k]):.4g}", rotation=90.0 * k)


def _arrow(axes: Any, end: Array, start: Array) -> None:
    """A line of dimension, with a head at both ends."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "<|-|>", "color": _DIMENSION, "lw": 0.8, "shrinkA": 0,
                                              "shrinkB": 0, "mutation_scale": 6})  # fmt: skip


def _height(axes: Any, drawn: PosedRobot, view: View) -> None:
    """From the joints on the base to those on the platform, upright."""
    if not len(drawn.ground):
        return
    feet, heads = view.project(drawn.ground), view.project(drawn.platform[0])
    low, high = float(feet[:, 1].mean()), float(heads[:, 1].mean())
    if abs(high - low) < 0.02 * float(np.ptp(feet, axis=0).max() + np.ptp(heads, axis=0).max()):
        return  # a robot in a level plane
    x = float(min(feet[:, 0].min(), heads[:, 0].min())) - 0.1 * float(np.ptp(feet[:, 0]) + abs(high - low)) * 0.5
    _arrow(axes, np.array([x, high]), np.array([x, low]))
    for y, end in ((low, feet[:, 0].min()), (high, heads[:, 0].min())):
        axes.plot([x, end], [y, y], color=_DIMENSION, linewidth=0.6, linestyle=(0, (5, 3)))
    _write(axes, np.array([x, 0.5 * (low + high)]), f"{1e3 * abs(high - low):.4g}", rotation=90)


def _write(axes: Any, place: Array, text: str, rotation: float = 0.0) -> None:
    axes.text(*place, text, fontsize=7.5, color=_DIMENSION, ha="center", va="center", rotation=rotation, zorder=12,
              bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
