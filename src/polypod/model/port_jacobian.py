"""Numbers of a robot file as inputs of functions, and the derivatives of the parameter port by them.

Fields are numbers of the port themselves. A body stands there as its ten moments, polynomials of degree three at most
in each number of its file: differences of sixth order give their derivatives, exact to rounding with any step.
Directions are made to have length 1, which is no polynomial: short steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..legs import Leg
from ..mechanism import Mechanism, Simplification
from ..parameters import Parameter, ParameterVector
from ..parameters.design import Design
from ..parameters.paths import is_direction, matching_paths, value_at

JOINT_FIELDS = ("at", "axis", "axes")
"""Fields of a chain's joints that say where they are."""
_STEPS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60
_SHORT_STEP = 4e-3
"""Step of directions: an error of 1e-13 by the step and by rounding."""


class ParametricRobot(NamedTuple):
    """A robot whose numbers at ``paths`` are inputs: their ``indices`` in the parameter port of its ``mechanism``.

    ``jacobian`` (indices, columns) holds the derivatives of the port by the numbers as files state them, at the robot's
    own.
    """

    robot: Robot
    paths: tuple[str, ...]
    mechanism: Mechanism
    indices: list[int]
    jacobian: Array

    @staticmethod
    def of(robot: Robot, paths: list[str], simplify: Simplification | None) -> ParametricRobot:
        """The robot with the numbers at some paths as inputs."""
        jacobian, entries = port_jacobian(robot, paths)
        mechanism = Mechanism(_in_general_position(robot, paths), simplify, lambda entry: _key(entry) in entries)
        indices = [k for k, e in enumerate(mechanism.numbers.entries) if _key(e) in entries]
        rows = [entries[_key(mechanism.numbers.entries[k])] for k in indices]
        return ParametricRobot(robot, tuple(paths), mechanism, indices, jacobian[rows])

    def jacobian_at(self, design: Design | None) -> Array:
        """The Jacobian at designs, (..., indices, columns); the robot's own without one."""
        if design is None:
            return self.jacobian
        given = {path: design.flat(path) for path in self.paths}
        found = port_jacobians(self.robot, self.mechanism.numbers, given)[:, self.indices]
        return found.reshape(*design.shape, *found.shape[1:])


def port_jacobian(robot: Robot, paths: list[str]) -> tuple[Array, dict[tuple[str, Any], int]]:
    """d(number of the port)/d(number of the file): a matrix (k, columns), and the row of each number that depends."""
    if not paths:
        return np.zeros((0, 0)), {}
    numbers = ParameterVector(robot, lambda entry: True)
    rows = {_key(e): k for k, e in enumerate(numbers.entries)}
    own = {path: np.array(value_at(robot, path), dtype=np.float64)[None] for path in paths}
    matrix = port_jacobians(robot, numbers, own)[0]
    used = np.flatnonzero(np.abs(matrix).max(axis=1) > 0)
    inverse = {k: row for row, k in enumerate(used.tolist())}
    return matrix[used], {key: inverse[k] for key, k in rows.items() if k in inverse}


def port_jacobians(robot: Robot, numbers: ParameterVector, given: Mapping[str, Array]) -> Array:
    """d(number of the port)/d(number given), (D, k, columns), at D designs ``given`` (D, ...) by path or pattern."""
    count, steps = len(next(iter(given.values()))), len(_STEPS)
    elements = [(path, element) for path, value in given.items() for element in np.ndindex(value.shape[1:])]
    moved = {path: np.tile(value, (len(elements), steps, *(1,) * value.ndim)) for path, value in given.items()}
    sizes = np.ones(len(elements))
    for column, (path, element) in enumerate(elements):
        short = _SHORT_STEP if is_direction(robot, matching_paths(robot, path)[0]) else 1.0
        sizes[column] = short * max(1.0, float(np.abs(given[path]).max(initial=0.0)))
        moved[path][(column, slice(None), slice(None), *element)] += sizes[column] * _STEPS[:, None]
    ports = Design(robot, moved).rows(numbers).reshape(len(elements), steps, count, -1)
    return np.asarray(np.einsum("s,csdk->dkc", _WEIGHTS, ports) / sizes)


def _in_general_position(robot: Robot, paths: list[str]) -> Robot:
    """The robot whose legs hold beside the line that they are drawn in, if paths name where their joints are."""
    moved = {path.split(".")[1] for path in paths if path[:5] == "legs." and path.rpartition(".")[2] in JOINT_FIELDS}
    legs = tuple(
        leg.in_general_position() if str(number) in moved and isinstance(leg, Leg) else leg
        for number, leg in enumerate(robot.legs)
    )
    return robot.model_copy(update={"legs": legs}) if moved else robot


def _key(entry: Parameter) -> tuple[str, Any]:
    return entry.path, entry.index
