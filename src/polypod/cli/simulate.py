"""``polypod simulate``: direct dynamics of a robot under a controller that follows a motion."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..errors import InputError, PolypodError, UnknownNameError, UnphysicalWarning
from ..model import Model
from ..models import model_of, rigid_of
from ..motions import PUBLISHED, load_motion, located_motion, published
from ..motions.published import default_motion
from ..motions.tasks import AROUND_HOME, around_home
from ..report.folder import check_target, whole_folder
from ..tables import table
from ..trajectories import Path as CoordinatePath
from ..trajectories import Trajectory
from .run import resolve
from .terminal import note, out, show_json, show_table, told, working

if TYPE_CHECKING:
    import xarray as xr

    from ..flexible import FlexibleModel

EXAMPLE = "Example: polypod simulate pedrammehr pedrammehr-path-3 --mass 1.2 --out heavy"
CONTROLLERS = ("computed-torque", "joint-computed-torque", "joint-pd", "elastic-computed-torque")
FILES = ("simulation.nc", "tracking.png", "forces.png", "energies.png", "bending.png", "motion.gif")


def simulate(
    robot: str | None = None,
    motion: str | None = None,
    controller: str | None = None,
    rate: float = 1000.0,
    mass: float = 1.0,
    delay: float = 0.0,
    saturation: float | None = None,
    friction: bool = True,
    compensation: bool = True,
    progress: bool | None = None,
) -> xr.Dataset:
    """Simulate a robot that follows a motion; ``mass`` is the factor by which the controller misjudges all masses.

    Without a ``controller`` it is computed torque; that of the joints for a flexible platform, since feedback of the
    platform's pose acts through what bends between it and the actuators and soon shakes it.
    """
    from ..control import scaled_masses
    from ..simulation import simulate as run

    name, wanted = resolve(robot, motion)
    model = model_of(name)
    with located_motion(wanted):
        trajectory = _trajectory(rigid_of(model), wanted)
    believed = model if mass == 1.0 else model_of(scaled_masses(model.robot, mass, mass))
    return run(
        model,
        _controller(controller or _usual(model), believed, trajectory, rate, compensation),
        duration=trajectory.duration,
        rate=rate,
        delay=delay,
        saturation=saturation,
        friction=friction,
        progress=progress,
    )


def _trajectory(model: Model, motion: str | None) -> Trajectory:
    name = motion or default_motion(model.robot.name) or AROUND_HOME
    if name == AROUND_HOME:
        return around_home(model)
    if name not in PUBLISHED:
        return load_motion(Path(name)).trajectory.trajectory(model.robot)
    made = published(name)
    if isinstance(made, CoordinatePath):
        from ..mechanism import Freedoms
        from ..motions.platform import CoordinateMotion

        return CoordinateMotion(made.duration, made, Freedoms(model.robot))
    return made


def _usual(model: Model | FlexibleModel) -> str:
    return "computed-torque" if isinstance(model, Model) else "joint-computed-torque"


def _controller(
    name: str, model: Model | FlexibleModel, trajectory: Trajectory, rate: float, compensation: bool
) -> Any:
    """Controllers take a flexible platform as rigid, but for the one that measures its elastic state."""
    from .. import control

    if name == "elastic-computed-torque":
        if isinstance(model, Model):
            raise InputError(f"controller: {name} is for a flexible platform; {model.robot.name!r} has a rigid one")
        from ..control.flexible_computed_torque import FlexibleComputedTorque

        return FlexibleComputedTorque(model, trajectory, friction=compensation, rate=rate)
    model = rigid_of(model)
    if name == "computed-torque":
        return control.ComputedTorque(model, trajectory, friction=compensation, rate=rate)
    if name == "joint-computed-torque":
        return control.JointComputedTorque(model, trajectory, friction=compensation, rate=rate)
    if name == "joint-pd":
        kp, kd = control.sampled_gains(model, trajectory.at(0.0).pose, rate)
        return control.JointPD(model, trajectory, kp=kp, kd=kd, rate=rate)
    raise UnknownNameError("controller", name, CONTROLLERS)


@told
def command(
    robot: Annotated[str | None, typer.Argument(help="Library robot or robot file; 'polypod list' names them.")] = None,
    motion: Annotated[str | None, typer.Argument(help="Published motion or motion file.")] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(CONTROLLERS)}. The first if not given, the second for a flexible platform."
        ),
    ] = None,
    rate: Annotated[float, typer.Option(help="Samples of the controller a second.")] = 1000.0,
    mass: Annotated[float, typer.Option(help="Factor by which the controller misjudges all masses.")] = 1.0,
    delay: Annotated[float, typer.Option(help="Delay of the actuators in seconds.")] = 0.0,
    saturation: Annotated[float | None, typer.Option(help="Largest actuator force in newtons.")] = None,
    friction: Annotated[bool, typer.Option(help="The robot has friction.")] = True,
    compensation: Annotated[bool, typer.Option(help="The controller compensates friction.")] = True,
    out_folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results and figures.")] = None,
    animation: Annotated[bool, typer.Option("--animation", help="Also write a moving picture.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing folder.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """A robot under a controller that follows a motion: tracking error, forces, energies, events."""
    from ..simulation import SimulationError

    if not rate > 0:
        raise InputError(f"rate: must be greater than 0 samples a second, got {rate:g}")
    if out_folder is not None:
        check_target(out_folder, force, FILES)
    failed: PolypodError | None = None
    try:
        result = simulate(robot, motion, controller, rate, mass, delay, saturation, friction, compensation)
    except SimulationError as error:
        if error.result is None:
            raise
        failed, result = error, error.result
    if out_folder is not None:
        with working("writing"):
            write(result, out_folder, force, animation)
    if json_:
        show_json(summary(result))
    else:
        _print(result, out_folder)
    if failed is not None:
        raise failed


def write(result: xr.Dataset, target: Path, force: bool = False, animation: bool = False) -> None:
    """Write the result as netCDF, its figures and, if wanted, a moving picture."""
    from ..simulation import plots, save_result
    from ..simulation.animation import animate

    with whole_folder(target, force, FILES) as folder:
        save_result(result, folder / "simulation.nc")
        for name in ("tracking", "forces", "energies", *(["bending"] if "deflection" in result else [])):
            getattr(plots, name)(result).savefig(folder / f"{name}.png")
        if animation:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnphysicalWarning)
                animate(result, folder / "motion.gif")


def summary(result: xr.Dataset) -> dict[str, Any]:
    """What ``--json`` prints."""
    from ..simulation import events

    error = np.abs(result["error"].values)
    return {
        "robot": result.attrs["robot"],
        "ended": result.attrs["ended"],
        "simulated_s": float(result.time[-1]) if len(result.time) else 0.0,
        "largest_position_error_m": float(error[:, :3].max(initial=0.0)),
        "largest_rotation_error_rad": float(error[:, 3:].max(initial=0.0)),
        "largest_force_N": dict(
            zip(result.leg.values.tolist(), np.abs(result["force"].values).max(axis=0).tolist(), strict=True)
        ),
        "work_of_actuators_J": float(result["work_actuators"][-1]),
        "lost_in_friction_J": float(result["work_friction"][-1]),
        "energy_residual_J": float(np.abs(result["energy_residual"]).max()),
        "events": [event._asdict() for event in events(result)],
    }


def _print(result: xr.Dataset, target: Path | None) -> None:
    facts = summary(result)
    console = out()
    console.print(f"[bold]{escape(facts['robot'])}[/]: {escape(facts['ended'])}\n")
    rows = [(leg, value) for leg, value in facts["largest_force_N"].items()]
    show_table(table("Peak", [("leg", ""), ("force", "N")], rows))
    console.print(
        f"\nLargest error {facts['largest_position_error_m']:.3g} m and {facts['largest_rotation_error_rad']:.3g} rad. "
        f"Work of the actuators {facts['work_of_actuators_J']:.4g} J, lost in friction "
        f"{facts['lost_in_friction_J']:.4g} J, unaccounted for {facts['energy_residual_J']:.1e} J."
    )
    for event in facts["events"][:10]:
        where = f"{event['leg']}: " if event["leg"] else ""
        note(f"{event['kind']} at t = {event['time']:.6g} s: {where}{event['text']}")
    if len(facts["events"]) > 10:
        note(f"and {len(facts['events']) - 10} more events")
    if target is not None:
        console.print(f"Results: {escape(str(target))}")
    else:
        console.print("Nothing was written; --out FOLDER keeps results and figures.")
