"""The motions a robot can make, as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..lazy import lazy
from .contract import Platform


class DegreesOfFreedom:
    """The motions of a robot's platform, as numbers: twist = S u with u of m numbers; S is the unit matrix for six.

    ``turns`` (m) says which coordinates are angles, ``of_joints`` (m) which are those of joints. Columns of
    ``components`` (6, m) are the twists along or about the axes of the others, zero for those of joints. ``internal``
    are the names of the robot's internal coordinates that are not held; they are not among the m.
    """

    def __init__(self, robot: Robot) -> None:
        self.internal: tuple[str, ...] = tuple(f.name for f in robot.free_internal)
        self.names: tuple[str, ...] = tuple(f.name for f in robot.dof) or Platform.names
        self._internal_turns = np.array([f.motion == "rotation" for f in robot.free_internal], dtype=bool)
        self.full = not robot.dof
        self.components: Array = np.eye(6)
        if not self.full:
            self.components = np.zeros((6, len(robot.dof)))
            for column, coordinate in enumerate(robot.dof):
                rows = slice(0, 3) if coordinate.motion == "translation" else slice(3, 6)
                self.components[rows, column] = coordinate.direction
        turns = [f.motion == "rotation" for f in robot.dof] or [False] * 3 + [True] * 3
        self.turns: NDArray[np.bool_] = np.array(turns)
        self.of_joints: NDArray[np.bool_] = np.array([bool(f.joint) for f in robot.dof] or [False] * 6)
        self.home = robot.home.matrix
        rotations = [np.array(f.axis) for f in robot.dof if f.motion == "rotation" and not f.joint]
        self.axis: Array | None = rotations[0] if rotations else None

    @property
    def all_turns(self) -> NDArray[np.bool_]:
        """Which coordinates (m + k) are angles, internal ones last."""
        return np.r_[self.turns, self._internal_turns]

    @property
    def basis(self) -> Array:
        """S (6, m) of twist = S u along and about fixed axes; refused where a coordinate is a joint's."""
        if self.of_joints.any():
            names = ", ".join(name for name, one in zip(self.names, self.of_joints, strict=True) if one)
            raise InputError(
                f"dof: {names} is a joint coordinate, but this needs translations and rotations of the platform; "
                "state those in the file"
            )
        return self.components

    @lazy
    def inverse(self) -> Array:
        """S^+ (m, 6)."""
        return np.asarray(np.round(np.linalg.pinv(self.basis), 15))

    @property
    def count(self) -> int:
        """Number m of coordinates of the platform."""
        return int(self.components.shape[1])
