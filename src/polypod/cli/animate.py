"""``polypod animate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .frame import Answer, command
from .options import MotionName, Replace, Settings, load_model
from .terminal import working


@command("animate", "animate delta delta-pick-and-place --speed 0.1 --out pick.mp4")
def animate(
    robot: Annotated[
        str | None,
        typer.Argument(help="Library robot, robot file, or a folder that 'polypod simulate' or 'run' wrote."),
    ] = None,
    motion: MotionName = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="GIF, WebP, MP4 or HTML file; default: ROBOT-MOTION.gif.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Speed relative to real time; 0.1 is slow motion.")] = 1.0,
    fps: Annotated[int | None, typer.Option(help="Frames per second; default: 20.")] = None,
    width: Annotated[int | None, typer.Option(help="Width in pixels; default: 640.")] = None,
    camera: Annotated[
        str | None, typer.Option(help="best, plan, side, front, or AZIMUTH,ELEVATION in degrees; default: best.")
    ] = None,
    transparent: Annotated[bool, typer.Option("--transparent", help="Transparent background (GIF, WebP).")] = False,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..motion import find_motion
    from ..motion.resolve import robot_and_motion
    from ..output.safe_names import file_name
    from ..results.figures.animation import animate as write

    source: Any
    kept = _result(robot)
    if kept is not None:
        from ..datasets import load_result

        if motion is not None or settings:
            raise InputError(f"{kept}: has its robot and motion; leave out MOTION and --set")
        source, shown = load_result(kept), None
        name = f"{source.attrs.get('robot', 'robot')}-{source.attrs.get('motion', kept.stem)}"
    else:
        which, wanted = robot_and_motion(robot, motion)
        source = load_model(which, settings)
        shown = find_motion(source, wanted)
        name = f"{source.robot.name}-{shown.name}"
    target = Path(f"{file_name(name)}.gif") if out is None else out
    with working("drawing") as progress:
        write(
            source, target, shown, speed=speed, fps=fps, width=width, camera=_camera(camera), transparent=transparent,
            force=force, progress=lambda k, n: progress(f"frame {k} of {n}"),
        )  # fmt: skip
    return Answer([f"Wrote {target}."], {"file": str(target)})


def _result(name: str | None) -> Path | None:
    """The file of a result, if a name is its folder or the file itself."""
    path = Path(name or "")
    if path.suffix == ".nc":
        return path
    return next((path / f for f in ("simulation.nc", "results.nc") if name and (path / f).is_file()), None)


def _camera(text: str | None) -> Any:
    """A named view, or two angles."""
    if text is None or "," not in text:
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--camera: needs two angles in degrees such as 30,20, got {text!r}") from None
