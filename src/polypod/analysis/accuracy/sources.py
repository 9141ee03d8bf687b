"""Every cause of errors of a platform, with what it moves the equations by that hold it.

A controller commands the coordinates q of a pose by the numbers of the file. With errors dp of numbers and dq of
coordinates the platform is displaced by x (6), base axes: F_x x = [dq; 0] - F_p dp to first order, F the actuated
coordinates and the legs' constraints (``.closures``).

A leg drawn at home (``kind: chain``) closes there whatever its numbers are: an error of a joint's place is one of a
robot that was set to its coordinates at home, and grows with the distance from it. What the setting itself is off by is
a tolerance of actuators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from ...arrays import Array
from ...description import Robot
from ...description.paths import get
from ...errors import AS_RIGID, InputError, StateError
from ...kernels import Kernel
from ...legs.chain.data import ChainJoint
from ...legs.contract import SMALLEST_MARGIN
from ...mechanism import Mechanism
from ...mechanism.closing import closed
from ...model import Model
from ...model.arguments import Argument, PoseLike, batch
from ...parameters.design import ParameterMap, port_jacobian
from ...parameters.paths import matching_paths
from ...symbols.expression import Expression, port
from ..tolerances import Tolerance, Tolerances

_DIRECTIONS = ("axis", "axes", "rail_direction", "guide_normal", "rotation")
"""Fields that are directions or rotations."""


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
    model.robot.refuse_internal("error budgets")
    if model.robot.flexible:
        raise InputError(f"accuracy: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
    states = batch([Argument("pose", model.robot.home.matrix if pose is None else pose, (4, 4))])
    return model._calls.exact_pose(states.rows[0], "pose", bool(states.shape)), states.shape


def closures_of(model: Model, tolerances: Tolerances) -> Closures:
    """What holds the platform, by its pose and by the numbers that have tolerances."""
    patterns = [*tolerances.parameters, *(p for growth in tolerances.growth for p in growth.parameters)]
    paths = list(dict.fromkeys(path for pattern in patterns for path in matching_paths(model.robot, pattern)))
    for path in paths:
        if path.rpartition(".")[2] in _DIRECTIONS:
            raise InputError(
                f"tolerances: {path}: a direction has length 1, so its components cannot vary independently"
            )
    # a budget, robots drawn at random and bounds ask for the same
    closures = model.kept((__name__, *paths), lambda: Closures(model, paths))
    if paths and not closures.by_legs:
        raise InputError(
            f"tolerances: {paths[0]}: the platform of {model.robot.name!r} keeps to the degrees of freedom of its "
            "file whatever its legs are, so geometric errors have no effect here; give errors of its actuators, "
            "or use legs of kind chain, which state what they constrain",
            code="no_effect",
        )
    return closures


def sources_of(model: Model, tolerances: Tolerances, poses: Array) -> list[Source]:
    """Every cause of errors, with its derivatives at poses (k, 4, 4)."""
    closures = closures_of(model, tolerances)
    n, k, size = len(model.actuators), len(poses), closures.count
    derivatives = closures.derivatives(poses)
    eye = np.eye(size, n)
    sources: list[Source] = []
    for pattern, tolerance in tolerances.parameters.items():
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
        grown = [path for pattern in growth.parameters for path in matching_paths(model.robot, pattern)]
        scales = {p: growth.expansion * np.ravel(get(model.robot, p))[:, None] for p in grown}
        columns = np.zeros((k, size, 1))
        for path, scale in scales.items():
            columns = columns - derivatives[path] @ scale
        lengths = np.array([growth.actuators and a.unit == "m" for a in model.actuators]) * growth.expansion
        columns[:, :n] += (lengths * q)[..., None]
        sources.append(Source(growth.name, growth.temperature, columns, scales, (lengths * q[0])[:, None]))
    if not sources:
        raise InputError(
            "tolerances: no errors given: give parameters, actuators, encoder_step, backlash or growth", code="missing"
        )
    return sources


def _felt(robot: Robot, path: str, size: int) -> Array:
    """What errors (size) of a number do to it, (size, size): the place of a hinge along its own axis means nothing."""
    joint = get(robot, path.rpartition(".")[0]) if path.endswith(".at") else None
    if not isinstance(joint, ChainJoint) or joint.kind not in ("revolute", "cylindrical"):
        return np.eye(size)
    assert joint.axis is not None
    return np.eye(size) - np.outer(joint.axis, joint.axis)


def _uniform(bound: float) -> Tolerance:
    return Tolerance(distribution="uniform", within=bound)


# ----------------------------------------------------------------------------------------------------------------------
# All that holds a platform, as equations of its pose and of the robot's numbers.
#
# The actuators hold their coordinates q, legs of fewer than six degrees of freedom their constraints c: F = [q; c]
# (N) is
# [q; 0] in a pose of the robot. The platform is free in all six components x (base axes) here, since a robot that
# is not
# quite the one described takes it out of the degrees of freedom that are stated: F_x x + F_p dp = [dq; 0] to first
# order.

_NOTHING = 1e-8
"""Length of a row, of those of length about 1, below which it is rounding."""
_SINGULAR = 1e-9
"""Smallest singular value of rows of length 1 below which they leave the platform a motion."""

_ROUNDING = 1e-14
"""Part of the largest component of a displacement below which another one is rounding."""


class ClosureState(NamedTuple):
    """F (k, N) and F_x (k, N, 6) at k poses, ``good`` (k) where the legs reach them.

    ``places`` (k, p) are those of the unknowns of legs that are closed by iterating.
    """

    values: Array
    rows: Array
    good: NDArray[np.bool_]
    places: Array


class Closures:
    """The equations of one robot; numbers of ``paths`` may change. The model itself is not kept.

    ``robot`` is the model's with its legs closed in another way, if given.
    """

    def __init__(self, model: Model, paths: Sequence[str], robot: Robot | None = None) -> None:
        if len(model.actuators) != model.mobility.count:
            raise InputError(
                f"accuracy: {model.robot.name!r} has more actuators than degrees of freedom; their errors act "
                "against each other"
            )
        self.robot, self.paths = robot or model.robot, tuple(paths)
        self._chain, self._entries = port_jacobian(self.robot, list(paths))
        self._mechanism = Mechanism(
            self.robot, model.simplify, lambda entry: (entry.path, entry.index) in self._entries, free=True
        )
        self._kernels: dict[bool, Kernel] = {}
        self._maps: dict[tuple[str, ...], ParameterMap] = {}
        self._axes = np.zeros((0, 6))
        self.by_legs = model.mobility.full or self._mechanism.mobility is not None
        """Whether the legs say what the platform does, not the degrees of freedom of the file alone."""
        if not self.by_legs:
            self._axes = scipy.linalg.null_space(model.mobility.basis.T).T

    @property
    def count(self) -> int:
        """Number N of equations."""
        return int(self._kernel(derivatives=False).outputs[0].shape[0]) + len(self._axes)

    def at(self, poses: Array, designs: Mapping[str, Array] | None = None) -> ClosureState:
        """The equations at poses (k, 4, 4), for other numbers (k, ...) by path at each of them if given."""
        numbers, rows = self._mechanism.numbers, bool(designs)
        values = self._map(tuple(designs)).design(designs).rows(numbers) if designs else numbers.values
        kernel = self._kernel(derivatives=False)
        found, by_pose, quality, places = (kernel.at(values, rows=rows) if kernel.parameters else kernel)(poses)
        k, more = len(poses), len(self._axes)
        return ClosureState(
            np.concatenate([found, np.zeros((k, more))], axis=1),
            np.concatenate([by_pose, np.broadcast_to(self._axes, (k, more, 6))], axis=1),
            np.asarray(quality > SMALLEST_MARGIN),
            places,
        )

    def _map(self, paths: tuple[str, ...]) -> ParameterMap:
        if paths not in self._maps:
            self._maps[paths] = ParameterMap(self.robot, paths)
        return self._maps[paths]

    def derivatives(self, poses: Array) -> dict[str, Array]:
        """F_p (k, N, size) of every path at poses (k, 4, 4), exact by differentiation, compiled."""
        if not self.paths:
            return {}
        sizes = [int(np.size(get(self.robot, path))) for path in self.paths]
        entries = self._mechanism.numbers.entries
        places = [row for e in entries if (row := self._entries.get((e.path, e.index))) is not None]
        if places:
            kernel = self._kernel(derivatives=True).at(self._mechanism.numbers.values)
            found, quality = kernel(poses)
            if not (quality > SMALLEST_MARGIN).all():
                bad = np.flatnonzero(~(quality > SMALLEST_MARGIN))
                raise StateError(f"accuracy: no answer at state {bad[0]}: the pose is out of reach", bad)
            whole = found @ self._chain[places]
        else:
            whole = np.zeros((len(poses), self.count, sum(sizes)))
        parts = np.split(whole, np.cumsum(sizes)[:-1], axis=2)
        return dict(zip(self.paths, parts, strict=True))

    def _kernel(self, derivatives: bool) -> Kernel:
        if derivatives not in self._kernels:
            self._kernels[derivatives] = Kernel(lambda: closed(self._mechanism, self._expression(derivatives)))
        return self._kernels[derivatives]

    def _expression(self, derivatives: bool) -> Expression:
        mechanism = self._mechanism
        x = mechanism.inputs()
        _, legs = mechanism.resting(x)
        values = ca.vertcat(mechanism.coordinates(legs), *[leg.constraint_values for leg in legs])
        quality = port("quality", mechanism.quality(legs), ())
        if derivatives:
            entries = mechanism.numbers.entries
            chosen = [k for k, e in enumerate(entries) if (e.path, e.index) in self._entries]
            by_numbers = ca.jacobian(values, mechanism.numbers.symbols[chosen])
            both = port("derivatives", by_numbers, by_numbers.shape), quality
            return Expression("closure_jacobian", x.place, both, mechanism.port)
        rows = [*[row for leg in legs for row in leg.rows], *[row for leg in legs for row in leg.constraint_rows]]
        by_pose = ca.horzcat(*rows).T
        places = ca.vertcat(*[legs[k].place for k in mechanism.implicit_legs], ca.SX(0, 1))
        outputs = port("values", values), port("rows", by_pose, by_pose.shape), quality, port("places", places)
        return Expression("closures", x.place, outputs, mechanism.port)


class Solver:
    """F_x x = b for all six components, at k poses, NaN where ``singular``; rotations scaled by the robot's size."""

    def __init__(self, model: Model, rows: Array) -> None:
        self._scale = np.r_[np.ones(3), np.full(3, 1 / model.size)]
        scaled = rows * self._scale
        lengths = np.linalg.norm(scaled, axis=2, keepdims=True)
        there = lengths > _NOTHING * np.max(lengths, axis=1, keepdims=True, initial=0.0)
        self._lengths = np.where(there, lengths, 1.0)
        comparable = np.where(there, scaled, 0.0) / self._lengths
        self._left, sizes, self._right = np.linalg.svd(comparable, full_matrices=False)
        self.singular = ~(sizes[:, -1] > _SINGULAR)
        self._sizes = np.where(self.singular[:, None], np.nan, sizes)

    def __call__(self, b: Array) -> tuple[Array, Array]:
        """x (k, 6, c) of right sides (k, N, c), and what is left of them (k, N, c) where legs hold more than six."""
        comparable = b / self._lengths
        inner = self._left.transpose(0, 2, 1) @ comparable
        left = comparable - self._left @ inner
        x = self._right.transpose(0, 2, 1) @ (inner / self._sizes[:, :, None])
        x = np.where(np.abs(x) > _ROUNDING * np.abs(x).max(axis=1, keepdims=True, initial=0.0), x, 0.0)
        return self._scale[:, None] * x, left
