"""A motion that turns about a fixed axis."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Literal

import numpy as np
from pydantic import PrivateAttr

from ...arrays import Array
from ...description.poses import rodrigues
from ...description.quantities import Rotation
from ...errors import InputError
from ..checks import same_duration, unit
from ..contract import Motion, MotionExpansion, Path, Peak, path_with_columns
from ..fields import Axis, MotionColumn
from ..paths.base import AnyPath
from ..tables import one_clock
from .base import POSITION, Placed, make_motion, rotated_frame


class AxisTurn(Placed):
    """The origin on a ``position`` path (3), turning by an ``angle`` path [rad] about a fixed base ``axis``.

    R = exp(angle [axis]x) R0 with R0 the ``rotation``, the identity unless given.
    """

    kind: Literal["axis"] = "axis"
    position: AnyPath
    axis: Axis
    angle: AnyPath
    rotation: Rotation | None = None
    _position: Path = PrivateAttr()
    _angle: Path = PrivateAttr()
    _axis: Array = PrivateAttr()
    _rotation: Array = PrivateAttr()

    def prepare(self, folder: FilePath) -> None:
        if self.position.shape != (3,):
            raise InputError(f"position: needs the three coordinates x y z, got shape {self.position.shape}")
        if self.angle.count != 1:
            raise InputError(f"angle: needs one coordinate, got shape {self.angle.shape}")
        same_duration("position, angle", (self.position.duration, self.angle.duration))
        one_clock("position, angle", self.position, self.angle)
        self._axis = unit("axis", self.axis)
        self._position = path_with_columns("position", self.position, POSITION)
        self._angle = path_with_columns("angle", self.angle, (MotionColumn("angle", "angle"),))
        self._rotation = np.eye(3) if self.rotation is None else np.array(self.rotation)

    @property
    def duration(self) -> float:
        return self.position.duration

    @property
    def pieces(self) -> Array:
        return np.concatenate([self.position.pieces, self.angle.pieces])

    @property
    def clock(self) -> float | None:
        return one_clock("position, angle", self.position, self.angle)

    @property
    def peak(self) -> Peak | None:
        velocity, turning = self._position.peak, self._angle.peak
        return None if velocity is None or turning is None else Peak(velocity, float(turning[0]))

    def placed_expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        position, angle = self._position.expansion(t, half), self._angle.expansion(t, half)
        if position is None or angle is None:
            return None
        constants = np.tile(np.concatenate([self._axis, self._rotation.ravel()]), (len(t), 1))
        return MotionExpansion(np.concatenate([position, angle], axis=-1), constants, rotated_frame)

    def placed(self, t: Array) -> Motion:
        angle, rate, acc = (derivative.reshape(t.shape) for derivative in self._angle.evaluate(t))
        omega, alpha = rate[..., None] * self._axis, acc[..., None] * self._axis
        return make_motion(t, rodrigues(self._axis, angle) @ self._rotation, self._position.evaluate(t), omega, alpha)
