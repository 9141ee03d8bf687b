"""Numbers of a robot file as inputs of functions, and the exact derivatives of the parameter port by them."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array
from ..description import Robot
from ..legs import Leg
from ..mechanism import Mechanism, Simplification
from ..parameters import Parameter
from ..parameters.design import Design, ParameterMap, Place, port_jacobians

JOINT_FIELDS = ("at", "axis", "axes")
"""Fields of a chain's joints that say where they are."""


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
    numbers: ParameterMap

    @staticmethod
    def of(robot: Robot, paths: list[str], simplify: Simplification | None) -> ParametricRobot:
        """The robot with the numbers at some paths as inputs."""
        known = ParameterMap(robot, paths)
        # those too that depend on the numbers at other values than the robot's: designs may have them
        entries = {known.places[k] for k in known.dependent}
        mechanism = Mechanism(_in_general_position(robot, paths), simplify, lambda entry: _key(entry) in entries)
        indices = [k for k, e in enumerate(mechanism.numbers.entries) if _key(e) in entries]
        rows = [known.index(mechanism.numbers.entries[k]) for k in indices]
        jacobian = known.jacobian(known.own[None])[0][rows]
        return ParametricRobot(robot, tuple(paths), mechanism, indices, jacobian, known)

    def jacobian_at(self, design: Design | None) -> Array:
        """The Jacobian at designs, (..., indices, columns); the robot's own without one."""
        if design is None:
            return self.jacobian
        every = self.numbers.design({path: design.flat(path) for path in self.paths})
        found = port_jacobians(self.mechanism.numbers, every)[:, self.indices]
        return found.reshape(*design.shape, *found.shape[1:])


def _in_general_position(robot: Robot, paths: list[str]) -> Robot:
    """The robot whose legs hold beside the line that they are drawn in, if paths name where their joints are."""
    moved = {path.split(".")[1] for path in paths if path[:5] == "legs." and path.rpartition(".")[2] in JOINT_FIELDS}
    legs = tuple(
        leg.in_general_position() if str(number) in moved and isinstance(leg, Leg) else leg
        for number, leg in enumerate(robot.legs)
    )
    return robot.model_copy(update={"legs": legs}) if moved else robot


def _key(entry: Parameter) -> Place:
    return entry.path, entry.index
