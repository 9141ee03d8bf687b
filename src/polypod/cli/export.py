"""``polypod export``: robots and model functions for other programs, a subcommand for each format.

Formats are those of ``polypod.export.EXPORTS`` and ``polypod.export.ROBOT_EXPORTS``, and FMUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from .catalogue import CHOICES
from .frame import Answer, Target, command
from .options import Parameters, Replace, RobotName, Settings, WithFriction, load_model, split_paths
from .terminal import working

Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")]


def _written(texts: Mapping[str, str | bytes], folder: Path, force: bool, hint: str) -> Answer:
    """The answer that writes files into a folder; a hint calls the last of them ``source``."""
    targets = {Target(folder / name, force): text for name, text in texts.items()}
    return Answer(files=targets, after=f". {hint.format(source=list(targets)[-1])}")


def _export_function(kind: str, options: list[str]) -> None:
    names = {"parameters": "parameters", "precision": "single", "iterations": "iterations"}

    @command(
        f"export {kind}",
        f"export {kind} kim-ryu inverse_dynamics --out firmware",
        about=CHOICES["exports"][kind],
        json=False,
        without=[argument for option, argument in names.items() if option not in options],
    )
    def export(
        robot: RobotName,
        function: Annotated[str, typer.Argument(help="Model function, such as inverse_dynamics.")] = "inverse_dynamics",
        folder: Folder = Path("."),
        friction: WithFriction = True,
        single: Annotated[bool, typer.Option("--float", help="Single precision instead of double.")] = False,
        iterations: Annotated[
            int | None,
            typer.Option(help="Fixed number of iterations, such as 12, for constant execution time."),
        ] = None,
        parameters: Parameters = None,
        force: Replace = False,
        settings: Settings = None,
    ) -> Answer:
        from ..export import EXPORTS

        with working("exporting"):
            given = {
                "parameters": split_paths(parameters),
                "precision": "float" if single else "double",
                "iterations": iterations,
            }
            chosen = {name: given[name] for name in EXPORTS[kind].options}
            texts = EXPORTS[kind].files(load_model(robot, settings), function, friction, **chosen)
        return _written(texts, folder, force, EXPORTS[kind].hint)


def _export_robot(kind: str, options: list[str]) -> None:
    names = ("hinges", "actuators", "loops")

    @command(
        f"export {kind}",
        f"export {kind} hexapod --out models",
        about=CHOICES["robot exports"][kind],
        json=False,
        without=[name for name in names if name not in options],
    )
    def export(
        robot: RobotName,
        folder: Folder = Path("."),
        hinges: Annotated[
            bool, typer.Option("--hinges", help="Three hinges for every ball joint (mjlab, Isaac, Genesis).")
        ] = False,
        actuators: Annotated[
            str, typer.Option(help="What controls are: motor (forces), position, velocity, none.")
        ] = "motor",
        loops: Annotated[
            str,
            typer.Option(help="Loops by connect and weld (joint), by connect alone (Drake) or by weld alone."),
        ] = "joint",
        force: Replace = False,
        settings: Settings = None,
    ) -> Answer:
        from ..export import ROBOT_EXPORTS

        given = {"hinges": hinges, "actuators": actuators, "loops": loops}
        with working("exporting"):
            chosen = {name: given[name] for name in ROBOT_EXPORTS[kind].options}
            texts = ROBOT_EXPORTS[kind].files(load_model(robot, settings), **chosen)
        return _written(texts, folder, force, ROBOT_EXPORTS[kind].hint)


for _kind, _options in CHOICES["export options"].items():
    _export_function(_kind, _options.split())
for _kind, _options in CHOICES["robot export options"].items():
    _export_robot(_kind, _options.split())


@command(
    "export fmu",
    "export fmu hexapod plant --fmi 3 --out models",
    about="A robot as an FMU (FMI 2.0 or 3.0) with its C sources: plant, inverse dynamics, forward kinematics, "
    "controller.",
    json=False,
)
def export_fmu(
    robot: RobotName,
    kind: Annotated[str, typer.Argument(help=f"What it does: {', '.join(CHOICES['fmu'])}.")] = "plant",
    fmi: Annotated[int, typer.Option("--fmi", help="Version of FMI: 2 or 3.")] = 2,
    folder: Folder = Path("."),
    parameters: Parameters = None,
    friction: WithFriction = True,
    compiler: Annotated[
        list[str] | None,
        typer.Option("--compiler", help="C compiler; repeat it for further systems. Default: CC, cc, gcc or clang."),
    ] = None,
    sources_only: Annotated[bool, typer.Option("--sources", help="Sources only, nothing compiled.")] = False,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..export.fmu import export_fmu

    with working("exporting"):
        model = load_model(robot, settings)
        paths = split_paths(parameters) or None
        fmu = export_fmu(model, kind, fmi, paths, friction, compiler=compiler or None, sources_only=sources_only)
    inside = (
        f"sources and binaries for {', '.join(fmu.platforms)} by {fmu.compiler}" if fmu.compiler else "sources only"
    )
    missing = " No C compiler (cc, gcc, clang) was found, so there is no binary: install one, or use --compiler."
    why = "" if fmu.compiler or sources_only else missing
    target = Target(folder / fmu.name, force)
    return Answer(files={target: fmu.content}, after=f": {kind}, FMI {fmi}.0, {inside}.{why}")
