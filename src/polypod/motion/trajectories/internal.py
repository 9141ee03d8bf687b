"""A motion of the platform with that of a robot's internal coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..checks import ROUNDING
from ..contract import Motion, Path, Trajectory, WholeMotion, path_with_columns
from ..fields import MotionColumn
from .coordinates import CoordinateMotion

if TYPE_CHECKING:
    from ...model import Model


@dataclass(frozen=True, eq=False)
class WithInternal(Trajectory):
    """A motion of the platform and a path of internal coordinates, as long as it; without one they stay at home."""

    platform: Trajectory
    count: int
    path: Path | None = None

    @property
    def duration(self) -> float:
        return self.platform.duration

    @property
    def pieces(self) -> Array:
        if self.path is None:
            return self.platform.pieces
        parts = self.platform.pieces, self.path.pieces
        times = np.unique(np.concatenate([part[:, :2].ravel() for part in parts]))
        middle, length = 0.5 * (times[1:] + times[:-1]), np.diff(times)
        counts = [np.zeros(len(middle))]
        for part in parts:  # as many intervals as its own piece has there
            own = part[np.clip(np.searchsorted(part[:, 0], middle) - 1, 0, None)]
            counts.append(np.ceil(own[:, 2] * length / (own[:, 1] - own[:, 0])))
        return np.column_stack([times[:-1], times[1:], np.max(counts, axis=0)])

    def evaluate(self, t: Array) -> Motion:
        still = np.zeros((*np.shape(t), self.count))
        s, rate, change = (still,) * 3 if self.path is None else self.path.evaluate(t)
        if isinstance(self.platform, CoordinateMotion):  # what follows may follow from internal coordinates too
            own = zip(self.platform.path.evaluate(t), (s, rate, change), strict=True)
            x, xdot, xddot = (np.concatenate(pair, axis=-1) for pair in own)
            moved = self.platform.model.motion(x, xdot, xddot, errors="nan")
            return WholeMotion.of(t, moved.pose, moved.twist, moved.acceleration, s)
        motion = self.platform.evaluate(t)
        twist, acceleration = (
            np.concatenate(pair, axis=-1) for pair in ((motion.twist, rate), (motion.acceleration, change))
        )
        return WholeMotion.of(motion.time, motion.pose, twist, acceleration, s)


def with_internal(trajectory: Trajectory, path: Path | None, model: Model) -> Trajectory:
    """A motion for a robot: with its internal coordinates, if it has any."""
    coordinates = model.robot.free_internal
    if not coordinates:
        if path is not None:
            raise InputError(
                f"internal: {model.robot.name!r} has no internal coordinates that move; leave it out of the motion",
                code="no_internal",
            )
        return trajectory
    if path is None:  # one that was put for the robot before is what it is
        return trajectory if isinstance(trajectory, WithInternal) else WithInternal(trajectory, len(coordinates))
    names = [coordinate.name for coordinate in coordinates]
    if path.shape != (len(names),):
        raise InputError(f"internal: needs the {len(names)} coordinates {', '.join(names)}, got {path.count}")
    if abs(path.duration - trajectory.duration) > ROUNDING * trajectory.duration:
        raise InputError(
            f"internal: must last as long as the motion of the platform ({trajectory.duration:.6g} s), got "
            f"{path.duration:.6g} s"
        )
    quantities = ["angle" if coordinate.motion == "rotation" else "length" for coordinate in coordinates]
    columns = tuple(map(MotionColumn, names, quantities))
    return WithInternal(trajectory, len(names), path_with_columns("internal", path, columns))
