"""``polypod view``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .catalogue import CHOICES
from .frame import Answer, Target, command
from .options import (
    Controller,
    Delay,
    MassError,
    Replace,
    Saturation,
    Settings,
    WithFriction,
    check_rate,
    load_model,
    measured,
    parse_saturation,
)
from .terminal import out as console
from .terminal import working


@command("view", "view kim-ryu kim-ryu-circle --out circle.html", json=False)
def view(
    robot: Annotated[
        str | None, typer.Argument(help="Library robot, robot file, or a folder that 'polypod simulate' wrote.")
    ] = None,
    motion: Annotated[str | None, typer.Argument(help="Published motion or motion file to play.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file; default: ROBOT.html.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Sampling rate of the motion, or controller (--live).", **measured("Hz")),
    ] = None,
    friction: WithFriction = True,
    force: Replace = False,
    show: Annotated[
        list[str] | None, typer.Option(help=f"Also show {' or '.join(CHOICES['extras'])}; repeatable.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Run a simulation and show it in a browser on this machine.")
    ] = False,
    port: Annotated[int | None, typer.Option(help="Port on 127.0.0.1 (--live); default: any free port.")] = None,
    speed: Annotated[
        float | None, typer.Option(help="Playback speed relative to real time (--live); default: 1.")
    ] = None,
    controller: Controller = None,
    mass: MassError = None,
    delay: Delay = None,
    saturation: Saturation = None,
    settings: Settings = None,
) -> Answer | None:
    check_rate(rate)
    served = {"port": port, "speed": speed, "controller": controller, "mass": mass, "delay": delay,
              "saturation": parse_saturation(saturation)}  # fmt: skip
    options = {name: value for name, value in served.items() if value is not None}
    if live:
        unwanted = [name for name, given in (("out", out), ("force", force), ("show", show)) if given]
        if unwanted:
            raise InputError(f"--{unwanted[0]}: --live serves a page and writes none; leave it out")
        _serve(robot, motion, options | ({} if rate is None else {"rate": rate}), friction, settings)
        return None
    if options:
        raise InputError(f"--{next(iter(options))} requires --live")
    kept = _simulation_file(robot)
    with working("viewing") as progress:
        if kept is None:
            progress("compiling the robot")
            return _page(robot, motion, out, rate, friction, force, settings, show or ())
        if motion is not None or rate is not None or settings or show or not friction:
            what = "leave out MOTION, --rate, --set, --show and --no-friction"
            raise InputError(f"{kept}: has its robot and motion; {what}")
        return _simulation_page(kept, out, force)


def _serve(
    robot: str | None, motion: str | None, options: dict[str, Any], friction: bool, settings: Sequence[str] | None
) -> None:
    """Simulate and serve the page until Ctrl-C, which is how it is meant to end."""
    from ..motion.resolve import robot_and_motion
    from ..viewer.served import serve_simulation

    try:
        with working("viewing") as progress:
            progress("compiling the robot")
            name, wanted = robot_and_motion(robot, motion)
            model = load_model(name, settings)
            serve_simulation(model, wanted, friction=friction, progress=progress, started=_started, **options)
    except KeyboardInterrupt:
        console().print("Stopped.")


def _started(address: str) -> None:
    console().print(f"Open {address} in a browser on this machine: the simulation starts then.")
    console().print("Ctrl-C here ends it.")


def _page(
    robot: str | None, motion: str | None, out: Path | None, rate: float | None, friction: bool, force: bool,
    settings: Sequence[str] | None, show: Sequence[str],
) -> Answer:  # fmt: skip
    """The page of a robot, and of a motion if one is named."""
    from ..motion import make_task, with_motion_lines
    from ..motion.resolve import robot_and_motion
    from ..viewer import live_page

    name, task_name = robot_and_motion(robot, motion)
    model = load_model(name, settings)
    task = None
    if task_name is not None:
        with with_motion_lines(task_name if rate is None else None):
            task = make_task(model, task_name, rate)
    target = _target(model.robot.name if task is None else f"{model.robot.name}-{task.name}", out, force)
    return _answer(target, live_page(model, task, friction, show))


def _simulation_file(name: str | None) -> Path | None:
    """The file of a simulation that was kept, if a name is its folder or the file itself."""
    path = Path(name or "")
    if path.suffix == ".nc":
        return path
    return path / "simulation.nc" if name and (path / "simulation.nc").is_file() else None


def _simulation_page(path: Path, out: Path | None, force: bool) -> Answer:
    """The page of a simulation that was kept."""
    from ..datasets import load_result
    from ..viewer.document import result_page

    result = load_result(path)
    target = _target(f"{result.attrs.get('robot', 'robot')}-simulation", out, force)
    return _answer(target, result_page(result))


def _target(stem: str, out: Path | None, force: bool) -> Target:
    from ..output.safe_names import file_name

    path = Path(f"{file_name(stem)}.html") if out is None else out
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file, such as {path / 'robot.html'}")
    return Target(path, force)


def _answer(target: Target, page: str) -> Answer:
    size = len(page.encode()) / 1e3
    return Answer(files={target: page}, after=f" ({size:.0f} kB). Open it in a browser: it needs no network.")
