"""``polypod calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..errors import InputError
from .frame import Answer, Digits, Target, command
from .options import Replace, RobotName, Settings, load_model, measured, numbers
from .terminal import working


@command("calibrate", "calibrate my-robot.yaml poses.csv --out my-robot-calibrated.yaml")
def calibrate(
    robot: RobotName,
    poses: Annotated[
        Path | None,
        typer.Argument(help="CSV: NAME.q of every actuator, and x,y,z,a1,a2,a3, tilts, distances, heights or a gauge."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Robot file, or poses of a plan; default: ROBOT-calibrated.yaml.")
    ] = None,
    plan_count: Annotated[int | None, typer.Option("--plan", help="Number of measurement poses to plan.")] = None,
    kind: Annotated[
        str, typer.Option(help="Measurement to plan for: pose, position, tilt, distance, height or gauge.")
    ] = "pose",
    sought: Annotated[
        list[str], typer.Option("--parameters", help="Parameters to identify (paths, * for any part).")
    ] = [],  # noqa: B006
    offsets: Annotated[bool, typer.Option(help="Identify offsets of the actuator readings.")] = True,
    frames: Annotated[
        bool | None,
        typer.Option(help="Identify the frames of device and target; default: for heights and gauges."),
    ] = None,
    tool: Annotated[str | None, typer.Option(help="Measured point, platform frame, such as '0, 0, 80 mm'.")] = None,
    anchor: Annotated[str | None, typer.Option(help="Fixed end of the ball bar, in the base frame.")] = None,
    direction: Annotated[
        str | None, typer.Option(help="Direction in which a gauge reads, base axes, such as '0, 0, 1'.")
    ] = None,
    uncertainty: Annotated[
        float, typer.Option(help="Standard uncertainty of the file's geometry.", **measured("m", "rad"))
    ] = 0.02,
    robust: Annotated[bool, typer.Option(help="Exclude outliers among the measurements.")] = True,
    validate: Annotated[Path | None, typer.Option(help="CSV of measured poses to validate the result with.")] = None,
    noise: Annotated[
        float | None, typer.Option(help="Standard deviation of the measuring device.", **measured("m", "rad"))
    ] = None,
    check: Annotated[bool, typer.Option(help="Reject measurements that no geometry explains.")] = True,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..files import dumps
    from ..identification import calibrate, plan
    from ..identification.calibrate import check_uncertainty
    from ..identification.tables import (
        combinations_table,
        geometry_table,
        identifiable_text,
        plan_table,
        poses_table,
        residual_text,
    )
    from ..output.safe_names import file_name

    if (poses is None) == (plan_count is None):
        raise InputError("calibrate: name a CSV file of measured poses, or use --plan COUNT to choose poses to measure")
    model = load_model(robot, settings)
    check_uncertainty(model, uncertainty)
    given: dict[str, Any] = {"parameters": sought, "offsets": offsets, "frames": frames}
    for name, text in (("tool", tool), ("anchor", anchor)):
        given |= {} if text is None else {name: numbers(f"--{name}", text, ["m"] * 3, "xyz")}
    if direction is not None:
        given["direction"] = numbers("--direction", direction, [""] * 3, "xyz")
    end = "calibrated.yaml" if plan_count is None else "poses.csv"
    target = Target(out or Path(f"{file_name(model.robot.name)}-{end}"), force)
    if plan_count is not None:
        chosen = plan(model, plan_count, kind, **given)  # type: ignore[arg-type]
        seen = [plan_table(chosen).practical()]
        seen += [combinations_table(chosen)] if "together" in chosen.base.identifiability else []
        kept = [f"At all poses the robot is {chosen.limits}."] if chosen.limits else []
        return Answer(
            [*seen, identifiable_text(chosen.base), *kept],
            {"poses": str(target), "identifiable": chosen.base.count, "parameters": len(chosen.base.numbers),
             "combinations": list(chosen.base.names), "limits": chosen.limits},
            files={target: poses_table(model, chosen).csv()},
            after=f": {plan_count} poses to measure at.",
        )  # fmt: skip
    with working("calibrating"):
        found = calibrate(
            model, poses, **given, uncertainty=uncertainty, robust=robust,  # type: ignore[arg-type]
            validate=validate, noise=noise, check=check,
        )  # fmt: skip
    units = {a.name: (1e3, "mm") if a.unit == "m" else (np.degrees(1.0), "deg") for a in model.actuators}
    shifts = [f"Add {units[name][0] * value:.6g} {units[name][1]} to the readings of {name}."
              for name, value in found.offsets.items()]  # fmt: skip
    return Answer(
        [
            Digits(geometry_table(found).practical(), 6),
            f"{identifiable_text(found.base)} {residual_text(found)}",
            *shifts,
        ],
        {
            "robot": found.robot.name,
            "file": str(target),
            "identifiable": found.base.count,
            "combinations": list(found.base.names),
            "parameters": geometry_table(found).records(),
            "offsets": found.offsets,
            "verdict": found.verdict,
            "noise": [None if not np.isfinite(x) else float(x) for x in found.noise],
            "notes": list(found.notes),
        },
        found.notes,
        {target: dumps(found.robot)},
    )
