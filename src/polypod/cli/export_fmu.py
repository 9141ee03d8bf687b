"""``polypod export fmu``: a robot as a Functional Mock-up Unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from .catalogue_data import CHOICES
from .options import Parameters, Replace, RobotName, WithFriction, split_paths
from .overrides import Settings, with_overrides
from .terminal import out, report_errors, working

if TYPE_CHECKING:
    from ..export.fmu import Fmu

EXAMPLE = "Example: polypod export fmu hexapod plant --fmi 3 --out models"
ABOUT = (
    "A robot as an FMU (FMI 2.0 or 3.0) with its C sources: plant, inverse dynamics, forward kinematics, controller."
)


def write_fmu(
    robot: str,
    kind: str = "plant",
    fmi: int = 2,
    folder: str | Path = ".",
    parameters: Sequence[str] = (),
    friction: bool = True,
    compiler: str | None = None,
    sources_only: bool = False,
    force: bool = False,
    settings: Sequence[str] | None = None,
) -> tuple[Path, Fmu]:
    """Write an FMU into a folder; returns its path and itself."""
    from ..export.fmu import export_fmu
    from ..model import Model
    from ..output.atomic import atomic_write

    model = Model(with_overrides(robot, settings))
    fmu = export_fmu(
        model, kind, fmi, parameters or None, friction, compiler=compiler, sources_only=sources_only
    )  # fmt: skip
    path = Path(folder) / fmu.name
    atomic_write(path, fmu.content, force)
    return path, fmu


@report_errors
def command(
    robot: RobotName,
    kind: Annotated[str, typer.Argument(help=f"What it does: {', '.join(CHOICES['fmu'])}.")] = "plant",
    fmi: Annotated[int, typer.Option("--fmi", help="Version of FMI: 2 or 3.")] = 2,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the file.")] = Path("."),
    parameters: Parameters = None,
    friction: WithFriction = True,
    compiler: Annotated[str | None, typer.Option("--compiler", help="C compiler; CC, cc, gcc or clang.")] = None,
    sources_only: Annotated[bool, typer.Option("--sources", help="Sources only, nothing compiled.")] = False,
    force: Replace = False,
    settings: Settings = None,
) -> None:
    """Write the FMU and say what is in it."""
    with working("exporting"):
        path, fmu = write_fmu(
            robot, kind, fmi, folder, split_paths(parameters), friction, compiler, sources_only, force, settings
        )
    inside = f"sources and a binary by {escape(fmu.compiler)}" if fmu.compiler else "sources only"
    missing = (
        ""
        if fmu.compiler or sources_only
        else " No C compiler (cc, gcc, clang) was found: importers that compile sources can run it; to have a "
        "binary in it install one, or name it with --compiler."
    )
    out().print(f"Wrote {escape(str(path))}: {kind}, FMI {fmi}.0, {inside}.{missing}")
