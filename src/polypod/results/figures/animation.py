"""The robot moving, as solids with a legend, written as GIF or MP4."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...datasets import robot_of
from ...description import Robot
from ...drawing import PosedRobot, posed
from ...errors import InputError, MissingPackageError
from .scene import PATH_STYLE, extent, frame, solids
from .style import COLOURS, INK, figure
from .view import View, best_view, points_down

if TYPE_CHECKING:
    import xarray as xr

Image = NDArray[np.uint8]
MOST_FRAMES = 2000
_DPI = 100
_HEAD, _FOOT = 0.3, 0.34  # inches, for the time and for the legend


def animate(
    result: xr.Dataset,
    path: str | Path,
    *,
    robot: Robot | None = None,
    fps: int = 20,
    speed: float = 1.0,
    size: float = 6.4,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write an animation of a study or simulation to a ``.gif`` or ``.mp4`` file.

    MP4 (H.264) needs the program ffmpeg, or the package imageio-ffmpeg, which brings it. ``speed`` 0.1 is ten times
    slower than life; ``size`` is the width in inches of 100 pixels, the height follows from the robot. The robot is
    that of the result unless given. The attachment points of a flexible platform are drawn where its deflection, not
    enlarged, has them. ``progress`` is called with the number of each frame that is drawn, from 1, and how many there
    are.
    """
    target = check_animation(path, force)
    if not (fps > 0 and speed > 0):
        raise InputError(f"fps, speed: must be greater than 0, got {fps} and {speed}")
    if target.suffix == ".mp4":
        find_ffmpeg()  # before anything is drawn
    rows = _rows(result.time.values, fps, speed)
    poses, times = result["pose"].values[rows], result.time.values[rows]
    shown = robot_of(result) if robot is None else robot
    drawn = posed(shown, poses, result["deflection"].values[rows] if "deflection" in result else None)
    picture = AnimatedRobot(shown, drawn, poses, result["pose"].values[:, :3, 3], size)

    def frames() -> Iterator[Image]:
        for k, time in enumerate(times):
            yield picture.at(k, f"t = {time:.3f} s")
            if progress is not None:
                progress(k + 1, len(times))

    write_frames(target, frames(), fps)
    return target


def check_animation(path: str | Path, force: bool) -> Path:
    """The file of an animation; an error if it is of another kind, or is there and must not be replaced."""
    target = Path(path)
    if target.suffix not in (".gif", ".mp4"):
        raise InputError(f"path: must end in .gif or .mp4, got {target.name!r}")
    if target.exists() and not force:
        raise InputError(f"path: {target} exists; pass force=True to replace it", code="exists")
    return target


def write_frames(target: Path, frames: Iterator[Image], fps: int) -> None:
    """Write an animation; the file is there when it is whole."""
    partial = target.with_name(f".{target.stem}.partial{target.suffix}")
    try:
        if target.suffix == ".mp4":
            _write_mp4(find_ffmpeg(), partial, frames, fps)
        else:
            _write_gif(partial, frames, fps)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _rows(time: Array, fps: int, speed: float) -> NDArray[np.intp]:
    """The recorded row nearest to each frame."""
    count = int((time[-1] - time[0]) / speed * fps) + 1
    if count > MOST_FRAMES:
        raise InputError(
            f"fps, speed: {count} frames are too many (the limit is {MOST_FRAMES}); use fewer frames "
            "per second or a higher speed"
        )
    wanted = time[0] + np.arange(count) * speed / fps
    nearest: NDArray[np.intp] = np.abs(time[None, :] - wanted[:, None]).argmin(axis=1)
    return nearest


class AnimatedRobot:
    """The robot at all its poses in one figure, whose frames differ in the solids and the time alone."""

    def __init__(self, robot: Robot, drawn: PosedRobot, poses: Array, path: Array, size: float) -> None:
        from matplotlib.collections import PolyCollection
        from matplotlib.patches import Patch

        self._drawn = drawn
        some = np.unique(np.linspace(0, len(poses) - 1, 5).astype(int))
        few = posed(robot, poses[some])
        self.view: View = best_view(robot, few)
        low, high = extent(robot, few, poses[some], self.view, path)
        wide, tall = high - low
        columns = max(int(size / 0.85), 1)
        foot = _FOOT + 0.2 * (-(-len(robot.legs) // columns) - 1)
        height = size * tall / wide + _HEAD + foot
        self.figure = figure(_even(size), _even(height), fitted=False)
        self.figure.set_dpi(_DPI)
        axes: Any = self.figure.add_axes((0.0, foot / height, 1.0, 1.0 - (_HEAD + foot) / height))
        self._solids: Any = PolyCollection([], zorder=2)
        axes.add_collection(self._solids)
        axes.plot(*self.view.project(path).T, zorder=3, **PATH_STYLE)
        frame(axes, low, high)
        self.axes = axes
        self._note = " (z points down)" if points_down(robot) else ""
        self._title = self.figure.text(0.02, 1.0 - 0.06 / height, "", fontsize=10, color=INK, va="top")
        self.figure.text(0.98, 1.0 - 0.06 / height, robot.name, fontsize=10, color=INK, va="top", ha="right")
        handles = [Patch(color=COLOURS[k % len(COLOURS)], label=leg.name) for k, leg in enumerate(robot.legs)]
        self.figure.legend(handles=handles, loc="lower center", ncols=min(columns, len(handles)), fontsize=8,
                           frameon=False, handlelength=1.2, borderaxespad=0.3)  # fmt: skip

    def at(self, k: int, title: str) -> Image:
        """Frame k as colours (height, width, 3)."""
        corners, faces, edges, widths = solids(self._drawn, k, self.view).parts()
        self._solids.set_verts(corners)
        self._solids.set_facecolor(faces)
        self._solids.set_edgecolor(edges)
        self._solids.set_linewidth(widths)
        self._title.set_text(f"{title}{self._note}")
        canvas: Any = self.figure.canvas
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _even(inches: float) -> float:
    """A length of an even number of pixels, which H.264 asks for."""
    return 2 * round(inches * _DPI / 2) / _DPI


def find_ffmpeg() -> str:
    """The program ffmpeg: that of the package imageio-ffmpeg, or the machine's own."""
    try:
        import imageio_ffmpeg  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        found = shutil.which("ffmpeg")
        if found is None:
            raise MissingPackageError("writing MP4", "ffmpeg", "video", "; or write a .gif") from None
        return found
    return str(imageio_ffmpeg.get_ffmpeg_exe())


def _write_mp4(encoder: str, path: Path, frames: Iterator[Image], fps: int) -> None:
    first = next(frames)
    height, width = first.shape[:2]
    command = [
        encoder, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", str(fps), "-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20",
        "-movflags", "+faststart", str(path),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            process.stdin.write(first.tobytes())
            for image in frames:
                process.stdin.write(image.tobytes())
            process.stdin.close()
        except BrokenPipeError:  # it says why below
            pass
        words = process.stderr.read().decode(errors="replace").strip()
    if process.returncode != 0:
        raise InputError(f"path: {path.name} cannot be written by ffmpeg: {words or 'no reason given'}")


def _write_gif(path: Path, frames: Iterator[Image], fps: int) -> None:
    from PIL import Image as Picture

    first, *rest = [Picture.fromarray(image).quantize(128) for image in frames]
    first.save(path, save_all=True, append_images=rest, duration=1000 / fps, loop=0, optimize=False)
