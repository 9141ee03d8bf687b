"""``polypod check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .frame import Answer, Styled, Target, command
from .options import Replace, Settings, overrides
from .terminal import working

_KIND = {"tolerance": "tolerance file"}


@command("check", "check my-robot.yaml")
def check(
    file: Annotated[
        str, typer.Argument(help="Robot, motion, study or tolerance file, or a name that 'polypod list' shows.")
    ],
    robot: Annotated[str | None, typer.Option(help="Robot to check a motion or tolerances with.")] = None,
    sources: Annotated[bool, typer.Option("--sources", help="List a robot's parameters without a source.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 2 also for broken limits and warnings.")
    ] = False,
    settings: Settings = None,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="PICTURE", help="Draw the motions that remain possible with all drives locked."),
    ] = None,
    force: Replace = False,
) -> Answer:
    from ..file_kinds.checking import check

    if draw is not None and settings:
        raise InputError("--draw: shows the robot as in its file; leave out --set")
    target = None if draw is None else Target(draw, force)
    with working("checking"):
        report = check(file, robot, sources, overrides(settings))
        drawn = [] if target is None else [_draw(file, target)]
    warned = [Styled("  warning:", f" {text}", "yellow") for text in report.warnings]
    if not report.ok:
        count = f"{len(report.faults)} error{'s' if len(report.faults) > 1 else ''}"
        head = Styled("error:", f" {report.file}: {count}", "bold red")
        return Answer(data=report.data(), complaints=[head, *report.source_lines(), *warned, *drawn], code=2)
    failure = "limits are broken" if report.within_limits is False else "a warning was given"
    broken = [report.broken.practical()] if report.broken and report.broken.rows else []
    return Answer(
        [Styled("ok", f": {report.file} is a valid {_KIND.get(report.kind, report.kind)}", "green"), *warned,
         *(f"  {remark}" for remark in report.remarks), *broken, *drawn],
        report.data(),
        failure=f"--strict: {failure}" if strict and not report.clean else "",
    )  # fmt: skip


def _draw(file: str, target: Target) -> str:
    """Draw the uncontrolled motions of a robot file, right or not; a sentence that says how many there are."""
    from ..exchange.uncontrolled import uncontrolled_motions
    from ..results.figures.picture import write_picture
    from ..results.figures.uncontrolled import uncontrolled

    found = uncontrolled_motions(file)
    write_picture(target.path, uncontrolled, found, force=target.force)
    return f"Picture: {target}, {len(found.motions)} motions with all drives locked"
