"""``polypod modes``: all poses of a robot with the same actuated coordinates, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..tables import Table, table
from .options import Json, RobotName, numbers
from .overrides import Settings, rigid_model
from .pictures import check_picture, write_picture
from .terminal import out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..model import AssemblyModes, Model

EXAMPLE = "Example: polypod modes hexapod --q '0.42 0.43 0.44 0.43 0.45 0.42' --picture modes.png"


def coordinates(model: Model, text: str | None) -> Any:
    """Actuated coordinates (n,) from a text of numbers, SI units; those of home if none is given."""
    if text is None:
        return model.inverse_kinematics(model.robot.home.matrix)
    return np.array(numbers("--q", text, [a.unit for a in model.actuators], [a.name for a in model.actuators]))


def modes_table(modes: AssemblyModes) -> Table:
    """A row for each mode."""
    from scipy.spatial.transform import Rotation

    from ..view.extras import mode_labels

    rows = []
    for k, pose in enumerate(modes.pose):
        angles = np.degrees(Rotation.from_matrix(pose[:3, :3]).as_rotvec())
        rows.append(
            (str(k + 1), *map(float, np.round(pose[:3, 3], 12) + 0.0), *map(float, angles), *mode_labels(modes, k))
        )
    columns = [
        ("mode", ""),
        ("x", "m"),
        ("y", "m"),
        ("z", "m"),
        ("turn x", "deg"),
        ("turn y", "deg"),
        ("turn z", "deg"),
    ]
    columns += [("proof", ""), ("limits", ""), ("from home", "")]
    return table("Assembly modes", columns, rows, f"Turn: rotation vector. {_known(modes)}")


def _known(modes: AssemblyModes) -> str:
    from ..model import Completeness

    meaning = Completeness(int(modes.complete)).meaning
    count = len(modes.pose)
    return f"{count} {'mode' if count == 1 else 'modes'}; {meaning}."


@report_errors
def command(
    robot: RobotName,
    q: Annotated[
        str | None, typer.Option("--q", help="Actuated coordinates [m, rad] or with units; those of home if not given.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", "-p", help="Where the picture goes; polypod-results/ROBOT-modes.png if not given."),
    ] = None,
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Make the picture.")] = True,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """All poses with the same actuated coordinates: proven or not, within limits, reachable from home."""
    from ..model import Completeness
    from ..output.safe_names import file_name

    with working("finding modes") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        at = coordinates(model, q)
        target = picture or Path("polypod-results") / f"{file_name(model.robot.name)}-modes.png"
        if draw:
            check_picture(target)
        progress("solving")
        modes = model.assembly_modes(at)
        if draw and len(modes.pose):
            progress("drawing")
            from ..results.figures import modes_picture

            write_picture(target, modes_picture, model.robot, np.asarray(at), modes)
    drawn = str(target) if draw and len(modes.pose) else None
    if json_:
        rows = modes_table(modes).records()
        show_json(
            {"q": at, "modes": rows, "complete": Completeness(int(modes.complete)).name.lower(), "picture": drawn}
        )
        return
    show_table(modes_table(modes).practical())
    if drawn is not None:
        out().print(f"\nPicture: {escape(drawn)}")
