"""Every cause of errors of a platform, with what it moves the actuated coordinates by.

A controller commands the coordinates q of a pose by the numbers of the file. With errors dp of numbers and dq of
coordinates the platform is displaced by x (6), base axes: J x + (dq/dp) dp = dq to first order.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, StateError
from ...kernels import Kernel
from ...legs.contract import SMALLEST_MARGIN
from ...mechanism import Mechanism
from ...mechanism.closing import closed
from ...model import Model
from ...model.arguments import Argument, PoseLike, batch
from ...model.derivatives import port_slopes
from ...parameters.paths import matching_paths, value_at
from ...symbols.expression import Expression, port
from ..tolerances import Tolerance, Tolerances

Array = NDArray[np.float64]
_GEOMETRY = ("axis", "axes", "rail_direction", "rotation")


class Source(NamedTuple):
    """One cause of errors: c independent numbers of one tolerance.

    ``columns`` (..., n, c) is what the coordinates of the commanded pose are off by for a unit of each. Errors of
    numbers are ``path`` plus ``scale`` (k, c) times the c errors; ``at_actuators`` (n, c) are those of coordinates.
    """

    name: str
    tolerance: Tolerance
    columns: Array
    scales: dict[str, Array]
    at_actuators: Array


def pose_batch(model: Model, pose: PoseLike | None) -> tuple[Array, tuple[int, ...]]:
    if model.robot.flexible:
        raise InputError(f"accuracy: {model.robot.name!r} has a flexible platform; ask for that of model.rigid")
    states = batch([Argument("pose", model.robot.home.matrix if pose is None else pose, (4, 4))])
    return model._calls.exact_pose(states.rows[0], "pose", bool(states.shape)), states.shape


def inverse_jacobian(model: Model, poses: Array) -> Array:
    """J^-1 (k, m, n)."""
    if len(model.actuators) != model.mobility.count:
        raise InputError(
            f"accuracy: {model.robot.name!r} has more actuators than freedoms: they work against each other"
        )
    return np.asarray(np.linalg.inv(np.asarray(model.jacobian(poses, errors="raise"))))


def sources_of(model: Model, tolerances: Tolerances, poses: Array) -> list[Source]:
    """Every cause of errors, with its slopes at poses (k, 4, 4)."""
    n, k = len(model.actuators), len(poses)
    patterns = [*tolerances.numbers, *(p for growth in tolerances.growth for p in growth.numbers)]
    paths = list(dict.fromkeys(path for pattern in patterns for path in matching_paths(model.robot, pattern)))
    _refuse(model, paths)
    slopes = _slopes(model, tuple(paths), poses)
    eye = np.eye(n)
    sources: list[Source] = []
    for pattern, tolerance in tolerances.numbers.items():
        for path in matching_paths(model.robot, pattern):
            size = slopes[path].shape[2]
            sources.append(Source(path, tolerance, -slopes[path], {path: np.eye(size)}, np.zeros((n, size))))
    single = {"actuators": tolerances.actuators}
    single |= {name: _uniform(getattr(tolerances, name) / 2) for name in ("encoder_step", "backlash")}
    for name, own in single.items():
        for i, actuator in enumerate(model.actuators if own is not None and own.bound > 0 else ()):
            assert own is not None
            column = eye[:, i : i + 1]
            sources.append(Source(f"{name} {actuator.name}", own, np.tile(column, (k, 1, 1)), {}, column))
    q = np.asarray(model.inverse_kinematics(poses))
    for growth in tolerances.growth:
        grown = [path for pattern in growth.numbers for path in matching_paths(model.robot, pattern)]
        scales = {p: growth.expansion * np.ravel(value_at(model.robot, p))[:, None] for p in grown}
        columns = np.zeros((k, n, 1))
        for path, scale in scales.items():
            columns = columns - slopes[path] @ scale
        lengths = np.array([growth.actuators and a.unit == "m" for a in model.actuators]) * growth.expansion
        at_actuators = (lengths * q[0])[:, None]
        sources.append(
            Source(growth.name, growth.temperature, columns + (lengths * q)[..., None], scales, at_actuators)
        )
    if not sources:
        raise InputError("tolerances: nothing is off: give numbers, actuators, encoder_step, backlash or growth")
    return sources


def _uniform(bound: float) -> Tolerance:
    return Tolerance(distribution="uniform", within=bound)


def _refuse(model: Model, paths: list[str]) -> None:
    """Raise for numbers whose errors this analysis does not know."""
    for path in paths:
        if not model.mobility.full:
            raise InputError(
                f"tolerances: {path}: with other geometry the platform of {model.robot.name!r}, of fewer than six "
                "freedoms, leaves them; errors of its actuators can be given"
            )
        if path.rpartition(".")[2] in _GEOMETRY:
            raise InputError(f"tolerances: {path}: a direction has length 1, so its numbers cannot be off one by one")


def _slopes(model: Model, paths: tuple[str, ...], poses: Array) -> dict[str, Array]:
    """dq/dp (k, n, size) of every path at poses (k, 4, 4), exact by differentiation, compiled."""
    if not paths:
        return {}
    chain, entries = port_slopes(model.robot, list(paths))
    mechanism = Mechanism(model.robot, model.simplify, lambda entry: (entry.path, entry.index) in entries)
    places = [entries[e.path, e.index] for e in mechanism.numbers.entries if (e.path, e.index) in entries]
    chosen = [k for k, e in enumerate(mechanism.numbers.entries) if (e.path, e.index) in entries]
    n = len(model.actuators)
    sizes = [int(np.size(value_at(model.robot, path))) for path in paths]
    if not chosen:
        whole = np.zeros((len(poses), n, sum(sizes)))
    else:

        def build() -> Expression:
            x = mechanism.inputs()
            _, legs = mechanism.resting(x)
            slopes = ca.jacobian(mechanism.coordinates(legs), mechanism.numbers.symbols[chosen])
            outputs = port("slopes", slopes, (n, len(chosen))), port("quality", mechanism.quality(legs), ())
            return Expression("coordinate_slopes", x.place, outputs, mechanism.port)

        kernel = Kernel(lambda: closed(mechanism, build())).at(mechanism.numbers.values)
        found, quality = kernel(poses)
        if not (quality > SMALLEST_MARGIN).all():
            bad = np.flatnonzero(~(quality > SMALLEST_MARGIN))
            raise StateError(f"accuracy: no answer at state {bad[0]}: the pose is out of reach", bad)
        whole = found @ chain[places]
    parts = np.split(whole, np.cumsum(sizes)[:-1], axis=2)
    return dict(zip(paths, parts, strict=True))
