"""A robot in three dimensions: base, rails, legs with their names, platform."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

from ...description import Robot
from .fit import Ink, measure, put, side_within
from .labels import label_legs
from .skeleton import Skeleton, skeleton
from .style import COLOURS, FAINT, INK, figure
from .view import best_view

Array = NDArray[np.float64]
# Thin and whole: a path about home comes back on itself, and dashes of its ways there and back make a blot.
PATH_STYLE: dict[str, Any] = {"color": "#B00020", "linewidth": 0.8}
PAD = 0.06  # inch


def robot_picture(robot: Robot, pose: Array | None = None, title: str | None = None, size: float = 5.2) -> Figure:
    """The robot at a pose (4, 4), its home unless given; at most ``size`` inches wide and high, without white edges."""
    poses = (robot.home.matrix if pose is None else pose)[None]
    lines = skeleton(robot, poses)
    made = figure(size, size, fitted=False)
    axes = made.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    draw(axes, robot, lines, 0, None, 7.0)
    head = " ".join(text for text in (robot.name if title is None else title, _note(robot)) if text)
    room = 0.28 if head else 0.0
    ink = settle(made, axes, robot, lines, (size - 2 * PAD, size - 2 * PAD - room), 8.0)
    made.set_size_inches(ink.width + 2 * PAD, ink.height + 2 * PAD + room)
    put(made, axes, ink, PAD, PAD)
    made.text(0.02, 1.0 - PAD / made.get_figheight(), head, va="top", fontsize=10, color=INK)
    return made


def settle(
    made: Figure, axes: Any, robot: Robot, lines: Skeleton, room: tuple[float, float], letters: float,
    side: float | None = None,
) -> Ink:  # fmt: skip
    """Name the legs in letters of a size [point] and make the picture as large as its room (width, height) [inch].

    Returns its ink; ``side`` is the side of its square if that is known from a picture beside it.
    """
    if side is None:
        side = side_within(made, axes, *room)
    width, height = made.get_size_inches()
    axes.set_position((0.0, 0.0, side / width, side / height))
    names = [leg.name for leg in robot.legs]
    label_legs(axes, names, lines, letters)
    ink = measure(made, axes, side)
    scale = min(room[0] / ink.width, room[1] / ink.height, 1.0)
    if scale == 1.0:
        return ink
    # the names stick out a little: the rest shrinks, the letters stay and find their places anew
    side *= 1.0 - 1.15 * (1.0 - scale)
    axes.set_position((0.0, 0.0, side / width, side / height))
    label_legs(axes, names, lines, letters)
    return measure(made, axes, side)


def _note(robot: Robot) -> str:
    return "(z points down)" if points_down(robot) else ""


def points_down(robot: Robot) -> bool:
    """Whether the base frame's z axis points where things fall."""
    return robot.gravity[2] > 0


def draw(
    axes: Any, robot: Robot, lines: Skeleton, k: int, path: Array | None, tick_size: float, within: Array | None = None
) -> None:
    """The robot at pose k of its skeleton and the path (n, 3) of its platform's origin, in a frame with units.

    The frame has room for the points ``within`` (n, 3) too, so that several pictures have one scale.
    """
    if len(lines.ground) > 2:
        _plate(axes, lines.ground, "#8C8C8C", 0.18)
    for rail in lines.rails:
        axes.plot(*rail.ends.T, color=FAINT, linewidth=4.0, solid_capstyle="round", zorder=1)
        axes.plot(*rail.slider[k][:, None], marker="s", color=COLOURS[rail.leg % len(COLOURS)], markersize=5)
    for bone in lines.bones:
        start, end = bone.ends[k]
        colour = COLOURS[bone.leg % len(COLOURS)]
        if bone.telescopic:
            middle = start + 0.55 * (end - start)
            axes.plot(*np.stack([start, middle], axis=1), color=colour, linewidth=4.0, solid_capstyle="butt")
        axes.plot(*np.stack([start, end], axis=1), color=colour, linewidth=1.8)
    axes.scatter(*lines.joints[k].T, color=INK, s=6, depthshade=False)
    _plate(
        axes, lines.platform[k] if lines.outline is None else lines.outline[k], COLOURS[5], 0.45, lines.outline is None
    )
    points = extent(lines) if within is None else np.concatenate([extent(lines), within])
    if path is not None:
        axes.plot(*path.T, **PATH_STYLE)
        points = np.concatenate([points, path])
    _frame(axes, robot, points, tick_size)
    best_view(axes, lines)


def _plate(axes: Any, points: Array, colour: str, alpha: float, unordered: bool = True) -> None:
    """A polygon through points; unordered ones in order about their middle in the plane that fits them best."""
    middle = points.mean(axis=0)
    _, _, plane = np.linalg.svd(points - middle)
    u, v = (points - middle) @ plane[0], (points - middle) @ plane[1]
    ring = points[np.argsort(np.arctan2(v, u))] if unordered else points
    axes.add_collection3d(Poly3DCollection([ring], facecolor=colour, edgecolor=INK, alpha=alpha, linewidth=0.8))


def extent(lines: Skeleton) -> Array:
    """All points (n, 3) of a robot's lines."""
    parts = [lines.joints.reshape(-1, 3), lines.platform.reshape(-1, 3), *(rail.ends for rail in lines.rails)]
    parts += [] if lines.outline is None else [lines.outline.reshape(-1, 3)]
    return np.concatenate(parts)


def _frame(axes: Any, robot: Robot, points: Array, tick_size: float) -> None:
    """One scale and one step of ticks on all axes, no perspective that would change them; gravity down."""
    low, high = points.min(axis=0), points.max(axis=0)
    largest = float((high - low).max())
    span = np.maximum(high - low, 0.15 * largest) + 0.12 * largest
    step = _step(largest)
    for name, centre, width in zip("xyz", 0.5 * (low + high), span, strict=True):
        getattr(axes, f"set_{name}lim")(centre - 0.5 * width, centre + 0.5 * width)
        pad = tick_size - (11 if name == "z" else 8)
        getattr(axes, f"set_{name}label")(f"{name} [m]", fontsize=tick_size + 1, labelpad=pad)
        ticks = step * np.arange(np.ceil((centre - 0.5 * width) / step), np.floor((centre + 0.5 * width) / step) + 1)
        # at the ends of an axis the numbers of two axes would meet
        inner = ticks[np.abs(ticks - centre) < 0.5 * width - 0.05 * largest]
        getattr(axes, f"{name}axis").set_major_locator(FixedLocator((inner if len(inner) else ticks).tolist()))
    axes.set_proj_type("ortho")
    axes.set_box_aspect(span)
    if points_down(robot):
        # two axes turned are half a turn about the third; one alone would show the robot as in a mirror
        axes.invert_zaxis()
        axes.invert_yaxis()
    axes.tick_params(labelsize=tick_size, pad=tick_size - 8, colors=INK)
    axes.patch.set_visible(False)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_facecolor("white")
        axis.label.set_clip_on(False)
        axis.pane.set_edgecolor("#DDDDDD")
        axis.pane.set_closed(True)  # else one edge of the box is missing
        axis._axinfo["grid"].update(color="#EBEBEB", linewidth=0.5)


def _step(length: float) -> float:
    """1, 2 or 5 times a power of ten, a fifth to a half of a length."""
    power = 10.0 ** np.floor(np.log10(length / 2))
    return float(max(f * power for f in (1.0, 2.0, 5.0) if f * power <= length / 2))
