"""Every cause of errors of a platform, with what it moves the equations by that hold it.

A controller commands the coordinates q of a pose by the numbers of the file. With errors dp of numbers and dq of
coordinates the platform is displaced by x (6), base axes: F_x x = [dq; 0] - F_p dp to first order, F the actuated
coordinates and the legs' constraints (:mod:`.closures`).

A leg drawn at home (``kind: chain``) closes there whatever its numbers are: an error of a joint's place is one of a
robot that was set to its coordinates at home, and grows with the distance from it. What the setting itself is off by is
a tolerance of actuators.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...errors import AS_RIGID, InputError
from ...legs import Chain
from ...model import Model
from ...model.arguments import Argument, PoseLike, batch
from ...parameters.paths import matching_paths, value_at
from ..tolerances import Tolerance, Tolerances
from .closures import Closures

_DIRECTIONS = ("axis", "axes", "rail_direction", "rotation")
"""Fields that are directions or rotations."""
_KNOWN: WeakKeyDictionary[Model, dict[tuple[str, ...], Closures]] = WeakKeyDictionary()
"""Of each model as long as it is: a budget, robots drawn at random and bounds ask for the same."""


class Source(NamedTuple):
    """One cause of errors: c independent numbers of one tolerance.

    ``columns`` (..., N, c) is [dq; 0] - F_p dp for a unit of each. Errors of numbers are ``path`` plus ``scale`` (k, c)
    times the c errors; ``at_actuators`` (n, c) are those of coordinates.
    """

    name: str
    tolerance: Tolerance
    columns: Array
    scales: dict[str, Array]
    at_actuators: Array


def pose_batch(model: Model, pose: PoseLike | None) -> tuple[Array, tuple[int, ...]]:
    """Poses (k, 4, 4), home unless given, and the batch's shape; an error for flexible platforms."""
    if model.robot.flexible:
        raise InputError(f"accuracy: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
    states = batch([Argument("pose", model.robot.home.matrix if pose is None else pose, (4, 4))])
    return model._calls.exact_pose(states.rows[0], "pose", bool(states.shape)), states.shape


def closures_of(model: Model, tolerances: Tolerances) -> Closures:
    """What holds the platform, by its pose and by the numbers that have tolerances."""
    patterns = [*tolerances.numbers, *(p for growth in tolerances.growth for p in growth.numbers)]
    paths = list(dict.fromkeys(path for pattern in patterns for path in matching_paths(model.robot, pattern)))
    for path in paths:
        if path.rpartition(".")[2] in _DIRECTIONS:
            raise InputError(f"tolerances: {path}: a direction has length 1, so its numbers cannot be off one by one")
    known = _KNOWN.setdefault(model, {})
    if tuple(paths) not in known:
        known[tuple(paths)] = Closures(model, paths)
    closures = known[tuple(paths)]
    if paths and not closures.by_legs:
        raise InputError(
            f"tolerances: {paths[0]}: the platform of {model.robot.name!r} keeps to the degrees of freedom of its "
            "file, whatever "
            "its legs are, so other geometry has no answer; errors of its actuators can be given, and legs of kind "
            "chain say what they constrain"
        )
    return closures


def sources_of(model: Model, tolerances: Tolerances, poses: Array) -> list[Source]:
    """Every cause of errors, with its derivatives at poses (k, 4, 4)."""
    closures = closures_of(model, tolerances)
    n, k, size = len(model.actuators), len(poses), closures.count
    derivatives = closures.derivatives(poses)
    eye = np.eye(size, n)
    sources: list[Source] = []
    for pattern, tolerance in tolerances.numbers.items():
        for path in matching_paths(model.robot, pattern):
            scale = _felt(model.robot, path, derivatives[path].shape[2])
            zero = np.zeros((n, scale.shape[1]))
            sources.append(Source(path, tolerance, -derivatives[path] @ scale, {path: scale}, zero))
    single = {"actuators": tolerances.actuators}
    single |= {name: _uniform(getattr(tolerances, name) / 2) for name in ("encoder_step", "backlash")}
    for name, own in single.items():
        for i, actuator in enumerate(model.actuators if own is not None and own.bound > 0 else ()):
            assert own is not None
            column = eye[:, i : i + 1]
            sources.append(Source(f"{name} {actuator.name}", own, np.tile(column, (k, 1, 1)), {}, column[:n]))
    q = np.asarray(model.inverse_kinematics(poses))
    for growth in tolerances.growth:
        grown = [path for pattern in growth.numbers for path in matching_paths(model.robot, pattern)]
        scales = {p: growth.expansion * np.ravel(value_at(model.robot, p))[:, None] for p in grown}
        columns = np.zeros((k, size, 1))
        for path, scale in scales.items():
            columns = columns - derivatives[path] @ scale
        lengths = np.array([growth.actuators and a.unit == "m" for a in model.actuators]) * growth.expansion
        columns[:, :n] += (lengths * q)[..., None]
        sources.append(Source(growth.name, growth.temperature, columns, scales, (lengths * q[0])[:, None]))
    if not sources:
        raise InputError("tolerances: nothing is off: give numbers, actuators, encoder_step, backlash or growth")
    return sources


def _felt(robot: Robot, path: str, size: int) -> Array:
    """What errors (size) of a number do to it, (size, size): the place of a hinge along its own axis means nothing."""
    *of, name = path.split(".")
    leg = robot.legs[int(of[1])] if len(of) == 4 and name == "at" else None
    joint = leg.joints[int(of[3])] if isinstance(leg, Chain) else None
    if joint is None or joint.kind not in ("revolute", "cylindrical"):
        return np.eye(size)
    assert joint.axis is not None
    return np.eye(size) - np.outer(joint.axis, joint.axis)


def _uniform(bound: float) -> Tolerance:
    return Tolerance(distribution="uniform", within=bound)
