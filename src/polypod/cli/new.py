"""``polypod new``: a commented file to start from."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..errors import InputError
from ..files import library
from ..motion import AROUND_HOME, PUBLISHED
from ..results.report import write_whole
from .terminal import out, report_errors

EXAMPLE = "Example: polypod new my-hexapod, then polypod check my-hexapod.yaml"
_NAME = re.compile(r"[A-Za-z][\w-]*")


def template(kind: str, name: str, platform: str = "rigid") -> str:
    """Text of a robot or motion file to start from, with ``name`` in it; a robot on a rigid or flexible platform."""
    if not _NAME.fullmatch(name):
        raise InputError(f"name: letters, digits, - and _ after a letter are allowed, got {name!r}")
    text = template_part(kind).replace("PLATFORM", template_part(f"platform-{platform}"))
    return text.replace("NAME", name)


def template_part(name: str) -> str:
    """Text of a template or of a part that goes into one."""
    return (resources.files(__package__) / "templates" / f"{name}.yaml").read_text(encoding="utf-8")


def new(
    name: str = "my-hexapod",
    motion: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    flexible: bool = False,
) -> Path:
    """Write a robot file (or motion file) to start from; returns its path."""
    if motion and flexible:
        raise InputError("--flexible: is about a robot's platform; leave it out for a motion file")
    kind = "motion" if motion else "robot"
    taken = (*PUBLISHED, AROUND_HOME) if motion else library()
    if name in taken:
        raise InputError(f"name: {name!r} is a {kind} of the library; choose another, such as 'my-{name}'")
    path = Path(f"{name}.yaml") if out is None else Path(out)
    write_whole(path, template(kind, name, "flexible" if flexible else "rigid").encode(), force)
    return path


@report_errors
def command(
    name: Annotated[str, typer.Argument(help="Name of the robot or motion.")] = "my-hexapod",
    motion: Annotated[bool, typer.Option("--motion", help="A motion file instead of a robot file.")] = False,
    flexible: Annotated[bool, typer.Option("--flexible", help="A robot with a flexible platform.")] = False,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="File; NAME.yaml if not given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a commented robot file (a valid hexapod) or motion file to start from."""
    path = new(name, motion, out_file, force, flexible)
    console = out()
    console.print(f"Wrote {escape(str(path))}. Edit it, then:")
    console.print(f"  polypod check {escape(str(path))}{' --robot ROBOT' if motion else ''}")
    console.print(f"  polypod run {f'ROBOT {path}' if motion else path}")
