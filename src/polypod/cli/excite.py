"""``polypod excite``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, Target, command
from .options import Replace, RobotName, SameLegs, Settings, load_model, measured
from .terminal import working


@command("excite", "excite kim-ryu --noise 0.5 --out kim-ryu-excitation.yaml")
def excite(
    robot: RobotName,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Motion file; default: ROBOT-excitation.yaml.")
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(help="Duration of one period; default: the most informative one.", **measured("s")),
    ] = None,
    harmonics: Annotated[
        int | None, typer.Option(help="Number of harmonics per coordinate; default: the most informative one.")
    ] = None,
    noise: Annotated[float, typer.Option(help="Standard deviation of the force noise.", **measured("N", "N m"))] = 1.0,
    rate: Annotated[float, typer.Option(help="Sampling rate.", **measured("Hz"))] = 1000.0,
    criterion: Annotated[
        str, typer.Option(help="Criterion of the information matrix: determinant or condition.")
    ] = "determinant",
    max_acceleration: Annotated[
        float | None, typer.Option(help="Largest acceleration of an actuator.", **measured("m/s^2", "rad/s^2"))
    ] = None,
    reach: Annotated[
        float, typer.Option(help="Largest distance from home: fraction of the robot's size, and rad.")
    ] = 0.25,
    max_frequency: Annotated[
        float, typer.Option(help="Highest frequency of proposed harmonics.", **measured("Hz"))
    ] = 10.0,
    same_legs: SameLegs = False,
    tries: Annotated[int, typer.Option(help="Number of motions to try.")] = 400,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..identification import excite
    from ..identification.base import listed
    from ..identification.tables import excitation_table
    from ..motion.files import dumps_motion
    from ..output.safe_names import file_name

    with working("searching") as progress:
        model = load_model(robot, settings)
        target = Target(out or Path(f"{file_name(model.robot.name)}-excitation.yaml"), force)
        found = excite(
            model, duration=duration, harmonics=harmonics, noise=noise, rate=rate, criterion=criterion,  # type: ignore[arg-type]
            max_acceleration=max_acceleration, reach=reach, max_frequency=max_frequency, same_legs=same_legs,
            tries=tries, progress=progress,
        )  # fmt: skip
    seen = [name for name in found.base.names if name not in set(found.invisible)]
    hidden = (
        f"{len(found.invisible)} of {found.base.count} base parameters stay invisible (more uncertain than the file's "
        f"values) and are not in the table, --json has them: {listed(found.invisible)}"
    )
    return Answer(
        [
            *([excitation_table(found, seen)] if seen else []),
            f"{found.motion.title}, period {found.period:g} s. One period shows {found.shown()} of "
            f"{found.base.count} base parameters, 10 s show {found.shown(10.0)}, 60 s {found.shown(60.0)}.",
            f"log det of the information {found.log_determinant:.4g}, condition number {found.condition:.4g}, with "
            f"noise {found.noise:g} at {found.rate:g} Hz; {found.tried} motions tried.",
            f"The motion is {found.limits}.",
        ],
        {
            "motion": str(target),
            "log_determinant": found.log_determinant,
            "condition": found.condition,
            "noise": found.noise,
            "rate": found.rate,
            "limits": found.limits,
            "period": found.period,
            "shown": found.shown(),
            "shown_in_10_s": found.shown(10.0),
            "base_parameters": excitation_table(found).records(),
            "invisible": list(found.invisible),
        },
        [hidden] if found.invisible else [],
        {target: dumps_motion(found.motion)},
        f". Run it: polypod run {robot} {target}",
    )
