"""``polypod view``: a page in which the robot is dragged and its model answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import InputError
from .catalogue_data import CHOICES
from .options import Replace, WithFriction, check_rate, measured
from .overrides import Settings, with_overrides
from .run import resolve
from .terminal import Progress, out, report_errors, working

EXAMPLE = "Example: polypod view kim-ryu kim-ryu-circle --out circle.html"


def view(
    robot: str | None = None,
    motion: str | None = None,
    out: str | Path | None = None,
    rate: float | None = None,
    friction: bool = True,
    force: bool = False,
    progress: Progress = lambda step: None,
    settings: Sequence[str] | None = None,
    show: Sequence[str] = (),
) -> Path:
    """Write the live page of a robot, and of a motion if one is named; returns its path, ROBOT.html if not given.

    ``robot`` may also be what 'polypod simulate' kept, its folder or its simulation.nc. ``show`` names more to show.
    """
    from ..model import Model
    from ..motion import make_task, with_motion_lines
    from ..output.atomic import atomic_write
    from ..view import live_page

    kept = _simulation_file(robot)
    if kept is not None:
        if motion is not None or rate is not None or settings or show or not friction:
            what = "leave MOTION, --rate, --set, --show and --no-friction out"
            raise InputError(f"{kept}: has its robot and motion; {what}")
        return _simulation_page(kept, out, force)
    name, task_name = resolve(robot, motion)
    check_rate(rate)
    progress("deriving the model")
    model = Model(with_overrides(name, settings))
    task = None
    if task_name is not None:
        with with_motion_lines(task_name if rate is None else None):
            task = make_task(model, task_name, rate)
    stem = model.robot.name if task is None else f"{model.robot.name}-{task.name}"
    target = _target(stem, out, force)
    progress("writing the page")
    atomic_write(target, live_page(model, task, friction, show).encode(), force)
    return target


def _target(stem: str, out: str | Path | None, force: bool) -> Path:
    """The file to write, checked before the work is done."""
    from ..output.atomic import check_target
    from ..output.safe_names import file_name

    target = Path(f"{file_name(stem)}.html") if out is None else Path(out)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file, such as {target / 'robot.html'}")
    check_target(target, force)
    return target


def _simulation_file(name: str | None) -> Path | None:
    """The file of a simulation that was kept, if a name is its folder or the file itself."""
    if name is None:
        return None
    path = Path(name)
    if path.suffix == ".nc":
        return path
    return path / "simulation.nc" if (path / "simulation.nc").is_file() else None


def _simulation_page(path: Path, out: str | Path | None, force: bool) -> Path:
    """Write the page of a simulation that was kept."""
    from ..datasets import load_result
    from ..output.atomic import atomic_write
    from ..view.document import result_page

    result = load_result(path)
    target = _target(f"{result.attrs.get('robot', 'robot')}-simulation", out, force)
    atomic_write(target, result_page(result).encode(), force)
    return target


@report_errors
def command(
    robot: Annotated[
        str | None, typer.Argument(help="Library robot or robot file, or a folder that 'polypod simulate' wrote.")
    ] = None,
    motion: Annotated[str | None, typer.Argument(help="Published motion or motion file to play.")] = None,
    file: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file; ROBOT.html if not given.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="samples per second of the motion; with --live of the controller.", **measured("Hz")),
    ] = None,
    friction: WithFriction = True,
    force: Replace = False,
    show: Annotated[
        list[str] | None, typer.Option(help=f"Also show {' or '.join(CHOICES['extras'])}; may be repeated.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Simulate, and serve the page to browsers of this machine meanwhile.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="With --live: port of 127.0.0.1; any that is free if not given.")
    ] = None,
    speed: Annotated[float | None, typer.Option(help="With --live: times real time; 1 if not given.")] = None,
    controller: Annotated[str | None, typer.Option(help="With --live: as of 'polypod simulate'.")] = None,
    mass: Annotated[
        float | None, typer.Option(help="With --live: factor by which the controller misjudges all masses.")
    ] = None,
    delay: Annotated[float | None, typer.Option(help="With --live: delay of the actuators.", **measured("s"))] = None,
    saturation: Annotated[
        str | None, typer.Option(help="With --live: largest actuator force, or 'drives', as of 'polypod simulate'.")
    ] = None,
    settings: Settings = None,
) -> None:
    """A page to drag the robot in: lengths, forces, limits and conditioning at once, offline in any browser."""
    given = {"controller": controller, "mass": mass, "delay": delay, "saturation": saturation}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if live:
        for name, unwanted in (("out", file), ("force", force), ("show", show)):
            if unwanted:
                raise InputError(f"--{name}: --live serves a page and writes none; leave it out")
        from .simulate import parse_saturation
        from .view_live import serve

        options["saturation"] = parse_saturation(saturation)
        how = (port or 0, 1.0 if speed is None else speed, rate, friction, settings, options)
        try:
            with working("viewing") as progress:
                serve(robot, motion, *how, progress=progress, started=_started)
        except KeyboardInterrupt:  # how it is meant to end
            out().print("Stopped.")
        return
    for name in (*options, *(name for name, value in (("port", port), ("speed", speed)) if value is not None)):
        raise InputError(f"--{name}: is of a simulation under way; add --live, or leave it out")
    with working("viewing") as progress:
        path = view(robot, motion, file, rate, friction, force, progress, settings, show or ())
    size = path.stat().st_size / 1e3
    out().print(f"Wrote {escape(str(path))} ({size:.0f} kB). Open it in a browser: it needs no network.")


def _started(address: str) -> None:
    out().print(f"Open {address} in a browser of this machine: the simulation starts then.")
    out().print("Ctrl-C here ends it.")
