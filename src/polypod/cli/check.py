"""``polypod check``: is a robot or motion file right, and if not, which line is wrong and why."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ..errors import FileError, InputError
from .file_checks import AnyFileError, Report, check
from .options import Json
from .overrides import Settings
from .pictures import check_picture, write_picture
from .terminal import err, fail, out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from rich.console import Console


EXAMPLE = "Example: polypod check my-robot.yaml"


@report_errors
def command(
    file: Annotated[str, typer.Argument(help="Robot or motion file, or a name that 'polypod list' has.")],
    robot: Annotated[str | None, typer.Option(help="Robot to try a motion on.")] = None,
    sources: Annotated[bool, typer.Option("--sources", help="List a robot's parameters without a source.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 2 also for a broken limit or a warning.")
    ] = False,
    settings: Settings = None,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="PICTURE", help="Draw what of a robot moves while its drives stand still, right or not."),
    ] = None,
    json_: Json = False,
) -> None:
    """Check a robot or motion, a file or one of the library; every fault with its line."""
    if draw is not None and settings:
        raise InputError("--set: --draw shows the robot as its file has it; leave one of them out")
    with working("checking"):
        report = check(file, robot, sources, settings)
    if draw is not None:
        _draw(file, draw)
    if json_:
        show_json(report_data(report))
    elif report.ok:
        _print(report)
    else:
        _print_faults(report)
    if not report.ok:
        raise typer.Exit(2)
    if strict and not report.clean:
        fail("--strict: limits are broken" if report.within_limits is False else "--strict: a warning was given")


def _draw(file: str, picture: Path) -> None:
    """Write the picture of the uncontrolled motions, and say how many there are."""
    from ..exchange.uncontrolled import uncontrolled_motions
    from ..results.figures.uncontrolled import uncontrolled

    check_picture(picture)
    found = uncontrolled_motions(file)
    write_picture(picture, uncontrolled, found)
    err().print(f"drawn: {escape(str(picture))}, {len(found.motions)} motions while all drives stand still")


def report_data(report: Report) -> dict[str, Any]:
    faults = [{"line": f.line, "field": f.field, "message": f.message} for f in report.faults]
    return {
        "file": report.file,
        "kind": report.kind,
        "ok": report.ok,
        "faults": faults,
        "remarks": report.remarks,
        "warnings": report.warnings,
        "within_limits": report.within_limits,
        "certified": report.certified,
        "limits": report.broken.records() if report.broken else [],
    }


def _print(report: Report) -> None:
    console = out()
    console.print(f"[green]ok[/]: {escape(report.file)} is a valid {report.kind}")
    _print_warnings(console, report)
    for remark in report.remarks:
        console.print(f"  {escape(remark)}")
    if report.broken and report.broken.rows:
        console.print()
        show_table(report.broken.practical())


def _print_warnings(console: Console, report: Report) -> None:
    for text in report.warnings:
        console.print(f"  [yellow]warning:[/] {escape(text)}")


def _print_faults(report: Report) -> None:
    """Print each fault and the line of the file it is about."""
    from ..files.documents import read

    console = err()
    count = len(report.faults)
    console.print(f"[bold red]error:[/] {escape(report.file)}: {count} fault{'s' if count > 1 else ''}")
    lines: list[str] = []
    with suppress(FileError):  # what cannot be read, a device among it, is the fault
        lines = read(Path(report.file), AnyFileError).splitlines()
    for fault in report.faults:
        console.print(f"  {escape(str(fault))}")
        if fault.line is not None and fault.line <= len(lines):
            console.print(f"    [dim]{fault.line:4d} | {escape(lines[fault.line - 1])}[/]")
    _print_warnings(console, report)
