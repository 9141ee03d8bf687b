"""Assembly modes of designs: every design is a robot of its own, with equations of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RobotFileError
from ..parameters.design import Design
from .arguments import Argument
from .assembly_results import AssemblyModes
from .changed_robots import with_numbers
from .model_part import ModelPart, Parameters


def assembly_modes_of_designs(model: ModelPart, q: ArrayLike, reach: bool, parameters: Parameters) -> AssemblyModes:
    """``polypod.Model.assembly_modes`` of designs against states; all have as many rows as the longest."""
    found = model._calls.rows_of_designs([Argument("q", q, (len(model.actuators),))], parameters)
    design, lost = Design(model.robot, parameters), found.lost
    parts = []
    for k in np.unique(found.which[~lost]).tolist():
        states = np.flatnonzero(found.which == k)
        model_type: Any = type(model)
        try:
            other = model_type(with_numbers(model.robot, {path: design.flat(path)[k] for path in design.values}))
        except RobotFileError as error:
            found.failures.append((found.which == k, f"design {k}: {error}"))
            continue
        parts.append((states, other.assembly_modes(found.batch.rows[0][states], reach=reach)))
    n, most = found.batch.size, max((part.pose.shape[1] for _, part in parts), default=0)
    pose, flags = np.full((n, most, 4, 4), np.nan), np.zeros((3, n, most), dtype=bool)
    whole: list[Any] = [pose, *flags, np.zeros((n, most), dtype=np.int64), np.zeros(n, dtype=np.int64)]
    for states, part in parts:
        for every, own in zip(whole, part, strict=True):
            every[(states, slice(own.shape[1])) if own.ndim > 1 else states] = own
    found.finalise("assembly_modes", [pose], lambda pose: pose)
    restored: list[Any] = [found.batch.restore(array) for array in whole]
    return AssemblyModes(*restored)
