"""``polypod simulate``: direct dynamics of a robot under a controller that follows a motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError, PolypodError, UnphysicalWarning
from .catalogue_data import CHOICES
from .options import Json, MotionName, Replace, RobotOrDefault, check_rate, measured, number
from .overrides import Settings, with_overrides
from .run import resolve
from .simulate_format import extent, show, summary
from .terminal import INTERRUPTED, Progress, note, report_errors, show_json, working

if TYPE_CHECKING:
    import xarray as xr

    from ..view.stream import Stream

EXAMPLE = "Example: polypod simulate pedrammehr pedrammehr-path-3 --mass 1.2 --out heavy"
FILES = ("simulation.nc", "tracking.png", "forces.png", "energies.png", "bending.png", "motion.gif", "motion.mp4")


def simulate(
    robot: str | None = None,
    motion: str | None = None,
    controller: str | None = None,
    rate: float = 1000.0,
    mass: float = 1.0,
    delay: float = 0.0,
    saturation: float | str | None = None,
    friction: bool = True,
    compensation: bool = True,
    progress: bool | None = None,
    settings: Sequence[str] | None = None,
    stream: Stream | None = None,
) -> xr.Dataset:
    """Simulate a robot that follows a motion; ``mass`` is the factor by which the controller misjudges all masses.

    Without a ``controller`` it is ``polypod.control.default_controller``. The wrench of a motion file pushes on
    the platform; the controller does not know of it. A ``stream`` shows the run to live pages as it goes on.
    """
    from ..control import controller as controller_of
    from ..control import default_controller, scaled_masses
    from ..model import Model
    from ..model.checks import check_wrench
    from ..motion import make_task, with_motion_lines
    from ..simulation import SimulationError
    from ..simulation import simulate as run
    from ..simulation.result import annotate, external_wrench, needed_force

    name, wanted = resolve(robot, motion)
    model = Model(with_overrides(name, settings))
    rigid = model.rigid
    with with_motion_lines(wanted):
        task = make_task(model, wanted)
        check_wrench(model.robot, task.wrench)
    trajectory, wrench = task.trajectory, external_wrench(task)
    assert trajectory is not None  # a motion that is named or in a file has one
    if not 0.1 <= mass <= 10.0:
        raise InputError(
            f"mass: is a factor of all masses that the controller believes, 0.1 to 10, such as 1.2; got {mass:g}. "
            f"Another platform is --set platform.mass={mass:g}"
        )
    if delay >= trajectory.duration:
        raise InputError(
            f"delay: {delay:g} s is as long as the motion ({trajectory.duration:g} s); write {delay / 1e3:g}, or "
            f"'{delay:g} ms' on the command line, if milliseconds are meant"
        )
    believed = model if mass == 1.0 else Model(scaled_masses(model.robot, mass, mass))
    law = controller or default_controller(model.robot.flexible)
    about = {"motion": task.name, "controller": law, "duration": trajectory.duration}
    about["wrench"] = "none" if wrench is None else "of the motion"

    def whole(result: xr.Dataset) -> xr.Dataset:
        until = float(result.time[-1]) if len(result.time) else 0.0
        return annotate(result, rigid, needed_force(rigid, trajectory, wrench, until, friction), about)

    if stream is not None:
        stream.begin(wrench)
    steps = controller_of(law, believed, trajectory, rate, compensation)
    try:
        result = run(
            model,
            steps,
            duration=trajectory.duration,
            reference=getattr(steps, "reference", trajectory),
            wrench=wrench if stream is None else stream.push,
            rate=rate,
            delay=delay,
            saturation=saturation,
            friction=friction,
            progress=progress,
            observe=None if stream is None else stream.observe,
        )
    except SimulationError as error:
        if error.result is not None:
            error.result = whole(error.result)
        raise
    return whole(result)


def parse_saturation(saturation: str | None) -> float | str | None:
    """A largest force from a text with a unit of force or torque or none; the word for those of the drives stays."""
    if saturation is None or saturation == "drives":
        return saturation
    return number("--saturation", saturation, "N", "N m")


@report_errors
def command(
    robot: RobotOrDefault = None,
    motion: MotionName = None,
    controller: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(CHOICES['controllers'])}. The first if not given, "
            "the second for a flexible platform."
        ),
    ] = None,
    rate: Annotated[float, typer.Option(help="Samples of the controller a second.", **measured("Hz"))] = 1000.0,
    mass: Annotated[float, typer.Option(help="Factor by which the controller misjudges all masses.")] = 1.0,
    delay: Annotated[float, typer.Option(help="Delay of the actuators.", **measured("s"))] = 0.0,
    saturation: Annotated[
        str | None,
        typer.Option(help="Largest actuator force, such as '2 kN'; 'drives' for what those of the robot file give."),
    ] = None,
    friction: Annotated[bool, typer.Option(help="The robot has friction.")] = True,
    compensation: Annotated[bool, typer.Option(help="The controller compensates friction.")] = True,
    out_folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results and figures.")] = None,
    animation: Annotated[bool, typer.Option("--animation", help="Also write a moving picture, motion.gif.")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="Write it as motion.mp4, which needs ffmpeg.")] = False,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """A robot under a controller that follows a motion: tracking error, forces, energies, events."""
    from ..output.folder import check_target, provenance
    from ..simulation import SimulationError

    check_rate(rate)
    inputs = {
        "robot": provenance(robot), "motion": provenance(motion), "controller": controller, "rate": rate, "mass": mass,
        "delay": delay, "saturation": saturation, "friction": friction, "compensation": compensation,
        **({"set": list(settings)} if settings else {}),
    }  # fmt: skip
    if (animation or mp4) and out_folder is None:
        raise InputError(f"--{'mp4' if mp4 else 'animation'}: needs a folder to write to; add --out FOLDER")
    if out_folder is not None:
        check_target(out_folder, force, FILES, inputs)
    stopped: PolypodError | None = None
    most = parse_saturation(saturation)
    try:
        result = simulate(robot, motion, controller, rate, mass, delay, most, friction, compensation, settings=settings)
    except SimulationError as error:
        if error.result is None:
            raise
        stopped, result = error, error.result
    if out_folder is not None:
        with working("writing") as progress:
            write(result, out_folder, force, animation, progress, inputs, mp4)
    facts = summary(result, None if isinstance(most, str) else most)
    if json_:
        show_json(facts)
    else:
        show(facts, out_folder)
    for text in facts["notes"]:
        note(text)
    if facts["ended"].startswith("interrupted"):
        raise typer.Exit(INTERRUPTED)
    if stopped is None and not facts["completed"]:
        stopped = PolypodError(f"the simulation {extent(facts)}: {facts['ended']}")
    if stopped is not None:
        raise stopped


def write(
    result: xr.Dataset,
    target: Path,
    force: bool = False,
    animation: bool = False,
    progress: Progress = lambda step: None,
    inputs: Mapping[str, Any] | None = None,
    mp4: bool = False,
) -> None:
    """Write the result as netCDF, its figures and, if wanted, a moving picture."""
    from ..output.folder import atomic_folder
    from ..results.figures import SIMULATION_FIGURES, figures
    from ..results.figures.animation import animate
    from ..simulation import save_result

    with atomic_folder(target, force, FILES, inputs) as folder:
        progress("simulation.nc")
        save_result(result, folder / "simulation.nc")
        for name, _, figure in figures(result, SIMULATION_FIGURES):
            progress(f"figure {name}")
            figure.savefig(folder / f"{name}.png")
        if animation or mp4:
            progress("moving picture")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnphysicalWarning)
                animate(
                    result,
                    folder / f"motion.{'mp4' if mp4 else 'gif'}",
                    progress=lambda k, n: progress(f"moving picture, frame {k} of {n}"),
                )
