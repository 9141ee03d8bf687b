"""``polypod calibrate``: a robot's geometry from measured poses; without any, where to measure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..errors import InputError
from ..tables import Table, table
from .options import Json, Replace, RobotName, measured, numbers
from .overrides import Settings, with_overrides
from .terminal import note, out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..identification import Calibration, Plan
    from ..model import Model

EXAMPLE = "Example: polypod calibrate my-robot.yaml poses.csv --out my-robot-calibrated.yaml"


def _parse_point(text: str | None, what: str) -> list[float] | None:
    return None if text is None else numbers(f"--{what}", text, ["m"] * 3, "xyz")


@report_errors
def command(
    robot: RobotName,
    poses: Annotated[
        Path | None, typer.Argument(help="CSV: NAME.q of every actuator, and x,y,z,a1,a2,a3, tilts or distances.")
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="Robot file, ROBOT-calibrated.yaml; or poses of a plan.")
    ] = None,
    plan_count: Annotated[int | None, typer.Option("--plan", help="Choose so many poses to measure at.")] = None,
    kind: Annotated[str, typer.Option(help="What a plan measures: pose, position, tilt or distance.")] = "pose",
    sought: Annotated[
        list[str], typer.Option("--numbers", help="Points, lengths or directions to find (paths, * for any).")
    ] = [],  # noqa: B006
    offsets: Annotated[bool, typer.Option(help="Find offsets of the actuators' readings.")] = True,
    frames: Annotated[bool, typer.Option("--frames", help="Find the frames of the device and of its target.")] = False,
    tool: Annotated[
        str | None, typer.Option(help="Measured point in the platform frame, such as '0, 0, 80 mm'.")
    ] = None,
    anchor: Annotated[
        str | None, typer.Option(help="Fixed ball of a ball-bar, base frame, such as '0, 0, 80 mm'.")
    ] = None,
    uncertainty: Annotated[
        float, typer.Option(help="Standard uncertainty of the file's geometry.", **measured("m", "rad"))
    ] = 0.02,
    robust: Annotated[bool, typer.Option(help="Leave out measurements that stand out.")] = True,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Geometry of a robot from measured poses, as a new robot file; or where to measure."""
    from ..files import dumps
    from ..identification import calibrate, plan
    from ..identification.calibrate import check_uncertainty
    from ..model import Model
    from ..output.atomic import atomic_write, check_target
    from ..output.safe_names import file_name

    if (poses is None) == (plan_count is None):
        raise InputError("calibrate: name a CSV file of measured poses, or --plan COUNT to choose poses to measure at")
    model = Model(with_overrides(robot, settings))
    check_uncertainty(model, uncertainty)
    points: dict[str, Any] = {"tool": _parse_point(tool, "tool"), "anchor": _parse_point(anchor, "anchor")}
    options: dict[str, Any] = {"numbers": sought, "offsets": offsets, "frames": frames}
    name = f"{file_name(model.robot.name)}-{'calibrated.yaml' if plan_count is None else 'poses.csv'}"
    target = out_file or Path(name)
    check_target(target, force)
    if plan_count is not None:
        given = {k: v for k, v in points.items() if v is not None}
        chosen = plan(model, plan_count, kind, **options, **given)  # type: ignore[arg-type]
        atomic_write(target, poses_table(model, chosen).csv().encode(), force)
        if json_:
            show_json({"poses": str(target), "identifiable": chosen.base.count, "numbers": len(chosen.base.numbers),
                       "combinations": list(chosen.base.names)})  # fmt: skip
            return
        show_table(plan_table(chosen).practical())
        if "together" in chosen.base.identifiability:
            show_table(combinations_table(chosen))
        out().print(f"\n{_identifiable_text(chosen.base)}")
        out().print(f"Wrote {escape(str(target))}: {plan_count} poses to measure at.")
        return
    assert poses is not None
    with working("calibrating"):
        found = calibrate(model, poses, **(options | points), uncertainty=uncertainty, robust=robust)
    atomic_write(target, dumps(found.robot).encode(), force)
    if json_:
        show_json(report_data(found, target))
        return
    show_table(numbers_table(found).practical(), 6)
    out().print(f"\n{_identifiable_text(found.base)} {_residual_text(found)}")
    for name, value in found.offsets.items():
        out().print(f"Add {value:.6g} to the readings of {escape(name)}.")
    for text in found.notes:
        note(text)
    out().print(f"Wrote {escape(str(target))}.")


def _identifiable_text(base: Any) -> str:
    """How many combinations of numbers poses tell apart."""
    return f"{base.count} combinations of {len(base.numbers)} numbers are identifiable."


def _residual_text(found: Calibration) -> str:
    """Residuals before and after, and the noise that is left."""
    parts = [f"{name} {value:.3g} {unit}" for name, value, unit in
             zip(("lengths", "angles"), found.noise, ("m", "rad"), strict=True) if np.isfinite(value)]  # fmt: skip
    before, after = (float(np.sqrt((r**2).mean())) for r in (found.before, found.residuals))
    return f"Residuals fall from {before:.3g} to {after:.3g} (rms); noise of {', '.join(parts)}."


def numbers_table(found: Calibration) -> Table:
    """Every number with its step and interval."""
    from ..identification.new_robot import Z95

    half = Z95 * np.sqrt(np.diag(found.covariance))
    each = zip(found.geometry.numbers, found.steps, half, found.base.identifiability, strict=True)
    rows = [
        (n.name, n.unit, n.value, n.value + float(s), float(h), identifiability) for n, s, h, identifiability in each
    ]
    columns = [("number", ""), ("unit", ""), ("file", ""), ("new", ""), ("± 95 %", ""), ("seen", "")]
    return table("Geometry", columns, rows)


def plan_table(chosen: Plan) -> Table:
    """What the poses of a plan will show."""
    each = zip(chosen.base.numbers, chosen.half_widths, chosen.base.identifiability, strict=True)
    rows = [(n.name, n.unit, float(h), identifiability) for n, h, identifiability in each]
    caption = "With noise of 10 um and 20 urad."
    return table(
        "What the poses will show", [("number", ""), ("unit", ""), ("± 95 %", ""), ("seen", "")], rows, caption
    )


def combinations_table(chosen: Plan) -> Table:
    """Combinations of numbers that poses show only together."""
    mixed = [name for name, row in zip(chosen.base.names, chosen.base.matrix, strict=True) if (row != 0).sum() > 1]
    return table("Seen together", [("combination", "")], [(name,) for name in mixed])


def poses_table(model: Model, chosen: Plan) -> Table:
    """Poses and coordinates of a plan, in the columns that measurements come back in."""
    from scipy.spatial.transform import Rotation

    angles = Rotation.from_matrix(chosen.poses[:, :3, :3]).as_euler(model.robot.euler)
    columns = [(f"{a.name}.q", a.unit) for a in model.actuators]
    columns += [(c, "m") for c in "xyz"] + [(c, "rad") for c in ("a1", "a2", "a3")]
    rows = np.concatenate([chosen.q, chosen.poses[:, :3, 3], angles], axis=1)
    return table("Poses", columns, [tuple(map(float, row)) for row in rows])


def report_data(found: Calibration, target: Path) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "robot": found.robot.name,
        "file": str(target),
        "identifiable": found.base.count,
        "combinations": list(found.base.names),
        "numbers": numbers_table(found).records(),
        "offsets": found.offsets,
        "noise": [None if not np.isfinite(x) else float(x) for x in found.noise],
        "notes": list(found.notes),
    }
