"""The command line. One file a command, each also a plain function; a new command is a file and a line in COMMANDS."""

from __future__ import annotations

import signal
import sys
from types import ModuleType
from typing import Annotated

import typer

from . import bench, catalogue, check, export, new, papers, run, show, simulate, terminal

COMMANDS: dict[str, ModuleType] = {
    "run": run,
    "papers": papers,
    "simulate": simulate,
    "list": catalogue,
    "show": show,
    "check": check,
    "new": new,
    "bench": bench,
}
GROUPS: dict[str, ModuleType] = {"export": export}

app = typer.Typer(
    name="polypod",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: polypod run",
)
for _name, _module in COMMANDS.items():
    app.command(_name, epilog=_module.EXAMPLE)(_module.command)
for _name, _module in GROUPS.items():
    app.add_typer(_module.app, name=_name)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _polypod(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Kinematics and dynamics of parallel robots."""


def _stop(signum: int, frame: object) -> None:
    sys.exit(128 + signum)


def main() -> None:
    """Entry point of ``polypod``."""
    signal.signal(signal.SIGTERM, _stop)  # as an exception, so that half-written folders are cleared away
    try:
        app(prog_name="polypod")
    except KeyboardInterrupt:
        sys.exit(terminal.INTERRUPTED)
