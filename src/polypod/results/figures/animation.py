"""The robot moving, as solids with a legend, written as GIF, WebP or MP4, or as an interactive page that plays."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...datasets import internal_of, robot_of
from ...description import Robot
from ...drawing import PosedRobot, posed
from ...errors import InputError, MissingPackageError
from ...model import Model
from ...motion import MotionFile, Trajectory, find_motion, make_task
from .scene import PATH_STYLE, extent, frame, solids
from .style import COLOURS, INK, figure
from .view import View, best_view, points_down

if TYPE_CHECKING:
    import xarray as xr

Image = NDArray[np.uint8]
Camera = Literal["best", "plan", "side", "front"] | Sequence[float]
MOST_FRAMES = 2000
FPS, WIDTH = 20, 640
_FORMATS = (".gif", ".webp", ".mp4")
_INCHES = 6.4  # width of the sheet, on which letters have their sizes
_HEAD, _FOOT = 0.3, 0.34  # inches, for the time and for the legend


def animate(
    source: Model | Robot | str | xr.Dataset,
    path: str | Path,
    motion: MotionFile | Trajectory | str | Path | None = None,
    *,
    speed: float = 1.0,
    fps: int | None = None,
    width: int | None = None,
    camera: Camera | None = None,
    transparent: bool = False,
    robot: Robot | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write an animation of a motion, a study or a simulation: ``.gif``, ``.webp``, ``.mp4``, or a page, ``.html``.

    A page plays in any browser, where the robot can also be turned and dragged; it takes none of ``speed``, ``fps``,
    ``width``, ``camera`` and ``transparent``. MP4 (H.264) needs the program ffmpeg, or the package imageio-ffmpeg,
    which brings it. The attachment points of a flexible platform are drawn where its deflection, not enlarged, has
    them.

    Parameters
    ----------
    source : Model, Robot, str or xarray.Dataset
        What moves: a model, a robot, a library name or a file; or the result of a study or simulation.
    path : str or Path
        File to write; its ending says what it is.
    motion : MotionFile, Trajectory, str or Path, optional
        Motion of a robot, as ``polypod.motion.make_task`` takes it. Default: the robot's own motion. A result has its
        motion.
    speed : float, optional
        Speed relative to real time: 0.1 is ten times slower than life.
    fps : int, optional
        Frames per second. Default: 20.
    width : int, optional
        Width [px]; the height follows from the robot. Default: 640.
    camera : {"best", "plan", "side", "front"} or (float, float), optional
        From where the robot is seen: the view in which legs hide each other least (default), from above, along y,
        against x, or azimuth and elevation of the camera [deg].
    transparent : bool, optional
        Whether the background is transparent (GIF and WebP).
    robot : Robot, optional
        The robot that is drawn. Default: that of the result.
    force : bool, optional
        Whether to replace an existing file.
    progress : callable, optional
        Called with the number of each frame that is drawn, from 1, and how many there are.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    A pick-and-place cycle of 0.4 s, twenty times slower:

    >>> import polypod as pp
    >>> pp.animate("delta", "pick.gif", speed=0.05)  # doctest: +SKIP
    PosixPath('pick.gif')
    """
    target = check_animation(path, force, (*_FORMATS, ".html"))
    result = cast("xr.Dataset", source) if hasattr(source, "data_vars") else None
    if result is not None and motion is not None:
        raise InputError(f"motion: a result has its own motion; leave {str(motion)!r} out, or pass a robot")
    model = None if result is not None else source if isinstance(source, Model) else Model(cast("Robot | str", source))
    if target.suffix == ".html":
        given = {"fps": fps, "width": width, "camera": camera, "transparent": transparent or None,
                 "speed": None if speed == 1.0 else speed, "robot": robot}  # fmt: skip
        for name in (name for name, value in given.items() if value is not None):
            raise InputError(f"{name}: a page (.html) has controls of its own; leave it out, or write a film")
        from ...viewer import view  # with all that writes JavaScript

        page = view(result) if model is None else view(model, find_motion(model, motion))  # type: ignore[arg-type]
        return page.save(target, force)
    fps, width = FPS if fps is None else fps, WIDTH if width is None else width
    _check(target, fps, speed, width, transparent)
    if model is None:
        assert result is not None
        rows, every = _rows(result.time.values, fps, speed), result["pose"].values
        poses, times, along = every[rows], result.time.values[rows], every[:, :3, 3]
        moved = result["deflection"].values[rows] if "deflection" in result else None
        inner = internal_of(result, rows)
        shown = robot_of(result) if robot is None else robot
    else:
        meant = find_motion(model, motion)
        task = make_task(model, meant, moving_base=True)
        begin, along, moved = float(task.time[0]), task.motion.pose[:, :3, 3], None
        assert task.trajectory is not None
        times = begin + np.arange(_frames(float(task.time[-1]) - begin, fps, speed)) * speed / fps
        shot = task.trajectory.at(times)
        poses, inner = shot.pose, shot.internal
        shown = model.robot if robot is None else robot
    picture = AnimatedRobot(shown, posed(shown, poses, moved, inner), poses, along, width, camera, transparent)

    def frames() -> Iterator[Image]:
        for k, time in enumerate(times):
            yield picture.at(k, f"t = {time:.3f} s")
            if progress is not None:
                progress(k + 1, len(times))

    write_frames(target, frames(), fps)
    return target


