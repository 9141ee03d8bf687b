"""Whether a study makes sense for its robot: the numbers it varies, and the quantities it asks for."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np

from ..description import Robot
from ..errors import InputError, UnknownNameError
from ..formulations.elasticity import springs_of
from ..model import Model
from ..parameters.paths import matching_paths, value_at
from .patterns import PATTERNS
from .quantities import QUANTITIES
from .study import Study


def varied_paths(study: Study, robot: Robot) -> list[list[str]]:
    """Paths of the robot's numbers that each varied one sets; errors for what its pattern is not about."""
    paths = [_matching(robot, k, varied.numbers) for k, varied in enumerate(study.vary)]
    for k, varied in enumerate(study.vary):
        _check_pattern(robot, k, paths[k], varied.numbers, varied.pattern)
    _check_overlaps(study, paths)
    return paths


def _matching(robot: Robot, k: int, pattern: str) -> list[str]:
    """The numbers that a pattern names; an error lists what all legs have once."""
    try:
        return matching_paths(robot, pattern)
    except UnknownNameError as error:
        alike = dict.fromkeys(re.sub(r"^legs\.\d+\.", "legs.*.", path) for path in error.known)
        raise InputError(f"vary.{k}.numbers: {UnknownNameError('number', pattern, tuple(alike))}") from error


def _check_pattern(robot: Robot, k: int, paths: list[str], numbers: str, pattern: str) -> None:
    shapes = {np.shape(value_at(robot, path)) for path in paths}
    wanted = PATTERNS[pattern].shape
    if wanted is not None and shapes != {wanted}:
        what = "points" if wanted == (3,) else "ranges"
        raise InputError(f"vary.{k}.pattern: {pattern} is of {what}; {numbers!r} names other numbers")
    if len(shapes) != 1:
        raise InputError(f"vary.{k}.numbers: {numbers!r} names numbers of several shapes {sorted(shapes)}")


def _check_overlaps(study: Study, paths: list[list[str]]) -> None:
    """Two that vary the same number must both count: the second must not put its own in the place of the first."""
    vary = study.vary
    for j, k in combinations(range(len(vary)), 2):
        second = vary[k].pattern
        replaces = second == "value" or (second == vary[j].pattern and second not in ("factor", "turn"))
        both = sorted(set(paths[k]) & set(paths[j]))
        if replaces and both:
            raise InputError(
                f"vary.{k}.numbers: {both[0]} is varied by {vary[j].label!r} already, whose values would be lost; "
                "vary it once"
            )


def check_quantities(study: Study, model: Model) -> None:
    """Raise for quantities that the robot does not have: stiffness without springs, a volume without displacements."""
    robot = model.robot
    elastic = [name for name in study.quantities if QUANTITIES[name].source in ("stiffness", "frequency")]
    if elastic and not springs_of(model.kernels.mechanism):
        raise InputError(f"report: {elastic[0]}: the legs of {robot.name!r} state no stiffness; add it to its file")
    if elastic and robot.base_stiffness is not None:
        raise InputError(f"report: {elastic[0]}: the base of {robot.name!r} deflects, which studies do not count")
    turning = bool(robot.dof) and all(coordinate.motion == "rotation" for coordinate in robot.dof)
    if turning and "workspace volume" in study.quantities:
        raise InputError(
            f"report: workspace volume: the platform of {robot.name!r} only turns, about {', '.join(model.dof)}; "
            "hold a box of its angles instead (workspaces)"
        )
