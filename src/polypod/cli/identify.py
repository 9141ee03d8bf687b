"""``polypod identify``: inertias and friction of a robot from logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ..errors import InputError
from .identify_report import base_table, changes_table, force_errors, headline, moved_table, page, whiteness_table
from .options import Json, Replace, RobotName, SameLegs, measured
from .overrides import Settings, with_overrides
from .terminal import note, out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..identification import Identification

EXAMPLE = "Example: polypod identify my-robot.yaml run1.csv run2.csv --validate run9.csv --out my-robot-identified.yaml"


def parse_by_pattern(texts: list[str], what: str) -> dict[str, float]:
    """Numbers by path pattern from texts such as ``platform.mass=0.01``."""
    found = {}
    for text in texts:
        pattern, _, number = text.rpartition("=")
        try:
            found[pattern or "*"] = float(number)
        except ValueError:
            raise InputError(f"--{what}: PATTERN=NUMBER or NUMBER is needed, got {text!r}") from None
    return found


@report_errors
def command(
    robot: RobotName,
    logs: Annotated[list[Path], typer.Argument(help="CSV logs: time, NAME.q and NAME.force (or .current) with units.")],
    validate: Annotated[list[Path], typer.Option(help="A log held back to judge the result by; may be repeated.")] = [],  # noqa: B006
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="Robot file with the new numbers; ROBOT-identified.yaml.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="HTML report; beside the robot file if not given.")] = None,
    same_legs: SameLegs = False,
    friction: Annotated[list[str], typer.Option(help="Friction that is zero in the file, to be found (a path).")] = [],  # noqa: B006
    uncertainty: Annotated[
        list[str], typer.Option(help="Relative standard uncertainty of the file's numbers: 0.5, or PATH=0.01.")
    ] = [],  # noqa: B006
    constant: Annotated[
        list[float],
        typer.Option(help="Force per ampere: one, or one for each actuator.", **measured("N/A", "N m/A")),
    ] = [],  # noqa: B006
    delay: Annotated[
        float, typer.Option(help="Time by which forces come later than coordinates.", **measured("s"))
    ] = 0.0,
    check: Annotated[bool, typer.Option(help="Refuse logs whose channels or units cannot be right.")] = True,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Inertias and friction of a robot from logs of its motion, as a new robot file and a report."""
    from ..files import dumps
    from ..identification import identify
    from ..model import Model
    from ..output.atomic import atomic_write, check_target
    from ..output.safe_names import file_name

    model = Model(with_overrides(robot, settings))
    target = out_file or Path(f"{file_name(model.robot.name)}-identified.yaml")
    page_file = report or target.parent / f"{target.stem}.html"
    for file in (target, page_file):
        check_target(file, force)
    with working("identifying") as progress:
        progress("reading logs")
        found = identify(
            model, list(logs), list(validate),
            uncertainty=parse_by_pattern(uncertainty, "uncertainty") or None,
            same_legs=same_legs, friction=friction, constants=constant or None, delay=delay, check=check,
        )  # fmt: skip
        progress("writing the report")
        from .. import __version__

        atomic_write(target, dumps(found.robot).encode(), force)
        atomic_write(page_file, page(found, __version__).encode(), force)
    if json_:
        show_json(report_data(found, target, page_file))
        return
    base = found.base
    out().print(
        f"[bold]{escape(found.robot.name)}[/]: {base.count} base parameters of {len(base.numbers)} numbers; "
        f"{base.identifiability.count('alone')} numbers are seen alone, {base.identifiability.count('together')} "
        "together with others, "
        f"{base.identifiability.count('not')} not at all.\n"
    )
    show_table(force_errors(found))
    moved = moved_table(found)
    if moved.rows:
        out().print()
        show_table(moved)
    else:
        out().print(f"\n{moved.caption}")
    out().print(f"\n{headline(found)}")
    for text in found.notes:
        note(text)
    out().print(f"Wrote {escape(str(target))} and {escape(str(page_file))}.")


def report_data(found: Identification, target: Path, page_file: Path) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "robot": found.robot.name,
        "file": str(target),
        "report": str(page_file),
        "base_parameters": base_table(found).records(),
        "numbers": changes_table(found).records(),
        "force_errors": force_errors(found).records(),
        "residuals": whiteness_table(found).records(),
        "notes": list(found.notes),
    }
