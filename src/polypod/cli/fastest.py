"""``polypod fastest``: the fastest motion along a path within limits, as a motion file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..tables import table
from .options import Json, Replace, RobotName, WithFriction, number
from .overrides import Settings, with_overrides
from .run import resolve
from .terminal import out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..fastest import Fastest
    from ..model import Model
    from ..motion import MotionFile

EXAMPLE = "Example: polypod fastest kim-ryu kim-ryu-circle --max-force '85 N' --max-speed '300 mm/s'"

_LISTED = 6
"""Stops whose times are listed."""


@report_errors
def command(
    robot: RobotName,
    path: Annotated[
        str | None, typer.Argument(help="Published motion or motion file: where it goes; its times do not matter.")
    ] = None,
    force: Annotated[str | None, typer.Option("--max-force", help="Largest actuator force, such as '2 kN'.")] = None,
    speed: Annotated[
        str | None, typer.Option("--max-speed", help="Largest actuator speed, such as '300 mm/s'.")
    ] = None,
    acceleration: Annotated[
        str | None, typer.Option("--max-acceleration", help="Largest actuator acceleration.")
    ] = None,
    power: Annotated[str | None, typer.Option("--max-power", help="Largest power of an actuator, W.")] = None,
    rms_force: Annotated[str | None, typer.Option("--rms-force", help="Largest rms force over the motion.")] = None,
    jerk: Annotated[
        str | None, typer.Option("--max-jerk", help="Largest actuator jerk, m/s^3 or rad/s^3; unbounded if not given.")
    ] = None,
    reaction: Annotated[str | None, typer.Option("--max-reaction", help="Largest force in any joint.")] = None,
    friction: WithFriction = True,
    points: Annotated[int, typer.Option(help="Places along the path at which limits are kept.")] = 1000,
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="Motion file; MOTION-fastest.yaml if not given.")
    ] = None,
    replace: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """The fastest motion along a path within limits of force, speed, power and reactions, as a motion file."""
    from ..fastest import Limits, fastest, prepare_grid
    from ..fastest.limits import long_strokes
    from ..model import Model
    from ..motion import dumps_motion, find_motion, with_motion_lines
    from ..output.atomic import atomic_write, check_target
    from ..output.safe_names import file_name

    name, motion = resolve(robot, path)
    with working("finding the fastest motion") as progress:
        progress("compiling the robot")
        model = Model(with_overrides(name, settings))
        given = {"force": force, "speed": speed, "acceleration": acceleration, "power": power}
        given |= {"rms_force": rms_force, "jerk": jerk}
        limits = Limits(
            **{kind: _value(model, kind, text) for kind, text in given.items() if text is not None},
            reaction=None if reaction is None else number("--max-reaction", reaction, "N"),
        )
        with with_motion_lines(motion):
            file = find_motion(model, motion)
            target = Path(f"{file_name(file.name)}-fastest.yaml") if out_file is None else out_file
            check_target(target, replace)
            progress("speeds along the path")
            found = fastest(model, prepare_grid(model, file, points), limits, friction=friction)
        text = dumps_motion(_beside(found.motion_file(target.stem, name), motion, target))
        atomic_write(target, text.encode(), replace)
    if json_:
        show_json(report_data(found, model.robot.name, file.name, target))
        return
    console, before = out(), file.trajectory.duration
    console.print(
        f"[bold]{escape(model.robot.name)}[/] along {escape(file.name)}: {found.duration:.5g} s "
        f"({before:.5g} s as given), {found.grid.path.length:.4g} m with turns\n"
    )
    columns = [("limit", ""), ("most used", "%"), ("by", ""), ("at", "s"), ("holds the motion back", "% of the time")]
    rows = [
        (kind.replace("_", " "), 100 * share, who, at, 100 * found.binding.get(kind, float("nan")))
        for kind, (share, who, at) in found.used.items()
    ]
    show_table(table("Limits", columns, rows))
    if found.smooth is not None and found.grid.path.bends.any():
        law = found.smooth
        breakpoints = found.grid.path.breakpoints[found.grid.path.bends]
        when = ", ".join(f"{law.times[int(np.abs(law.lengths - mark).argmin())]:.4g}" for mark in breakpoints[:_LISTED])
        more = f" and {len(breakpoints) - _LISTED} more" if len(breakpoints) > _LISTED else ""
        console.print(
            f"\nIt stops where the curvature of the path jumps, as the jerk would be unbounded: at {when} s{more}. A "
            "path with blends, such as a spline, needs no stops."
        )
    samples = found.grid.samples.pose
    outside = [*model.limits(samples).violations(), *long_strokes(model, samples)]
    if outside:
        console.print(f"\nThe path leaves the robot's own limits: {escape('; '.join(outside[:3]))}.")
    console.print(f"\nMotion file: {escape(str(target))} (polypod run {escape(name)} {escape(str(target))})")


def _value(model: Model, kind: str, text: str) -> float:
    """A limit of the actuators from a text with or without a unit."""
    from ..fastest import KINDS

    turning = {actuator.unit == "rad" for actuator in model.actuators}
    option = f"--{'rms-force' if kind == 'rms_force' else f'max-{kind}'}"
    return number(option, text, *(KINDS[kind].units[turns] for turns in sorted(turning)))


def _beside(motion: MotionFile, source: str | None, target: Path) -> MotionFile:
    """The motion with names of CSV files that hold where the new file is."""
    from ..motion import Retimed

    if source is None or not Path(source).is_file():
        return motion
    trajectory = motion.trajectory
    assert isinstance(trajectory, Retimed)
    there = os.path.relpath(Path(source).parent, target.parent)
    if there == ".":
        return motion
    update: dict[str, Any] = {"along": _moved(trajectory.along, Path(there))}
    return motion.model_copy(
        update={"trajectory": trajectory.model_copy(update=update), "wrench": _moved(motion.wrench, Path(there))}
    )


def _moved(part: Any, folder: Path) -> Any:
    """Data with the names of CSV files counted from another folder."""
    fields = getattr(type(part), "model_fields", None)
    if fields is None:
        return tuple(_moved(item, folder) for item in part) if isinstance(part, tuple) else part
    values = {name: getattr(part, name) for name in fields}
    changed = {
        name: str(folder / value) if name == "csv" and isinstance(value, str) else _moved(value, folder)
        for name, value in values.items()
    }
    return part.model_copy(update={name: value for name, value in changed.items() if value is not values[name]})


def report_data(found: Fastest, robot: str, motion: str, target: Path) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "robot": robot,
        "motion": motion,
        "duration_s": found.duration,
        "limits": {kind: {"used": s, "by": who, "at_s": at} for kind, (s, who, at) in found.used.items()},
        "binding": found.binding,
        "iterations": found.iterations,
        "motion_file": str(target),
    }
