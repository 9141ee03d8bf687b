"""``polypod export``: model functions for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..export import export_c
from ..models import model_of
from ..results.report import write_whole
from .terminal import out, told, working

EXAMPLE = "Example: polypod export c kim-ryu inverse_dynamics --out firmware"
app = typer.Typer(no_args_is_help=True, help="Write model functions for other programs.", epilog=EXAMPLE)


def export(
    robot: str, function: str = "inverse_dynamics", folder: str | Path = ".", friction: bool = True, force: bool = False
) -> tuple[Path, Path]:
    """Write NAME.h and NAME.c of a model function into a folder; returns their paths."""
    model = model_of(robot)
    name, header, source = export_c(model, function, friction)
    paths = Path(folder) / f"{name}.h", Path(folder) / f"{name}.c"
    for path in paths:
        if path.exists() and not force:
            write_whole(path, b"", force=False)
    for path, text in zip(paths, (header, source), strict=True):
        write_whole(path, text.encode(), force)
    return paths


@app.command("c", epilog=EXAMPLE)
@told
def command(
    robot: Annotated[str, typer.Argument(help="Library robot or robot file.")],
    function: Annotated[str, typer.Argument(help="Model function, such as inverse_dynamics.")] = "inverse_dynamics",
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the two files.")] = Path("."),
    friction: Annotated[bool, typer.Option(help="Include friction.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """A self-contained C99 file and header of a model function; needs only the C mathematics library."""
    with working("exporting"):
        header, source = export(robot, function, folder, friction, force)
    out().print(
        f"Wrote {escape(str(header))} and {escape(str(source))}. The header says what goes in and out. Compile with: "
        f"cc -std=c99 -O2 main.c {escape(str(source))} -lm"
    )
