"""``polypod import``: a robot file of another program's file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..errors import InputError
from .catalogue_data import CHOICES
from .options import Json, Replace, number
from .terminal import note, out, report_errors, show_json, working

if TYPE_CHECKING:
    from ..exchange import Imported

EXAMPLE = "Example: polypod import five-bar/robot.urdf --close --platform effector -o five-bar.yaml"


def imported_text(imported: Imported, source: str) -> str:
    """Text of the robot file, with where it comes from and all remarks on top."""
    from ..files import dumps

    lines = [f"Imported from {source} with 'polypod import'."]
    for remark in imported.remarks:
        lines += textwrap.wrap(f"- {' '.join(remark.split())}", 116, subsequent_indent="  ")
    return "".join(f"# {line}\n" for line in lines) + dumps(imported.robot)


def _parse_joint_values(texts: Sequence[str]) -> dict[str, float]:
    values = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not name:
            raise InputError(f"--at: JOINT=VALUE is needed, such as motor=30deg or slide=20mm, got {text!r}")
        values[name] = number(f"--at: {name}", value, "m", "rad")
    return values


def _read_back(text: str, path: Path) -> list[str]:
    """What 'polypod check' warns of in a robot file before it is written; an error if that is no valid robot."""
    from .file_checks import check

    with TemporaryDirectory() as folder:
        trial = Path(folder) / f"{path.stem}.yaml"
        trial.write_text(text, encoding="utf-8")
        report = check(trial)
    if not report.ok:
        faults = "; ".join(
            f"{fault.field}: {fault.message}" if fault.field else fault.message for fault in report.faults
        )
        raise InputError(f"{path} was not written, as 'polypod check' would refuse it: {faults}")
    return report.warnings


@report_errors
def command(
    file: Annotated[Path, typer.Argument(help="MJCF (.xml, .mjcf) or URDF file.")],
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="Robot file; NAME.yaml if not given.")] = None,
    platform: Annotated[str | None, typer.Option(help="Body, or frame on one, that is the platform.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the robot; the file's own if not given.")] = None,
    hold: Annotated[list[str] | None, typer.Option(help="Joint to fix where it is; may be repeated.")] = None,
    actuated: Annotated[list[str] | None, typer.Option(help="Driven joint, for files without; repeated.")] = None,
    at: Annotated[
        list[str] | None, typer.Option(help="JOINT=VALUE at home, such as motor=30deg; may be repeated.")
    ] = None,
    close: Annotated[bool, typer.Option("--close", help="Close loops that are far open in the file.")] = False,
    loops: Annotated[Path | None, typer.Option(help="Loops of a URDF; robot.yaml beside it if not given.")] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help=f"{', '.join(CHOICES['formats'])}; by the file's end.")
    ] = None,
    force: Replace = False,
    json_: Json = False,
) -> None:
    """Make a robot file of another program's (MJCF, URDF with loops), and say what is odd about it."""
    from ..exchange import import_robot
    from ..output.atomic import atomic_write
    from ..output.safe_names import file_name

    home = _parse_joint_values(at or ())
    options = {"loops": loops, "hold": hold or (), "actuated": actuated or (), "at": home, "close": close}
    with working("importing"):
        imported = import_robot(file, platform, format=format_, **options)  # type: ignore[arg-type]
    if name:
        imported = imported._replace(robot=imported.robot.model_copy(update={"name": name}))
    path = out_file or Path(f"{file_name(imported.robot.name)}.yaml")
    text = imported_text(imported, file.name)
    with working("checking"):
        warned = _read_back(text, path)
    atomic_write(path, text.encode(), force)
    remarks = [*imported.remarks, *warned]
    if json_:
        show_json({"file": str(path), "robot": imported.robot.name, "remarks": remarks})
        return
    for remark in remarks:
        note(remark)
    out().print(f"Wrote {escape(str(path))}. Look at it:\n  polypod check {escape(str(path))}")
