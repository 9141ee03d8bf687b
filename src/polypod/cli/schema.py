"""``polypod schema``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, Target, command
from .options import Replace


class FileKind(StrEnum):
    """Which kind of file a schema is for."""

    robot = "robot"
    motion = "motion"
    study = "study"
    tolerances = "tolerances"


@command("schema", "schema robot --out robot.schema.json", json=False)
def schema(
    kind: Annotated[FileKind, typer.Argument(help="Kind of file.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; default: print it.")] = None,
    force: Replace = False,
) -> Answer | None:
    from ..file_kinds.json_schema import schema

    text = json.dumps(schema(kind.value), indent=2) + "\n"
    if out is None:
        print(text, end="")
        return None
    line = f"# yaml-language-server: $schema={out}"
    return Answer(files={Target(out, force): text}, after=f". Editors use it if the first line of a file is: {line}")