def _check(target: Path, fps: float, speed: float, width: int, transparent: bool) -> None:
    if not (fps > 0 and speed > 0):
        raise InputError(f"fps, speed: must be greater than 0, got {fps} and {speed}")
    if not 64 <= width <= 7680:
        raise InputError(f"width: must be 64 to 7680 pixels, got {width}")
    if transparent and target.suffix == ".mp4":
        raise InputError("transparent: MP4 has no transparency; write a .webp or a .gif")
    if target.suffix == ".mp4":
        find_ffmpeg()  # before anything is drawn


def check_animation(path: str | Path, force: bool, formats: Sequence[str] = _FORMATS) -> Path:
    """The file of an animation; an error if it is of another kind, or is there and must not be replaced."""
    target = Path(path)
    if target.suffix not in formats:
        raise InputError(f"path: must end in {', '.join(formats[:-1])} or {formats[-1]}, got {target.name!r}")
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
            _write_pictures(partial, frames, fps)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _rows(time: Array, fps: int, speed: float) -> NDArray[np.intp]:
    """The recorded row nearest to each frame."""
    count = _frames(float(time[-1] - time[0]), fps, speed)
    wanted = time[0] + np.arange(count) * speed / fps
    before = np.clip(np.searchsorted(time, wanted, side="right") - 1, 0, max(len(time) - 2, 0))
    after = np.minimum(before + 1, len(time) - 1)
    nearest: NDArray[np.intp] = np.where(wanted - time[before] <= time[after] - wanted, before, after)
    return nearest


def _frames(duration: float, fps: int, speed: float) -> int:
    """How many frames such a film has; an error if they are too many."""
    count = int(duration / speed * fps) + 1
    if count > MOST_FRAMES:
        raise InputError(
            f"fps, speed: {count} frames are too many (the limit is {MOST_FRAMES}); use fewer frames "
            "per second or a higher speed"
        )
    return count


def _seen_from(camera: Camera | None, robot: Robot, drawn: PosedRobot) -> View:
    """The view of a camera."""
    down = points_down(robot)
    if camera is None or isinstance(camera, str):
        fixed = {"plan": View.plan(down), "side": View.side(down), "front": View.of(0.0, 0.0, down)}
        if camera not in (None, "best", *fixed):
            raise InputError(
                f"camera: must be 'best', 'plan', 'side', 'front' or (azimuth, elevation) in degrees, got {camera!r}"
            )
        return fixed[camera] if camera in fixed else best_view(robot, drawn)
    angles = np.asarray(camera, dtype=float)
    if angles.shape != (2,) or not np.isfinite(angles).all() or abs(angles[1]) > 90:
        raise InputError(f"camera: needs an azimuth and an elevation of -90 to 90 in degrees, got {camera!r}")
    return View.of(angles[0], angles[1], down)


class AnimatedRobot:
    """The robot at all its poses in one figure, whose frames differ in the solids and the time alone."""

    def __init__(
        self, robot: Robot, drawn: PosedRobot, poses: Array, path: Array, width: int = WIDTH,
        camera: Camera | None = None, transparent: bool = False,
    ) -> None:  # fmt: skip
        from matplotlib.collections import PolyCollection
        from matplotlib.patches import Patch

        self._drawn = drawn
        some = np.unique(np.linspace(0, len(poses) - 1, 5).astype(int))
        few = posed(robot, poses[some])
        self.view: View = _seen_from(camera, robot, few)
        low, high = extent(robot, few, poses[some], self.view, path)
        wide, tall = high - low
        size, dots = _INCHES, width / _INCHES
        columns = max(int(size / 0.85), 1)
        foot = _FOOT + 0.2 * (-(-len(robot.legs) // columns) - 1)
        height = size * tall / wide + _HEAD + foot
        self.figure = figure(_even(size, dots), _even(height, dots), fitted=False)
        self.figure.set_dpi(dots)
        self._channels = 4 if transparent else 3
        if transparent:
            self.figure.patch.set_alpha(0.0)
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
        """Frame k as colours (height, width, 3), with opacity (height, width, 4) if the background is transparent."""
        corners, faces, edges, widths = solids(self._drawn, k, self.view).parts()
        self._solids.set_verts(corners)
        self._solids.set_facecolor(faces)
        self._solids.set_edgecolor(edges)
        self._solids.set_linewidth(widths)
        self._title.set_text(f"{title}{self._note}")
        canvas: Any = self.figure.canvas
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., : self._channels].copy()


def _even(inches: float, dots: float) -> float:
    """A length of an even number of pixels, which H.264 asks for."""
    return 2 * round(inches * dots / 2) / dots


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


def _write_pictures(path: Path, frames: Iterator[Image], fps: int) -> None:
    from PIL import Image as Picture

    film: dict[str, Any] = {"save_all": True, "duration": 1000 / fps, "loop": 0}
    if path.suffix == ".webp":
        first, *rest = [Picture.fromarray(image) for image in frames]
        first.save(path, append_images=rest, quality=85, **film)
        return
    first, *rest = [_with_palette(image) for image in frames]
    clear: dict[str, Any] = {"transparency": _CLEAR, "disposal": 2} if "transparency" in first.info else {}
    first.save(path, append_images=rest, optimize=False, **film, **clear)


_CLEAR = 255  # number of the colour of a GIF that is transparent


def _with_palette(image: Image) -> Any:
    """A frame in 128 colours, and one more for what is less than half opaque."""
    from PIL import Image as Picture

    found = Picture.fromarray(np.ascontiguousarray(image[..., :3])).quantize(128)
    if image.shape[-1] == 4:
        found.paste(_CLEAR, None, Picture.fromarray(np.where(image[..., 3] < 128, 255, 0).astype(np.uint8)))
        found.info["transparency"] = _CLEAR
    return found
