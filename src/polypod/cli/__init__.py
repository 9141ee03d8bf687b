"""The command line: one file per command, which parses, computes and returns a ``polypod.cli.frame.Answer``.

A new command is a file and a line in ``COMMANDS``. Its file is imported when the command runs: 'polypod --help' and
'--version' load none of them. It imports the library (but errors and tables) inside its function, so that its help and
completion need not wait; words of registries that help names are in catalogue.json.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from . import stopping

GROUPS = {
    "Design": {
        "new": "Write a commented robot or motion file to start from.",
        "show": "Parameters with their sources, mobility and a picture of a robot.",
        "view": "Interactive 3-D page of the robot, one offline HTML file.",
        "compare": "Compare robots along a motion: forces, power, reactions, strokes, conditioning.",
        "sweep": "Evaluate many designs of a robot: forces, powers, strokes, reactions, limits.",
        "drives": "Drives of a catalogue that can make the motions of a robot, cheapest first, with margin and life.",
        "optimise": "Find the best design of a study within its limits, or the Pareto front of several objectives.",
    },
    "Analyse": {
        "run": "Actuator forces, powers, reactions, limits and conditioning along a motion.",
        "fastest": "Fastest motion along a path within limits of force, speed, power and reactions.",
        "workspace": "Travel, limiting constraints and maps of the workspace.",
        "singularity": "Nearest singularities, their type, and the uncontrolled motion.",
        "modes": "All assembly modes (forward-kinematics solutions) for given actuator positions.",
        "stiffness": "Stiffness matrix, deflection under a wrench by component, and natural frequencies.",
        "accuracy": "Error budget of the platform from tolerances, encoders, backlash and heat.",
    },
    "Simulate": {
        "animate": "Film of a motion, study or simulation: GIF, WebP, MP4, or a page that plays.",
        "simulate": "Simulate a robot under a controller: tracking error, forces, energies, events.",
    },
    "Measure": {
        "excite": "Design an excitation trajectory for identification, within all limits.",
        "identify": "Identify inertias and friction from logs, as a new robot file and a report.",
        "calibrate": "Calibrate the geometry from measured poses, or plan where to measure.",
    },
    "Exchange": {
        "import": "Convert an MJCF or URDF model to a robot file and report what was lost.",
        "export": "Write a robot or its model functions for other programs.",
    },
    "Files": {
        "check": "Validate a file; report each error with its line number.",
        "list": "List the robots, motions, leg kinds and platform kinds of the library.",
        "schema": "JSON Schema of robot, motion, study and tolerance files, for completion and validation in editors.",
        "papers": "Reproduce the papers the library is built from: figures, claims and errata.",
        "cache": "Show or clear the cache of compiled functions.",
    },
}
"""What each command does, by purpose: the one place for it."""
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
WITH_SUBCOMMANDS = ("export",)
_FILES = {"list": "list_", "import": "import_"}  # Python has words of these names


def load_command(name: str) -> Any:
    """The command of a name with all its options, or the one with subcommands, from its own module."""
    from .frame import REGISTERED

    import_module(f".{_FILES.get(name, name)}", __name__)
    if name not in WITH_SUBCOMMANDS:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        function, example, _ = REGISTERED[name]
        alone.command(name, help=COMMANDS[name], epilog=example)(function)
        command: Any = get_command(alone)
    else:
        inner = {key.partition(" ")[2]: one for key, one in REGISTERED.items() if key.startswith(f"{name} ")}
        first = next(iter(inner.values()))
        group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=COMMANDS[name], epilog=first.example)
        for key, (function, example, about) in inner.items():
            group.command(key, help=about, short_help=about, epilog=example)(function)
        command = get_group(group)
    command.name = name
    return command


class _LazyCommand(TyperCommand):
    """Stands for a command whose module is imported when its arguments are read."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        given = list(args)
        try:
            return load_command(str(self.name)).make_context(info_name, args, parent, **extra)
        except typer.BadParameter as error:
            error.message += _got(error, given)
            raise


def _got(error: typer.BadParameter, args: list[str]) -> str:
    """The value that an option refused, where the message does not quote it."""
    names = getattr(error.param, "opts", ())
    pairs = [*pairwise(args), *((name, value) for name, _, value in (one.partition("=") for one in args))]
    value = next((value for name, value in pairs if name in names), None)
    return "" if value is None or value in error.message else f", got {value!r}"


class _ByPurpose(TyperGroup):
    """Help that lists commands by purpose, in plain text: panels take twice the time of all else."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(11), about) for name, about in names.items()])


app = typer.Typer(
    name="polypod",
    cls=_ByPurpose,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: polypod run",
)
for _name, _about in COMMANDS.items():
    app.command(_name, cls=_LazyCommand, help=_about, short_help=_about)(lambda: None)


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


_WITH_DASK = ("--scheduler", "--with")
"""Options that need dask, or run code that may."""


def _leave_out_dask(arguments: list[str]) -> None:
    """Where dask is installed, xarray loads it with the first Dataset, for half a second; here it finds none.

    An xarray that is loaded already may have found it.
    """
    if "xarray" not in sys.modules and not any(one.partition("=")[0] in _WITH_DASK for one in arguments):
        sys.modules.setdefault("dask", None)  # type: ignore[arg-type]


def main() -> None:
    """Entry point of ``polypod``."""
    stopping.install()
    _leave_out_dask(sys.argv[1:])
    try:
        app(prog_name="polypod")
    except BaseException as ended:
        received = stopping.received()
        if received is None:
            if isinstance(ended, KeyboardInterrupt):  # raised, not sent: Python would end by the signal
                stopping.leave(128 + signal.SIGINT)
            raise
        # whatever exception became of the signal's on its way; Ctrl-C may be a command's usual end
        if isinstance(ended, SystemExit) and isinstance(ended.code, int) and received == signal.SIGINT:
            stopping.leave(ended.code)
        stopping.leave(128 + received)
