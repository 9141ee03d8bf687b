"""``polypod excite``: a motion that makes inertias and friction visible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..tables import Table, table
from .options import Json, Replace, RobotName, SameLegs, measured
from .overrides import Settings, with_overrides
from .terminal import note, out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..identification import Excitation

EXAMPLE = "Example: polypod excite kim-ryu --noise 0.5 --out kim-ryu-excitation.yaml"


@report_errors
def command(
    robot: RobotName,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="Motion file; ROBOT-excitation.yaml.")] = None,
    duration: Annotated[float, typer.Option(help="Period.", **measured("s"))] = 10.0,
    harmonics: Annotated[int, typer.Option(help="Harmonics of each coordinate.")] = 8,
    noise: Annotated[float, typer.Option(help="Noise of forces.", **measured("N", "N m"))] = 1.0,
    rate: Annotated[float, typer.Option(help="samples per second.", **measured("Hz"))] = 1000.0,
    criterion: Annotated[
        str, typer.Option(help="What the search optimises, of the information matrix: determinant or condition.")
    ] = "determinant",
    max_acceleration: Annotated[
        float | None, typer.Option(help="Largest acceleration of an actuator.", **measured("m/s^2", "rad/s^2"))
    ] = None,
    reach: Annotated[
        float, typer.Option(help="How far from home: a part of the robot's size, and an angle in rad.")
    ] = 0.25,
    same_legs: SameLegs = False,
    budget: Annotated[float, typer.Option(help="Time to search.", **measured("s"))] = 20.0,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """A motion within all limits of a robot that makes its inertias and friction visible."""
    from ..identification import excite
    from ..identification.base import listed
    from ..model import Model
    from ..motion.files import dumps_motion
    from ..output.atomic import atomic_write, check_target
    from ..output.safe_names import file_name

    with working("searching") as progress:
        model = Model(with_overrides(robot, settings))
        target = out_file or Path(f"{file_name(model.robot.name)}-excitation.yaml")
        check_target(target, force)
        found = excite(
            model, duration=duration, harmonics=harmonics, noise=noise, rate=rate, criterion=criterion,  # type: ignore[arg-type]
            max_acceleration=max_acceleration, reach=reach, same_legs=same_legs, budget=budget, progress=progress,
        )  # fmt: skip
    atomic_write(target, dumps_motion(found.motion).encode(), force)
    if json_:
        show_json(report_data(found, target))
        return
    if seen := [name for name in found.base.names if name not in set(found.invisible)]:
        show_table(seen_table(found, seen))
    out().print(
        f"\nlog det of the information {found.log_determinant:.4g}, condition number {found.condition:.4g}, with noise "
        f"{found.noise:g} at {found.rate:g} samples per second; {found.tried} motions tried."
    )
    if found.invisible:
        note(f"{len(found.invisible)} of {found.base.count} base parameters stay invisible (more uncertain than the "
             f"file's values) and are not in the table, --json has them: {listed(found.invisible)}")  # fmt: skip
    out().print(f"Wrote {escape(str(target))}. Run it: polypod run {escape(robot)} {escape(str(target))}")


def seen_table(found: Excitation, names: Sequence[str]) -> Table:
    """Standard deviations to expect of the base parameters of these names."""
    rows = [(name, unit, float(d) if np.isfinite(d) else float("nan"))
            for name, unit, d in zip(found.base.names, found.base.units, found.deviations, strict=True)
            if name in names]  # fmt: skip
    return table("What one period shows", [("base parameter", ""), ("unit", ""), ("standard deviation", "")], rows)


def report_data(found: Excitation, target: Path) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "motion": str(target),
        "log_determinant": found.log_determinant,
        "condition": found.condition,
        "noise": found.noise,
        "rate": found.rate,
        "base_parameters": seen_table(found, found.base.names).records(),
        "invisible": list(found.invisible),
    }
