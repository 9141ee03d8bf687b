"""A motion of a lower-mobility robot's generalized coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..contract import Motion, MotionExpansion, Path, Peak, Trajectory, path_with_columns
from ..fields import MotionColumn
from ..paths.base import AnyPath
from .base import TrajectoryKind

if TYPE_CHECKING:
    from ...model import Model


class IndependentCoordinates(TrajectoryKind):
    """A path of a lower-mobility robot's generalized coordinates, in the order of its ``dof``."""

    kind: Literal["coordinates"] = "coordinates"
    path: AnyPath

    @property
    def duration(self) -> float:
        return self.path.duration

    @property
    def pieces(self) -> Array:
        return self.path.pieces

    @property
    def clock(self) -> float | None:
        return self.path.clock

    def evaluate(self, t: Array) -> Motion:
        raise InputError("path: coordinates need a robot; use trajectory.for_model(model)")

    def for_model(self, model: Model) -> Trajectory:
        robot = model.robot
        if not robot.dof:
            raise InputError(
                f"trajectory.kind: {robot.name!r} has six degrees of freedom and no generalized coordinates; use "
                "euler or poses",
                code="six_dof",
            )
        names = [coordinate.name for coordinate in robot.dof]
        if self.path.shape != (len(names),):
            got = self.path.count
            raise InputError(f"trajectory.path: needs the {len(names)} coordinates {', '.join(names)}, got {got}")
        quantities = ["angle" if coordinate.motion == "rotation" else "length" for coordinate in robot.dof]
        columns = tuple(map(MotionColumn, names, quantities))
        return CoordinateMotion(path_with_columns("trajectory.path", self.path, columns), model)


@dataclass(frozen=True, eq=False)
class CoordinateMotion(Trajectory):
    """The platform's motion from a path of a robot's generalized coordinates."""

    path: Path
    model: Model

    @property
    def duration(self) -> float:
        return self.path.duration

    @property
    def pieces(self) -> Array:
        return self.path.pieces

    @property
    def peak(self) -> Peak | None:
        own = self.path.peak
        return None if own is None else Peak(np.full(3, np.nan), np.nan, own)

    def expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        expansion = self.path.expansion(t, half)
        return None if expansion is None else MotionExpansion(expansion, np.zeros((len(t), 0)), None)

    def evaluate(self, t: Array) -> Motion:
        moved = self.model.motion(*self.path.evaluate(t), errors="nan")
        return Motion(t, moved.pose, moved.twist, moved.acceleration)
