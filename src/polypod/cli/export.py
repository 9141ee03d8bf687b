"""``polypod export``: model functions for other programs, a command for each of :data:`polypod.export.EXPORTS`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..errors import UnknownNameError
from ..export import EXPORTS
from ..files.whole import write_whole
from ..model import Model
from .terminal import out, report_errors, working

EXAMPLE = "Example: polypod export {} kim-ryu inverse_dynamics --out firmware"
app = typer.Typer(
    no_args_is_help=True, help="Write model functions for other programs.", epilog=EXAMPLE.format(next(iter(EXPORTS)))
)


def export(
    kind: str,
    robot: str,
    function: str = "inverse_dynamics",
    folder: str | Path = ".",
    friction: bool = True,
    force: bool = False,
) -> list[Path]:
    """Write the files of a model function into a folder; returns their paths."""
    if kind not in EXPORTS:
        raise UnknownNameError("export", kind, tuple(EXPORTS))
    texts = EXPORTS[kind].files(Model(robot), function, friction)
    paths = [Path(folder) / name for name in texts]
    for path in paths:
        if path.exists() and not force:
            write_whole(path, b"", force=False)  # says so before any file is written
    for path, text in zip(paths, texts.values(), strict=True):
        write_whole(path, text.encode(), force)
    return paths


def _register(kind: str) -> None:
    @app.command(kind, epilog=EXAMPLE.format(kind), help=EXPORTS[kind].about)
    @report_errors
    def command(
        robot: Annotated[str, typer.Argument(help="Library robot or robot file.")],
        function: Annotated[str, typer.Argument(help="Model function, such as inverse_dynamics.")] = "inverse_dynamics",
        folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("."),
        friction: Annotated[bool, typer.Option(help="Include friction.")] = True,
        force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    ) -> None:
        with working("exporting"):
            paths = export(kind, robot, function, folder, friction, force)
        source = escape(str(paths[-1]))
        written = " and ".join(escape(str(path)) for path in paths)
        out().print(f"Wrote {written}. {EXPORTS[kind].hint.format(source=source)}")


for _kind in EXPORTS:
    _register(_kind)
