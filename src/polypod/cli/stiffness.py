"""``polypod stiffness``: how stiff a robot is, what deflects, and where it resonates."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..tables import Table, table
from .options import Json, RobotName, measured, numbers
from .overrides import Settings, rigid_model
from .pictures import check_picture, write_picture
from .terminal import out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..model import Model

_ROUNDING = 1e-12  # of the roots of two stiffnesses' product
EXAMPLE = "Example: polypod stiffness hexapod --drive '50 N/um' --wrench '0 0 -2 kN 0 0 0' --map stiffness.png"
_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
_TURNS = ("rotation x", "rotation y", "rotation z")


def matrix_table(model: Model, matrix: Any) -> Table:
    """The stiffness matrix with names of the robot's coordinates; what is rounding beside its diagonal is zero."""
    names = model.dof
    own = np.sqrt(np.abs(np.diag(matrix)))
    shown = np.where(np.abs(matrix) <= _ROUNDING * np.outer(own, own), 0.0, matrix)
    rows = [(name, *map(float, row)) for name, row in zip(names, shown, strict=True)]
    columns = [("by", ""), *((name, "") for name in names)]
    return table(
        "Stiffness [N/m, N, N m/rad]", columns, rows, "Force or moment along a row for a motion along a column."
    )


def parts_table(found: Any) -> Table:
    """Displacement under a wrench by component, largest share first."""
    order = np.argsort(-np.abs(found.share))
    # zeros without a sign
    whole, parts, share = (np.asarray(part) + 0.0 for part in (found.displacement, found.parts, found.share))
    rows: list[tuple[Any, ...]] = [("whole", *map(float, whole * 1e6), float(100 * share.sum()))]
    rows += [(found.names[k], *map(float, parts[k] * 1e6), float(100 * share[k])) for k in order]
    columns = [("component", ""), ("x", "um"), ("y", "um"), ("z", "um"), *((name, "urad") for name in _TURNS)]
    return table("Deflection", [*columns, ("share", "%")], rows)


@report_errors
def command(
    robot: RobotName,
    wrench: Annotated[
        str | None,
        typer.Option(help="Force [N] and moment [N m] on the platform, six numbers such as '0 0 -2 kN 0 0 0'."),
    ] = None,
    drive: Annotated[
        float | None,
        typer.Option(help="Stiffness of every drive, for files that give none.", **measured("N/m", "N m/rad")),
    ] = None,
    preload: Annotated[bool, typer.Option(help="Count what the forces that hold the robot add.")] = True,
    map_: Annotated[
        Path | None, typer.Option("--map", help="Picture of the lowest frequency over the first two coordinates.")
    ] = None,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Stiffness matrix, deflection under a wrench by component, and natural frequencies of a robot."""
    from ..analysis import deflection, resonances, stiffness

    if map_ is not None:
        check_picture(map_)
    with working("stiffness") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        given: dict[str, Any] = {"drive": drive, "preload": preload}
        answer = stiffness(model, **given)
        modes = resonances(model, **given)
        load = None if wrench is None else numbers("--wrench", wrench, ["N"] * 3 + ["N m"] * 3, _WRENCH)
        found = None if load is None else deflection(model, load, **given)
        if map_ is not None:
            progress("mapping")
            _map(model, map_, given)
    if json_:
        show_json(
            {
                "dof": model.dof,
                "stiffness": answer.matrix,
                "compliance": answer.compliance,
                "frequencies_Hz": modes.frequency,
                "shapes": modes.shape,
                "deflection": None if found is None else parts_table(found).records(),
                "map": None if map_ is None else str(map_),
            }
        )
        return
    show_table(matrix_table(model, answer.matrix))
    listed = " ".join(f"{f:.2f}" for f in modes.frequency if not np.isposinf(f))
    out().print(f"\nNatural frequencies at home: {listed} Hz.")
    if found is not None:
        out().print()
        show_table(parts_table(found))
    if map_ is not None:
        out().print(f"\nMap: {escape(str(map_))}")


def _map(model: Model, path: Path, given: dict[str, Any]) -> None:
    """Draw the map and write it."""
    from ..results.figures.stiffness import stiffness_map

    write_picture(path, partial(stiffness_map, model, **given))
