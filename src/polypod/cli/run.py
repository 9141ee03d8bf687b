"""``polypod run``: inverse dynamics along a motion, the main job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ..errors import Fault, MotionFileError, RobotFileError
from ..tables import short
from .options import Json, MotionName, RobotOrDefault, WithFriction, check_rate, measured
from .overrides import Settings, with_overrides
from .terminal import Progress, fail, note, out, report_errors, show_json, show_table, show_verdict, working

if TYPE_CHECKING:
    import xarray as xr

DEFAULT_ROBOT = "hexapod"
EXAMPLE = "Example: polypod run kim-ryu kim-ryu-circle --out circle"
_DIGITS = 3  # of the numbers in tables; files have all of them
_COLUMNS = (
    "actuator",
    "unit",
    "force unit",
    "peak force",
    "at",
    "rms force",
    "peak speed",
    "peak power",
    "braking power",
    "mean driving power",
    "stroke",
)


def is_motion_file(path: str | Path) -> bool:
    """Whether a YAML file is a motion (it has a trajectory) rather than a robot."""
    from ..files.documents import parse, read

    document, _ = parse(read(Path(path), RobotFileError), str(path), RobotFileError, "a mapping")
    return "trajectory" in document


def resolve(robot: str | None, motion: str | None) -> tuple[str, str | None]:
    """Names of the robot and the motion; a motion alone brings the robot it belongs to."""
    from ..description.file_names import resolve_name
    from ..motion import PUBLISHED, load_motion

    if robot is None:
        return DEFAULT_ROBOT, motion
    if motion is None and robot in PUBLISHED:
        return PUBLISHED[robot].robot or DEFAULT_ROBOT, robot
    if motion is None and Path(robot).suffix in (".yaml", ".yml") and is_motion_file(robot):
        meant = load_motion(robot).robot
        if meant is None:
            message = "missing: name a robot in the file, or run ROBOT MOTION"
            raise MotionFileError(robot, [Fault("robot", message)])
        return str(resolve_name(meant, Path(robot).parent)), robot
    return robot, motion


def run(
    robot: str | None = None,
    motion: str | None = None,
    out: str | Path | None = None,
    rate: float | None = None,
    friction: bool = True,
    force: bool = False,
    files: bool = True,
    progress: Progress = lambda step: None,
    vibration: bool | None = None,
    settings: Sequence[str] | None = None,
    certify: bool = True,
) -> tuple[xr.Dataset, Path | None]:
    """Study a robot along a motion and write its results folder; returns the result and the folder.

    ``robot`` and ``motion`` are names or files; without them the library's hexapod runs. ``rate`` in samples a
    second overrides the motion's own. ``vibration`` is about a flexible platform, see ``polypod.results.study``.
    ``settings`` are other values of the robot's numbers, ``PATH=VALUE``. With ``certify`` the motion is judged between
    its samples too, see ``polypod.results.study``.
    """
    from ..model import Model
    from ..motion import make_task, with_motion_lines
    from ..results import study
    from ..results.report import FILES, check_target, provenance, write_results

    name, task_name = resolve(robot, motion)
    check_rate(rate)
    progress("compiling the robot")
    model = Model(with_overrides(name, settings))
    with with_motion_lines(task_name if rate is None else None):
        task = make_task(model, task_name, rate)
    target = _folder(model.robot.name, task.name, settings or ()) if out is None else Path(out)
    inputs = {
        "robot": provenance(name), "motion": provenance(task_name or task.name), "rate": rate, "friction": friction,
        "vibration": vibration, "set": list(settings or ()), **({} if certify else {"certify": False}),
    }  # fmt: skip
    if files:
        check_target(target, force, FILES, inputs)
    with with_motion_lines(task_name):
        result = study(model, task, friction, progress, vibration, certify)
    if files:
        write_results(result, target, force, progress, inputs, model)
    return result, target if files else None


def _folder(robot: str, motion: str, settings: Sequence[str] = ()) -> Path:
    """Where results go: below the folder in which polypod is started, whatever the names are; each variant its own.

    Examples
    --------
    >>> _folder("hexapod", "lift", ["platform.mass=60"]).as_posix()
    'polypod-results/hexapod/lift-platform.mass-60'
    """
    from ..output.safe_names import file_name

    return Path("polypod-results") / file_name(robot) / file_name("-".join([motion, *settings]), "motion")


@report_errors
def command(
    robot: RobotOrDefault = None,
    motion: MotionName = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results folder; polypod-results/ROBOT/MOTION if not given.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="samples per second.", **measured("Hz"))] = None,
    friction: WithFriction = True,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace results of other inputs; those of the same are replaced automatically."),
    ] = False,
    files: Annotated[bool, typer.Option(help="Write the results folder.")] = True,
    vibration: Annotated[
        bool | None,
        typer.Option(help="A flexible platform vibrates along the motion. Where it can, if not given."),
    ] = None,
    certify: Annotated[
        bool, typer.Option(help="Judge the motion between its samples too, by proof where there is one.")
    ] = True,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 2 if a limit is broken.")] = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Actuator forces, powers, reactions, limits and conditioning of a robot along a motion."""
    from ..results import verdict

    with working("running") as progress:
        result, target = run(
            robot, motion, out_folder, rate, friction, force, files, progress, vibration, settings, certify
        )
    found = verdict(result)
    if json_:
        show_json(report_data(result, target))
    else:
        _print(result, target)
    if strict and not found.ok:
        fail(f"--strict: {found.headline}")


