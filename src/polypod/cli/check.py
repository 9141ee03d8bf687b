"""``polypod check``: is a robot or motion file right, and if not, which line is wrong and why."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..description import load
from ..description.documents import parse, read
from ..errors import Fault, FileError, PolypodError, RobotFileError
from ..model import Model
from ..motions import load_motion
from ..study import study
from .parameters import parameters
from .terminal import err, out, show_json, told, working

EXAMPLE = "Example: polypod check my-robot.yaml"


@dataclass
class Report:
    """What a file is, what is wrong with it, what is worth knowing."""

    file: str
    kind: str
    faults: list[Fault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the file can be used."""
        return not self.faults


def check(path: str | Path, robot: str | None = None) -> Report:
    """Validate a robot or motion file; a motion is also tried on ``robot``, or on the robot it names."""
    path = Path(path)
    kind = "robot"
    try:
        document, _ = parse(
            read(path, RobotFileError), str(path), RobotFileError, "a mapping with name, platform, legs and more"
        )
        kind = "motion" if "trajectory" in document or not {"platform", "legs"} & set(document) else "robot"
        if kind == "motion" and "trajectory" not in document:
            wanted = "a robot file has platform and legs, a motion file has a trajectory; this file has neither"
            return Report(str(path), "file", [Fault("", wanted, 1)])
        remarks = _robot(path) if kind == "robot" else _motion(path, robot)
    except FileError as error:
        if kind == "motion" and error.origin != str(path):  # it is the robot's file that is wrong
            return Report(str(path), kind, [Fault("robot", str(error))])
        return Report(str(path), kind, list(error.faults))
    except PolypodError as error:
        return Report(str(path), kind, [Fault("", str(error))])
    return Report(str(path), kind, [], remarks)


def _robot(path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(path)
        try:
            model = Model(robot)
        except FileError as error:
            raise RobotFileError(str(path), error.faults) from error
    kinds = ", ".join(sorted({leg.kind for leg in robot.legs}))
    listed = parameters(robot)
    unsaid = [p.path for p in listed if not p.source]
    condition = float(model.conditioning(robot.home.matrix).condition)
    remarks = [f"{robot.name}: {len(robot.legs)} legs ({kinds}), condition number {condition:.4g} at home"]
    limits = model.limits(robot.home.matrix)
    remarks += [f"at home {text}" for text in (limits.violations() if limits.names else [])]
    if unsaid:
        remarks.append(f"{len(unsaid)} of {len(listed)} parameters have no source, such as {unsaid[0]}")
    return remarks + [str(w.message) for w in caught]


def _motion(path: Path, robot: str | None) -> list[str]:
    motion = load_motion(path)
    name = robot or motion.robot
    if name is None:
        return [f"{motion.name}: not tried on a robot; name one with --robot or in the file to see if it can"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Model(name)
    task = motion.task(model.robot)
    result = study(model, task)
    verdict = "the legs close all along it, but limits are broken" if result.violations else "can make it"
    said = f"{motion.name}: {task.time[-1]:.6g} s, {len(task.time)} samples, {model.robot.name}: {verdict}"
    return [said, *(f"outside its limits: {text}" for text in result.violations)]


@told
def command(
    file: Annotated[Path, typer.Argument(help="Robot or motion file.")],
    robot: Annotated[str | None, typer.Option(help="Robot to try a motion on.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a robot or motion file; every fault with its line."""
    with working("checking"):
        report = check(file, robot)
    if json_:
        show_json(_data(report))
    elif report.ok:
        out().print(f"[green]ok[/]: {escape(report.file)} is a valid {report.kind}")
        for remark in report.remarks:
            out().print(f"  {escape(remark)}")
    else:
        _print_faults(report)
    if not report.ok:
        raise typer.Exit(2)


def _data(report: Report) -> dict[str, Any]:
    faults = [{"line": f.line, "field": f.field, "message": f.message} for f in report.faults]
    return {"file": report.file, "kind": report.kind, "ok": report.ok, "faults": faults, "remarks": report.remarks}


def _print_faults(report: Report) -> None:
    """Each fault, and the line of the file it speaks of."""
    console = err()
    count = len(report.faults)
    console.print(f"[bold red]error:[/] {escape(report.file)}: {count} fault{'s' if count > 1 else ''}")
    try:
        lines = Path(report.file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for fault in report.faults:
        console.print(f"  {escape(str(fault))}")
        if fault.line is not None and fault.line <= len(lines):
            console.print(f"    [dim]{fault.line:4d} | {escape(lines[fault.line - 1])}[/]")
