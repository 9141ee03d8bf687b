"""The command line. One file a command, each also a plain function; a new command is a file and a line in COMMANDS.

A command's file is imported when the command runs: 'polypod --help' and '--version' load none of them. It imports the
rest of the library (but errors and tables) inside its functions, so that its help and completion come at once; words
of registries that help names are in catalogue_data.py.
"""

from __future__ import annotations

import signal
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from . import stopping
from .extend import extended

COMMANDS = {
    "run": "Actuator forces, powers, reactions, limits and conditioning of a robot along a motion.",
    "compare": "Robots side by side along a motion: forces, power, reactions, strokes, conditioning, what is better.",
    "view": "A page to drag the robot in: lengths, forces, limits and conditioning at once, offline in any browser.",
    "papers": "Figures, claims and errata of the papers the library is built from, with the number that decides each.",
    "simulate": "A robot under a controller that follows a motion: tracking error, forces, energies, events.",
    "workspace": "How far a robot moves within its limits, what stops it, and maps of its workspace.",
    "singularity": "How far a robot is from being singular, of which kind, and what its platform does there.",
    "fastest": "The fastest motion along a path within limits of force, speed, power and reactions, as a motion file.",
    "sweep": "Vary numbers of a robot: forces, powers, strokes, reactions of every design, and which limit binds.",
    "optimise": "The best design of a study within its limits, or the best compromises between several quantities.",
    "excite": "A motion within all limits of a robot that makes its inertias and friction visible.",
    "identify": "Inertias and friction of a robot from logs of its motion, as a new robot file and a report.",
    "calibrate": "Geometry of a robot from measured poses, as a new robot file; or where to measure.",
    "list": "Robots that come with polypod, published motions, kinds of legs and platforms.",
    "show": "Parameters with their sources, mobility and a 3-D picture of a robot.",
    "modes": "All poses with the same actuated coordinates: proven or not, within limits, reachable from home.",
    "stiffness": "Stiffness matrix, deflection under a wrench by component, and natural frequencies of a robot.",
    "accuracy": "Errors of the platform from tolerances of numbers, encoders, backlash and heat: by cause, ranked.",
    "check": "Check a robot or motion, a file or one of the library; every fault with its line.",
    "new": "Write a commented robot file (a valid hexapod, or another kind from sizes) or motion file to start from.",
    "import": "Make a robot file of another program's (MJCF, URDF with loops), and say what is odd about it.",
    "schema": "JSON schema of robot or motion files: an editor then offers their fields and marks faults.",
    "cache": "The compiled functions that are kept between runs: where, how many, how large.",
}
GROUPS = {"export": "Write a robot or its model functions for other programs."}
_FILES = {"list": "catalogue", "import": "import_"}  # a module named list would hide Python's own


def load_command(name: str) -> Any:
    """The command (or group) of a name with all its options, from its own module."""
    module = import_module(f".{_FILES.get(name, name)}", __name__)
    if name in GROUPS:
        for inner in module.app.registered_commands:
            inner.callback = extended(inner.callback)
        command: Any = get_group(module.app)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, help=COMMANDS[name], epilog=module.EXAMPLE)(extended(module.command))
        command = get_command(alone)
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


app = typer.Typer(
    name="polypod",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help comes at once, panels take twice the time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: polypod run",
)
for _name, _help in (COMMANDS | GROUPS).items():
    app.command(_name, cls=_LazyCommand, help=_help, short_help=_help)(lambda: None)


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


def main() -> None:
    """Entry point of ``polypod``."""
    stopping.install()
    try:
        app(prog_name="polypod")
    except BaseException as ended:
        received = stopping.received()
        if received is None:
            raise
        # whatever exception became of the signal's on its way; Ctrl-C may be a command's usual end
        if isinstance(ended, SystemExit) and isinstance(ended.code, int) and received == signal.SIGINT:
            stopping.leave(ended.code)
        stopping.leave(128 + received)
