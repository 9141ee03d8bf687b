"""``polypod identify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .frame import Answer, Styled, Target, command
from .options import Replace, RobotName, SameLegs, Settings, load_model, measured
from .terminal import working


def parse_by_pattern(option: str, texts: list[str]) -> dict[str, float]:
    """Numbers by path pattern from texts such as ``platform.mass=0.01``."""
    found = {}
    for text in texts:
        pattern, _, number = text.rpartition("=")
        try:
            found[pattern or "*"] = float(number)
        except ValueError:
            raise InputError(f"{option}: PATTERN=NUMBER or NUMBER is needed, got {text!r}") from None
    return found


@command("identify", "identify my-robot.yaml run1.csv run2.csv --validate run9.csv --out my-robot-identified.yaml")
def identify(
    robot: RobotName,
    logs: Annotated[list[Path], typer.Argument(help="CSV logs: time, NAME.q and NAME.force (or .current) with units.")],
    validate: Annotated[list[Path], typer.Option(help="Log to validate the result with; repeatable.")] = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Robot file; default: ROBOT-identified.yaml.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML report; default: next to the robot file.")] = None,
    same_legs: SameLegs = False,
    friction: Annotated[list[str], typer.Option(help="Path of friction to identify that is zero in the file.")] = [],  # noqa: B006
    uncertainty: Annotated[
        list[str], typer.Option(help="Relative standard uncertainty of the file's parameters: 0.5, or PATH=0.01.")
    ] = [],  # noqa: B006
    constant: Annotated[
        list[float], typer.Option(help="Force per ampere: one value, or one per actuator.", **measured("N/A", "N m/A"))
    ] = [],  # noqa: B006
    delay: Annotated[float, typer.Option(help="Delay of forces relative to coordinates.", **measured("s"))] = 0.0,
    check: Annotated[bool, typer.Option(help="Reject logs with implausible channels or units.")] = True,
    channel_errors: Annotated[
        bool, typer.Option(help="Also estimate offsets, gains and delays of force channels where the data show them.")
    ] = True,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..files import dumps
    from ..identification import identify
    from ..identification.tables import (
        base_table,
        changes_table,
        channels_table,
        force_errors_table,
        identification_headline,
        moved_table,
        whiteness_table,
    )
    from ..output.safe_names import file_name
    from ..results.report.identified import identification_page

    model = load_model(robot, settings)
    target = Target(out or Path(f"{file_name(model.robot.name)}-identified.yaml"), force)
    page = Target(report or target.path.parent / f"{target.path.stem}.html", force)
    with working("identifying") as progress:
        progress("reading logs")
        found = identify(
            model, list(logs), list(validate), uncertainty=parse_by_pattern("--uncertainty", uncertainty) or None,
            same_legs=same_legs, friction=friction, constants=constant or None, delay=delay, check=check,
            channel_errors=channel_errors,
        )  # fmt: skip
        progress("writing the report")
        html = identification_page(found)
    base, moved = found.base, moved_table(found)
    return Answer(
        [
            Styled(found.robot.name, f": {base.count} base parameters of {len(base.numbers)} parameters; "
                   f"{base.identifiability.count('alone')} are identifiable alone, "
                   f"{base.identifiability.count('together')} together with "
                   f"others, {base.identifiability.count('not')} not at all."),
            force_errors_table(found),
            *([channels_table(found)] if found.channels else []),
            moved if moved.rows else moved.caption,
            identification_headline(found),
        ],
        {
            "robot": found.robot.name,
            "file": str(target),
            "report": str(page),
            "base_parameters": base_table(found).records(),
            "parameters": changes_table(found).records(),
            "force_errors": force_errors_table(found).records(),
            "residuals": whiteness_table(found).records(),
            "channels": channels_table(found).records(),
            "verdict": found.verdict._asdict(),
            "notes": list(found.notes),
        },
        found.notes,
        {target: dumps(found.robot), page: html},
    )  # fmt: skip
