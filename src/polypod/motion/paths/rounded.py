"""Paths along straight lines with rounded corners, and along programs of machine tools, within limits of feed."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from ...arrays import Array
from ...description.file_names import FileName
from ...description.quantities import Angles, Number, Position
from ...errors import InputError
from ..checks import scalar_or_vector
from ..contract import Coordinates, HigherDerivatives
from ..feed import CubicMotion, Segments, feed_motion
from ..fields import LargestAcceleration, LargestJerk, LargestSpeed, Numbers, Tolerance
from ..gcode import read_gcode
from .base import PathKind


class FeedPath(PathKind):
    """Along segments at a speed, with limits of acceleration and jerk and of how far corners may be cut."""

    speed: LargestSpeed
    acceleration: LargestAcceleration
    jerk: LargestJerk
    _motion: CubicMotion = PrivateAttr()
    _angles: Array = PrivateAttr(default_factory=lambda: np.zeros(0))

    @property
    def duration(self) -> float:
        return float(self._motion.times[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._motion.position.shape[1] + len(self._angles),)

    @property
    def pieces(self) -> Array:
        times = self._motion.times
        return np.column_stack([times[:-1], times[1:], np.ones(len(times) - 1)])

    def evaluate(self, t: Array) -> Coordinates:
        x, xdot, xddot = self._motion.at(t)
        if not len(self._angles):
            return Coordinates(x, xdot, xddot)
        still = np.zeros((*t.shape, len(self._angles)))
        parts = ((x, still + self._angles), (xdot, still), (xddot, still))
        return Coordinates(*(np.concatenate(part, axis=-1) for part in parts))

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives:
        i = np.clip(np.searchsorted(self._motion.times, t, side="right") - 1, 0, len(self._motion.times) - 2)
        third = np.concatenate([self._motion.jerk[i], np.zeros((len(t), len(self._angles)))], axis=-1)
        return third, np.zeros_like(third)

    @property
    def peak(self) -> Array:
        """Speeds are parabolas between knots: largest at knots, or where acceleration vanishes between them."""
        motion = self._motion
        with np.errstate(divide="ignore", invalid="ignore"):
            h = -motion.acceleration[:-1] / motion.jerk[:-1]
        inside = (h > 0) & (h < np.diff(motion.times)[:, None])
        between = motion.velocity[:-1] + np.where(inside, h, 0.0) * motion.acceleration[:-1] / 2
        top = np.maximum(np.abs(motion.velocity).max(axis=0), np.abs(between).max(axis=0))
        return np.concatenate([top, np.zeros(len(self._angles))])


class Rounded(FeedPath):
    """Straight from point to point without a stop, with rounded corners, as fast as the limits allow.

    ``corner`` is the largest distance of the rounded path from the straight lines; with 0 the motion rests in every
    point. ``speed``, ``acceleration`` and ``jerk`` are largest norms over all coordinates; the duration follows.
    """

    kind: Literal["rounded"] = "rounded"
    points: Numbers
    corner: Tolerance

    def prepare(self, folder: FilePath) -> None:
        points = scalar_or_vector("points", self.points, extra=1)
        if points.ndim != 2:
            raise InputError(f"points: must be rows of as many coordinates each, got {self.points}")
        if len(points) < 2:
            raise InputError(f"points: at least two points are needed, a start and an end, got {len(points)}")
        same = np.flatnonzero((np.diff(points, axis=0) == 0).all(axis=1))
        if len(same):
            raise InputError(f"points.{same[0] + 1}: is the point before it again; leave one of both out")
        count = len(points) - 1
        straight = Segments(points, np.full(count, self.speed), np.zeros(count + 1), np.full(count, np.inf))
        self._motion = feed_motion(straight, self.acceleration, self.jerk, self.corner)


class GCode(FeedPath):
    """The lines and arcs of a program in G-code, with look-ahead: x, y, z of the tool.

    The program gives positions in mm or inches (G21, G20) and feeds F per minute; ``speed`` is that of G0 and the
    largest of all. ``origin`` is where the program's zero is, ``start`` where the tool is before the first line, both
    in coordinates of the path. ``angles`` adds three constant coordinates, for trajectories of six.
    """

    kind: Literal["gcode"] = "gcode"
    file: FileName
    corner: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "m"})] = 1e-4
    origin: Position = (0.0, 0.0, 0.0)
    start: Position = (0.0, 0.0, 0.0)
    angles: Angles | None = None

    def prepare(self, folder: FilePath) -> None:
        path = folder / self.file
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "is not text"
            raise InputError(f"file: {self.file}: {reason} (looked for in {folder.absolute()})") from error
        origin = np.array(self.origin)
        program = read_gcode(text, self.file, np.array(self.start) - origin, self.speed, self.corner / 10)
        segments = Segments(program.points + origin, program.speed, program.pause, program.radius)
        self._motion = feed_motion(segments, self.acceleration, self.jerk, self.corner)
        self._angles = np.array(() if self.angles is None else self.angles, dtype=float)