def _print(result: xr.Dataset, target: Path | None) -> None:
    """The verdict, then what it comes from."""
    from ..results import actuators, limits, motors, rotor_notes, summary, verdict
    from ..results.report import notes
    from ..results.sizing import bending

    console = out()
    name = result.attrs["robot"]
    duration = f"{result.time.values[-1]:.4g} s, {len(result.time)} samples"
    console.print(f"[bold]{escape(name)}[/] on {escape(result.attrs['motion'])} ({duration})")
    show_verdict(verdict(result))
    show_table(actuators(result).only(_COLUMNS).practical(), _DIGITS)
    facts, broken = summary(result), limits(result)
    driving, braking = facts["peak_total_power_W"], -facts["peak_total_braking_power_W"]
    brakes = f"largest braking power {short(braking, 3)} W" if braking else "they never brake"
    console.print(
        f"\nAll actuators together: largest driving power {short(driving, 3)} W, {brakes}. Condition number at most "
        f"{facts['worst_condition_number']:.4g}, distance to singularity at least "
        f"{facts['smallest_distance_to_singularity']:.4g} mm/mm (joints' motion for the platform's least felt one)."
    )
    if facts["force_error_bound"] is not None:
        unit = result.force.attrs["units"]
        console.print(f"Rounding moves no force by more than {facts['force_error_bound']:.1g} {unit}.")
    text = str(result.attrs.get("between_samples", "All this is at the samples; nothing between was judged."))
    console.print(escape(text))
    if "deflection" in result:
        console.print(f"Platform: {bending(result)}.")
    driven = motors(result)
    if driven.rows:
        console.print()
        show_table(driven.practical(), _DIGITS)
    if broken.rows:
        console.print()
        show_table(broken.practical())
    if target is not None:
        console.print(f"Results: {escape(str(target))} (open {escape(str(target / 'report.html'))})")
    for text in (*notes(result), *rotor_notes(result)):
        if not ("opts out" in text or "these springs out" in text):  # the warning on loading the robot said so
            note(text)


def report_data(result: xr.Dataset, target: Path | None) -> dict[str, Any]:
    """What ``--json`` prints."""
    from ..results import actuators, bearings, limit_report, limits, motors, summary, verdict

    return {
        "robot": result.attrs["robot"],
        "motion": result.attrs["motion"],
        "verdict": verdict(result).data(),
        "summary": summary(result),
        "within_limits": limit_report(result).ok,
        "certified": result.attrs.get("certified", "not tried"),
        "between_samples": result.attrs.get("between_samples", ""),
        "limits": limits(result).records(),
        "actuators": actuators(result).records(),
        "motors": motors(result).records(),
        "bearings": bearings(result).records(),
        "folder": None if target is None else str(target),
    }
