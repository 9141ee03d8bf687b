"""``polypod fastest``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, Styled, Target, command
from .options import DriveRate, Replace, RobotName, SetPointsFile, Settings, WithFriction, load_model, number
from .terminal import working

Limit = str | None

_LISTED = 6
"""Stops whose times are listed."""


@command("fastest", "fastest kim-ryu kim-ryu-circle --max-force '85 N' --max-speed '300 mm/s'")
def fastest(
    robot: RobotName,
    path: Annotated[str | None, typer.Argument(help="Published motion or motion file; its timing is ignored.")] = None,
    force: Annotated[
        Limit, typer.Option("--max-force", "--max-torque", help="Largest actuator force or torque, such as '2 kN'.")
    ] = None,
    speed: Annotated[Limit, typer.Option("--max-speed", help="Largest actuator speed, such as '300 mm/s'.")] = None,
    acceleration: Annotated[Limit, typer.Option("--max-acceleration", help="Largest actuator acceleration.")] = None,
    power: Annotated[Limit, typer.Option("--max-power", help="Largest power of an actuator, W.")] = None,
    rms_force: Annotated[
        Limit, typer.Option("--rms-force", "--rms-torque", help="Largest rms force or torque over the motion.")
    ] = None,
    jerk: Annotated[
        Limit, typer.Option("--max-jerk", help="Largest actuator jerk, m/s^3 or rad/s^3; default: no limit.")
    ] = None,
    reaction: Annotated[Limit, typer.Option("--max-reaction", help="Largest force in any joint.")] = None,
    friction: WithFriction = True,
    points: Annotated[int, typer.Option(help="Grid points along the path at which limits hold.")] = 1000,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Motion file; default: MOTION-fastest.yaml.")] = None,
    table: SetPointsFile = None,
    drive_rate: DriveRate = 1000.0,
    replace: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..fastest import KINDS, Limits, fastest, prepare_grid
    from ..fastest.solve import judged, limits_text, sharing_text
    from ..motion import dumps_motion, find_motion, with_motion_lines
    from ..motion.relocate import relocated
    from ..motion.resolve import robot_and_motion
    from ..output.safe_names import file_name
    from ..results import setpoints

    name, motion = robot_and_motion(robot, path)
    with working("finding the fastest motion") as progress:
        progress("compiling the robot")
        model = load_model(name, settings)
        turning = sorted({actuator.unit == "rad" for actuator in model.actuators})
        given = {"force": force, "speed": speed, "acceleration": acceleration, "power": power, "jerk": jerk}
        bounds = {
            kind: number(f"--max-{kind}", text, *(KINDS[kind].units[turns] for turns in turning))
            for kind, text in given.items()
            if text is not None
        }
        if rms_force is not None:
            units = (KINDS["rms_force"].units[turns] for turns in turning)
            bounds["rms_force"] = number("--rms-force", rms_force, *units)
        if reaction is not None:
            bounds["reaction"] = number("--max-reaction", reaction, "N")
        with with_motion_lines(motion):
            file = find_motion(model, motion)
            target = Target(Path(f"{file_name(file.name)}-fastest.yaml") if out is None else out, replace)
            progress("speeds along the path")
            found = fastest(model, prepare_grid(model, file, points), Limits(**bounds), friction=friction)
        report = judged(model, found, friction)
        own = found.motion_file(target.path.stem, name)
        drives = {} if table is None else {Target(table, replace): setpoints(model, own, drive_rate, friction)}
    sentence, sharing = limits_text(model, report), sharing_text(model, found)
    length, before = found.grid.path.length, file.trajectory.duration
    return Answer(
        [
            Styled(model.robot.name, f" along {file.name}: {found.duration:.5g} s ({before:.5g} s as given), "
                   f"{length:.4g} m including rotation"),
            found.table,
            *([sentence] if sentence else []),
            *([sharing] if sharing else []),
            *([found.stops_note] if found.stops_note else []),
        ],
        {
            "robot": model.robot.name,
            "motion": file.name,
            "duration_s": found.duration,
            "limits": {kind: {"used": s, "by": who, "at_s": at} for kind, (s, who, at) in found.used.items()},
            "binding": found.binding,
            "robot_limits": {"text": sentence, "uses": report.largest(), "left_out": dict(report.left_out)},
            "sharing": sharing,
            "iterations": found.iterations,
            "motion_file": str(target),
        },
        files={
            target: dumps_motion(relocated(own, motion, target.path)),
            **{at: points.content(at.path) for at, points in drives.items()},
        },
        after=f". Run it: polypod run {name} {target}",
    )  # fmt: skip
