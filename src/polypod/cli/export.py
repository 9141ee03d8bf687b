"""``polypod export``: robots and model functions for other programs, a command for each format.

Formats are those of ``polypod.export.EXPORTS`` and ``polypod.export.ROBOT_EXPORTS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import InputError, UnknownNameError
from . import export_fmu
from .catalogue_data import CHOICES
from .options import Parameters, Replace, RobotName, WithFriction, split_paths
from .overrides import Settings, with_overrides
from .terminal import out, report_errors, working

EXAMPLE = "Example: polypod export {} kim-ryu inverse_dynamics --out firmware"
_ROBOT_EXAMPLE = "Example: polypod export {} hexapod --out models"
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Write a robot or its model functions for other programs.",
    epilog=EXAMPLE.format(next(iter(CHOICES["exports"]))),
)


def _about(text: str) -> dict[str, Any]:
    """What help says of a format: in its own and, uncut, in the list."""
    return {"help": text, "short_help": text}


def export(
    kind: str,
    robot: str,
    function: str = "inverse_dynamics",
    folder: str | Path = ".",
    friction: bool = True,
    force: bool = False,
    settings: Sequence[str] | None = None,
    parameters: Sequence[str] = (),
) -> list[Path]:
    """Write the files of a model function into a folder; returns their paths."""
    from ..export import EXPORTS
    from ..model import Model

    if kind not in EXPORTS:
        raise UnknownNameError("export", kind, tuple(EXPORTS))
    if parameters and not EXPORTS[kind].parameters:
        able = ", ".join(name for name, one in EXPORTS.items() if one.parameters)
        raise InputError(
            f"parameters: functions of {kind} have the robot's numbers built in; those of {able} take some"
        )
    model = Model(with_overrides(robot, settings))
    more = (tuple(parameters),) if parameters else ()
    return _write(EXPORTS[kind].files(model, function, friction, *more), folder, force)


def export_robot(
    kind: str,
    robot: str,
    folder: str | Path = ".",
    force: bool = False,
    settings: Sequence[str] | None = None,
) -> list[Path]:
    """Write the files of a whole robot into a folder; returns their paths."""
    from ..export import ROBOT_EXPORTS
    from ..model import Model

    if kind not in ROBOT_EXPORTS:
        raise UnknownNameError("export", kind, tuple(ROBOT_EXPORTS))
    return _write(ROBOT_EXPORTS[kind].files(Model(with_overrides(robot, settings))), folder, force)


def _write(texts: dict[str, str], folder: str | Path, force: bool) -> list[Path]:
    from ..output.atomic import atomic_write, check_target

    paths = [Path(folder) / name for name in texts]
    for path in paths:
        check_target(path, force)
    for path, text in zip(paths, texts.values(), strict=True):
        atomic_write(path, text.encode(), force)
    return paths


def _report(paths: list[Path], hint: str) -> None:
    written = " and ".join(escape(str(path)) for path in paths)
    out().print(f"Wrote {written}. {hint.format(source=escape(str(paths[-1])))}")


def _register(kind: str) -> None:
    @app.command(kind, epilog=EXAMPLE.format(kind), **_about(CHOICES["exports"][kind]))
    @report_errors
    def command(
        robot: RobotName,
        function: Annotated[str, typer.Argument(help="Model function, such as inverse_dynamics.")] = "inverse_dynamics",
        folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("."),
        friction: WithFriction = True,
        parameters: Parameters = None,
        force: Replace = False,
        settings: Settings = None,
    ) -> None:
        from ..export import EXPORTS

        with working("exporting"):
            paths = export(kind, robot, function, folder, friction, force, settings, split_paths(parameters))
        _report(paths, EXPORTS[kind].hint)


def _register_robot(kind: str) -> None:
    @app.command(kind, epilog=_ROBOT_EXAMPLE.format(kind), **_about(CHOICES["robot exports"][kind]))
    @report_errors
    def command(
        robot: RobotName,
        folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("."),
        force: Replace = False,
        settings: Settings = None,
    ) -> None:
        from ..export import ROBOT_EXPORTS

        with working("exporting"):
            paths = export_robot(kind, robot, folder, force, settings)
        _report(paths, ROBOT_EXPORTS[kind].hint)


for _kind in CHOICES["exports"]:
    _register(_kind)
for _kind in CHOICES["robot exports"]:
    _register_robot(_kind)
app.command("fmu", epilog=export_fmu.EXAMPLE, **_about(export_fmu.ABOUT))(export_fmu.command)
