"""``polypod accuracy``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..errors import InputError, StateError
from .frame import Answer, command
from .options import At, RobotName, Settings, parse_at, rigid_model
from .terminal import note, working


@command("accuracy", "accuracy hexapod tolerances.yaml --samples 2000")
def accuracy(
    robot: RobotName,
    tolerances: Annotated[Path, typer.Argument(help="Tolerance file.")],
    at: At = None,
    samples: Annotated[int, typer.Option(help="Number of random robots (Monte Carlo); 0 for none.")] = 1000,
    most: Annotated[int, typer.Option(help="Number of error sources to list.")] = 20,
    settings: Settings = None,
) -> Answer:
    from ..analysis import budget, load_tolerances, scatter, worst_case
    from ..analysis.accuracy.budget import errors_table
    from ..analysis.workspace import PoseCoordinates
    from ..legs import Chain

    with working("accuracy") as progress:
        progress("compiling the robot")
        model = rigid_model(robot, settings)
        given = load_tolerances(tolerances)
        space = PoseCoordinates(model)
        pose = space.poses(space.point(parse_at(at, space))[None])[0]
        found = budget(model, given, pose)
        if not at and given.parameters and any(isinstance(leg, Chain) for leg in model.robot.legs):
            note("joint errors of chain legs vanish at home by definition; use --at")
        rows = {"standard deviation, first order": found.deviation, "largest, first order": found.bound}
        if samples:
            progress("drawing robots at random")
            drawn = scatter(model, given, pose, samples=samples)
            rows[f"standard deviation of {samples} robots"] = drawn.deviation
            if drawn.lost:
                note(f"{drawn.lost} of {samples} random robots cannot be assembled near this pose")
        try:
            rows["bound, all orders"] = worst_case(model, given, pose).bound
        except (InputError, StateError) as error:
            note(str(error))
    return Answer(
        [errors_table(rows, ", ".join(at or ["home"])), found.table(most)],
        {
            "errors": {name: np.asarray(values) for name, values in rows.items()},
            "causes": found.table().records(),
        },
    )
