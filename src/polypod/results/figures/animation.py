"""The robot moving as a wireframe of base, legs and platform, written as GIF or MP4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
from numpy.typing import NDArray

from ...datasets import robot_of
from ...description import Robot
from ...errors import InputError
from .scene import points_down
from .skeleton import Skeleton, skeleton
from .style import COLOURS, FAINT, INK, figure
from .view import best_view
from .wireframe import bent_skeleton

Array = NDArray[np.float64]
MOST_FRAMES = 2000


def animate(
    result: xr.Dataset,
    path: str | Path,
    *,
    robot: Robot | None = None,
    fps: int = 20,
    speed: float = 1.0,
    size: float = 4.0,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a moving picture of a simulation to a ``.gif`` (Pillow) or ``.mp4`` (needs ffmpeg) file.

    ``speed`` 0.1 is ten times slower than life. The robot is that of the result unless given. The attachment points of
    a flexible platform are drawn where its deflection, not enlarged, has them. ``progress`` is called with the number
    of each frame that is drawn, from 1, and how many there are.
    """
    target = Path(path)
    if target.suffix not in (".gif", ".mp4"):
        raise InputError(f"path: a name that ends in .gif or .mp4 is needed, got {target.name!r}")
    if target.exists() and not force:
        raise InputError(f"path: {target} exists; pass force=True to replace it")
    if target.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError("path: MP4 needs the program ffmpeg, which was not found; write a .gif instead")
    if not (fps > 0 and speed > 0):
        raise InputError(f"fps, speed: numbers greater than 0 are needed, got {fps} and {speed}")
    rows = _rows(result.time.values, fps, speed)
    poses, times = result["pose"].values[rows], result.time.values[rows]
    drawn = robot_of(result) if robot is None else robot
    if "deflection" in result:
        lines = bent_skeleton(drawn, poses, result["deflection"].values[rows])
    else:
        lines = skeleton(drawn, poses)
    made = figure(size, size, fitted=False)
    axes: Any = made.add_axes((0.0, 0.0, 1.0, 0.92), projection="3d")
    draw = _Wireframe(axes, lines, poses[:, :3, 3], points_down(drawn))
    moving = FuncAnimation(made, lambda k: draw.frame(k, float(times[k])), frames=len(times), interval=1000 / fps)
    writer: Any = PillowWriter(fps=fps) if target.suffix == ".gif" else FFMpegWriter(fps=fps)
    moving.save(
        target, writer=writer, dpi=100,
        progress_callback=None if progress is None else lambda k, count: progress(k + 1, count),
    )  # fmt: skip
    return target


def _rows(time: Array, fps: int, speed: float) -> NDArray[np.intp]:
    """The recorded row nearest to each frame."""
    count = int((time[-1] - time[0]) / speed * fps) + 1
    if count > MOST_FRAMES:
        raise InputError(f"fps, speed: {count} frames are too many (at most {MOST_FRAMES}); choose fewer or go faster")
    wanted = time[0] + np.arange(count) * speed / fps
    nearest: NDArray[np.intp] = np.abs(time[None, :] - wanted[:, None]).argmin(axis=1)
    return nearest


class _Wireframe:
    """Lines of the robot in one set of axes, moved from frame to frame."""

    def __init__(self, axes: Any, lines: Skeleton, path: Array, down: bool) -> None:
        self._axes, self._skeleton = axes, lines
        colours = [COLOURS[bone.leg % len(COLOURS)] for bone in lines.bones]
        self._bones = [axes.plot([], [], [], color=colour, linewidth=2.0)[0] for colour in colours]
        for rail in lines.rails:
            axes.plot(*rail.ends.T, color=FAINT, linewidth=3.0)
        if len(lines.ground) > 2:
            axes.plot(*_ring(lines.ground, _order(lines.ground)).T, color=FAINT, linewidth=1.5)
        self._corners = _order(lines.platform[0])
        (self._platform,) = axes.plot([], [], [], color=INK, linewidth=2.0)
        axes.plot(*path.T, color=COLOURS[1], linewidth=0.8)
        parts = [lines.joints.reshape(-1, 3), lines.platform.reshape(-1, 3), path, *(r.ends for r in lines.rails)]
        _frame(axes, np.concatenate(parts), down)
        _turn(axes, lines)
        self._title = axes.set_title("", fontsize=9, color=INK)
        self._note = " (z points down)" if down else ""

    def frame(self, k: int, time: float) -> list[Any]:
        """Move everything to frame k."""
        for line, bone in zip(self._bones, self._skeleton.bones, strict=True):
            line.set_data_3d(*bone.ends[k].T)
        self._platform.set_data_3d(*_ring(self._skeleton.platform[k], self._corners).T)
        self._title.set_text(f"t = {time:.3f} s{self._note}")
        return [*self._bones, self._platform, self._title]


def _turn(axes: Any, lines: Skeleton) -> None:
    """The view in which the legs hide each other least, judged at a few of the frames."""
    some = np.unique(np.linspace(0, len(lines.joints) - 1, 3).astype(int))
    bones = tuple(replace(bone, ends=bone.ends[some]) for bone in lines.bones)
    best_view(axes, replace(lines, bones=bones, joints=lines.joints[some]))


def _order(points: Array) -> NDArray[np.intp]:
    """Points in order about their middle, in the plane that fits them best."""
    middle = points.mean(axis=0)
    _, _, plane = np.linalg.svd(points - middle)
    return np.argsort(np.arctan2((points - middle) @ plane[1], (points - middle) @ plane[0]))


def _ring(points: Array, order: NDArray[np.intp]) -> Array:
    closed: Array = points[np.append(order, order[0])]
    return closed


def _frame(axes: Any, points: Array, down: bool) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    largest = (high - low).max()
    span = np.maximum(high - low, 0.25 * largest) + 0.1 * largest  # room for lines beside the axes' numbers
    for name, centre, width in zip("xyz", 0.5 * (low + high), span, strict=True):
        getattr(axes, f"set_{name}lim")(centre - 0.5 * width, centre + 0.5 * width)
        getattr(axes, f"set_{name}label")(f"{name} [m]", fontsize=7, labelpad=-4)
    axes.set_box_aspect(span, zoom=0.85)
    axes.set_proj_type("ortho")
    if down:
        # both: half a turn about x. One alone would show the robot as in a mirror
        axes.invert_zaxis()
        axes.invert_yaxis()
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize=6, pad=-2, colors=INK)
    axes.tick_params(axis="z", pad=2)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_facecolor("white")
        axis._axinfo["grid"].update(color="#EBEBEB", linewidth=0.5)
