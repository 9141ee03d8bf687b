"""``polypod run``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .frame import Answer, Digits, Styled, Target, command
from .options import (
    DriveRate,
    MotionName,
    Rate,
    RobotOrDefault,
    SetPointsFile,
    Settings,
    WithFriction,
    check_rate,
    load_model,
    measured,
)
from .terminal import working

_DIGITS = 3  # of the numbers in tables; files have all of them
_COLUMNS = (
    "actuator", "unit", "force unit", "peak force", "at", "rms force", "peak speed", "peak power", "braking power",
    "mean driving power", "stroke",
)  # fmt: skip


def results_folder(robot: str, motion: str, settings: Sequence[str] = ()) -> Path:
    """Where results go: below the folder in which polypod is started, whatever the names are; each variant its own.

    Examples
    --------
    >>> results_folder("hexapod", "lift", ["platform.mass=60"]).as_posix()
    'polypod-results/hexapod/lift-platform.mass-60'
    """
    from ..output.safe_names import file_name

    return Path("polypod-results") / file_name(robot) / file_name("-".join([motion, *settings]), "motion")


@command("run", "run kim-ryu kim-ryu-circle --out circle")
def run(
    robot: RobotOrDefault = None,
    motion: MotionName = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results folder; default: polypod-results/ROBOT/MOTION.")
    ] = None,
    rate: Rate = None,
    friction: WithFriction = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite results that came from different inputs.")] = False,
    files: Annotated[bool, typer.Option(help="Write the results folder.")] = True,
    vibration: Annotated[
        bool | None, typer.Option(help="Include vibration of a flexible platform; default: automatic.")
    ] = None,
    certify: Annotated[bool, typer.Option(help="Also verify limits between samples (rigorous where possible).")] = True,
    certify_time: Annotated[
        float, typer.Option(help="Computing time after which the proof is given up.", **measured("s"))
    ] = 60.0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 2 if a limit is broken.")] = False,
    table: SetPointsFile = None,
    drive_rate: DriveRate = 1000.0,
    settings: Settings = None,
) -> Answer:
    from ..motion import make_task, with_motion_lines
    from ..motion.resolve import robot_and_motion
    from ..results import actuators, limits, motors, rotor_notes, setpoints, study, verdict
    from ..results.brief import study_data, summary_lines
    from ..results.report import FILES, check_target, notes, provenance, write_results

    check_rate(rate)
    if not certify_time > 0:
        raise InputError(
            f"--certify-time: must be greater than 0, got {certify_time:g} s; --no-certify leaves the proof out"
        )
    name, task_name = robot_and_motion(robot, motion)
    with working("running") as progress:
        progress("compiling the robot")
        model = load_model(name, settings)
        with with_motion_lines(task_name if rate is None else None):
            task = make_task(model, task_name, rate, moving_base=True)
        target = results_folder(model.robot.name, task.name, settings or ()) if out is None else out
        inputs = {
            "robot": provenance(name), "motion": provenance(task_name or task.name), "rate": rate, "friction": friction,
            "vibration": vibration, "set": list(settings or ()), **({} if certify else {"certify": False}),
        }  # fmt: skip
        if files:
            check_target(target, force, FILES, inputs)
        drives = {} if table is None else {Target(table, force): setpoints(model, task_name, drive_rate, friction)}
        contents = {at: found.content(at.path) for at, found in drives.items()}
        with with_motion_lines(task_name):
            result = study(model, task, friction, progress, vibration, certify, certify_time)
        if files:
            write_results(result, target, force, progress, inputs, model)
    found, driven, broken = verdict(result), motors(result), limits(result)
    style = "yellow" if not found.uses else "bold green" if found.ok else "bold red"
    duration = f"{result.time.values[-1]:.4g} s, {len(result.time)} samples"
    shown: list[Any] = [actuators(result).only(_COLUMNS).practical(), *summary_lines(result)]
    shown += [driven.practical()] if driven.rows else []
    return Answer(
        [
            Styled(model.robot.name, f" on {task.name} ({duration})"),
            Styled(found.headline, style=style),
            *([found.table] if found.uses else []),
            *(part if isinstance(part, str) else Digits(part, _DIGITS) for part in shown),
            *([broken.practical()] if broken.rows else []),
            *([f"Results: {target} (open {target / 'report.html'})"] if files else []),
        ],
        study_data(result) | {"folder": str(target) if files else None},
        # the warning on loading the robot said which inertias opt out of the check
        [text for text in (*notes(result), *rotor_notes(result)) if "inertia check" not in text],
        files=contents,
        failure=f"--strict: {found.headline}" if strict and not found.ok else "",
    )
