"""A robot in three dimensions: base, rails, legs, platform, at one or several instants."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

from ..description import Robot
from ..study import Study
from .skeleton import Skeleton, skeleton
from .style import COLOURS, FAINT, INK, figure

Array = NDArray[np.float64]


def robot_picture(robot: Robot, pose: Array | None = None, title: str | None = None, size: float = 5.2) -> Figure:
    """The robot at a pose (4, 4), its home unless given."""
    poses = (robot.home.matrix if pose is None else pose)[None]
    lines = skeleton(robot, poses)
    made = figure(size, size, fitted=False)
    # the layout engine does not see the labels of three-dimensional axes: room for them by hand
    axes = made.add_axes((0.02, 0.02, 0.9, 0.92), projection="3d")
    _draw(axes, robot, lines, 0)
    _frame(axes, robot, _extent(lines), size > 4)
    axes.set_title(robot.name if title is None else title, fontsize=10, color=INK)
    return made


def instants(study: Study) -> Figure:
    """The robot at the start, at the largest force and at the end of a motion, with the platform's path."""
    peak = int(np.abs(study.force).max(axis=1).argmax())
    last = len(study.time) - 1
    chosen = {0: "start", peak: "largest force", last: "end"}
    if peak in (0, last):
        worst = int(study.conditioning.condition.argmax())
        middle = worst if worst not in (0, last) else last // 2
        chosen = {0: "start", middle: "worst condition" if middle == worst else "half-way", last: "end"}
        chosen[peak] += ", largest force"
    order = sorted(chosen)
    robot = study.model.robot
    lines = skeleton(robot, study.task.motion.pose[order])
    made = figure(3.0 * len(order), 3.2, fitted=False)
    path = study.task.motion.pose[:, :3, 3]
    for k, index in enumerate(order):
        axes = made.add_axes(((k + 0.0) / len(order), 0.02, 0.93 / len(order), 0.84), projection="3d")
        _draw(axes, robot, lines, k)
        axes.plot(*path.T, color=COLOURS[1], linewidth=1.2)
        _frame(axes, robot, np.concatenate([_extent(lines), path]), False)
        axes.set_title(f"{chosen[index]}, t = {study.time[index]:.3g} s", fontsize=9, color=INK)
    return made


def draw_robot(axes: Any, study: Study, index: int) -> None:
    """The robot of a study at one of its samples, with the platform's path, into three-dimensional axes."""
    robot, path = study.model.robot, study.task.motion.pose[:, :3, 3]
    lines = skeleton(robot, study.task.motion.pose[index][None])
    _draw(axes, robot, lines, 0)
    axes.plot(*path.T, color=COLOURS[1], linewidth=1.2)
    _frame(axes, robot, np.concatenate([_extent(lines), path]), True)


def _draw(axes: Any, robot: Robot, lines: Skeleton, k: int) -> None:
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
    _plate(axes, lines.platform[k], COLOURS[5], 0.45)


def _plate(axes: Any, points: Array, colour: str, alpha: float) -> None:
    """A polygon through points, in order about their middle in the plane that fits them best."""
    middle = points.mean(axis=0)
    _, _, plane = np.linalg.svd(points - middle)
    u, v = (points - middle) @ plane[0], (points - middle) @ plane[1]
    ring = points[np.argsort(np.arctan2(v, u))]
    axes.add_collection3d(Poly3DCollection([ring], facecolor=colour, edgecolor=INK, alpha=alpha, linewidth=0.8))


def _extent(lines: Skeleton) -> Array:
    parts = [lines.joints.reshape(-1, 3), lines.platform.reshape(-1, 3), *(rail.ends for rail in lines.rails)]
    return np.concatenate(parts)


def _frame(axes: Any, robot: Robot, points: Array, ticks: bool) -> None:
    """Equal scales on all axes, gravity down, labels with units."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 0.25 * (high - low).max())
    middle = 0.5 * (low + high)
    for name, centre, width in zip("xyz", middle, span, strict=True):
        getattr(axes, f"set_{name}lim")(centre - 0.54 * width, centre + 0.54 * width)
        getattr(axes, f"set_{name}label")(f"{name} [m]", fontsize=8, labelpad=0 if ticks else -6)
    axes.set_box_aspect(span, zoom=0.95 if ticks else 0.86)
    if robot.gravity[2] > 0:
        axes.invert_zaxis()
    axes.view_init(elev=20, azim=-55)
    axes.locator_params(nbins=4 if ticks else 3)
    axes.tick_params(labelsize=7 if ticks else 6, pad=0 if ticks else -2, colors=INK)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_facecolor("white")
        axis.label.set_clip_on(False)
        axis.pane.set_edgecolor("#DDDDDD")
        axis._axinfo["grid"].update(color="#EBEBEB", linewidth=0.5)
