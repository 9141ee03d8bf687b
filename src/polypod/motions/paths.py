"""Paths in a motion file, one class a kind; each stands for the function of :mod:`polypod.trajectories` it names."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, SerializeAsAny, ValidationInfo, model_validator

from .. import trajectories as tr
from ..description.quantities import Number, Position, Triple
from ..errors import InputError
from .laws import QUINTIC, Law
from .parts import (
    Accelerations,
    Coefficients,
    MaybeNumbers,
    MaybeTimes,
    Numbers,
    Part,
    Phases,
    Seconds,
    Times,
    Velocities,
    folder_of,
    parser,
)
from .tables import table_field

Duration = Annotated[Seconds, Field(gt=0)]


class PathData(Part[tr.Path]):
    """Coordinates over time."""

    registry: ClassVar[dict[str, type[Part[Any]]]] = {}
    what: ClassVar[str] = "path"
    _path: tr.Path = PrivateAttr()

    @model_validator(mode="after")
    def _build(self, info: ValidationInfo) -> PathData:
        self._path = self.build(info)
        return self

    @property
    def path(self) -> tr.Path:
        """The path itself."""
        return self._path

    @abstractmethod
    def build(self, info: ValidationInfo) -> tr.Path:
        """The path that the data stand for."""


def _not_a_path(kind: str) -> str:
    """What is meant by a kind of trajectory where a path is needed."""
    from .platform import PlatformData

    return f"a kind of trajectory, not of path; paths: {', '.join(PathData.registry)}" * (kind in PlatformData.registry)


AnyPath = Annotated[SerializeAsAny[PathData], BeforeValidator(parser(PathData, _not_a_path))]


class Rest(PathData, kind="rest"):
    """Stay at ``point`` for ``duration``."""

    point: Numbers
    duration: Duration

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.rest(self.point, self.duration)


class Line(PathData, kind="line"):
    """Straight from ``start`` to ``end`` with a time law; ``duration`` may be left out if the law fixes it."""

    start: Numbers
    end: Numbers
    duration: Duration | None = None
    law: Law = QUINTIC

    def build(self, info: ValidationInfo) -> tr.Path:
        if np.shape(self.start) != np.shape(self.end):
            raise InputError(f"end: needs as many numbers as start, got {self.end} for {self.start}")
        distance = float(np.linalg.norm(np.subtract(self.end, self.start)))
        return tr.line(self.start, self.end, self.law.path(self.duration, distance or 1.0))


class _Table(PathData):
    """Points at times, written out or read from a CSV file with the columns ``time`` and one a coordinate."""

    points: MaybeNumbers = None
    times: MaybeTimes = None
    csv: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _points_or_csv(cls, value: Any) -> Any:
        if isinstance(value, dict):
            written = [name for name in ("points", "times") if name in value]
            if "csv" in value and written:
                raise ValueError(f"csv: give csv or {written[0]}, not both")
            for name in ("points", "times"):
                if "csv" not in value and name not in value:
                    raise ValueError(f"{name}: missing: points and times, or csv, are required")
        return value

    def table(self, info: ValidationInfo) -> tuple[Any, Any]:
        """Points and times."""
        if self.csv is None:
            return self.points, self.times
        _, times, values = table_field(folder_of(info), self.csv)
        return values, times - times[0]


class Through(_Table, kind="through"):
    """Straight from point to point, there at the given times, with one law for each line."""

    law: Law = QUINTIC

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.through(*self.table(info), self.law.between())


class Spline(_Table, kind="spline"):
    """Quintic spline through all points without a stop; ``velocities`` and ``accelerations`` at both ends."""

    velocities: Velocities = (0.0, 0.0)
    accelerations: Accelerations = (0.0, 0.0)

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.spline(*self.table(info), self.velocities, self.accelerations)


class Hermite(PathData, kind="hermite"):
    """Quintic between points with their velocities and accelerations given."""

    points: Numbers
    times: Times
    velocities: Velocities
    accelerations: Accelerations

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.hermite(self.points, self.times, self.velocities, self.accelerations)


class Circle(PathData, kind="circle"):
    """A circle at constant speed, ``rpm`` turns a minute, right-handed about ``normal``: three coordinates.

    It starts from the centre in the direction ``start`` (x unless given) and lasts 60 turns/rpm seconds.
    """

    centre: Position
    radius: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "m"})]
    normal: Annotated[Triple, Field(json_schema_extra={"unit": "1"})]
    rpm: Annotated[Number, Field(json_schema_extra={"unit": "1/min"})]
    turns: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1"})] = 1.0
    start: Annotated[Triple, Field(json_schema_extra={"unit": "1"})] | None = None

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.circle(self.centre, self.radius, self.normal, self.rpm, self.turns, self.start)


class Sine(PathData, kind="sine"):
    """offset + amplitude sin(2 pi frequency t + phase), ``frequency`` in Hz; numbers, or one a coordinate."""

    amplitude: Numbers
    frequency: Annotated[Numbers, Field(json_schema_extra={"unit": "Hz"})]
    duration: Duration
    phase: Phases = 0.0
    offset: Numbers = 0.0

    def build(self, info: ValidationInfo) -> tr.Path:
        pace = 2 * np.pi * np.asarray(self.frequency)
        return tr.sine(self.amplitude, pace, self.duration, self.phase, self.offset)


class Polynomial(PathData, kind="polynomial"):
    """Sum of c_j t^j; ``coefficients`` by growing power, each a number or one a coordinate."""

    coefficients: Coefficients
    duration: Duration

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.polynomial(self.coefficients, self.duration)


class ConstantAccelerations(PathData, kind="constant_accelerations"):
    """Constant acceleration from each time to the next."""

    start: Numbers
    accelerations: Accelerations
    times: Times
    velocity: Velocities = 0.0

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.constant_accelerations(self.start, self.accelerations, self.times, self.velocity)


class Piecewise(PathData, kind="piecewise"):
    """One path after the other, without a jump up to the derivative ``continuity``."""

    parts: tuple[AnyPath, ...]
    continuity: Literal[0, 1, 2] = 1

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.piecewise(*(part.path for part in self.parts), continuity=self.continuity)


class Stack(PathData, kind="stack"):
    """Coordinates of several paths side by side: a position and three angles make six."""

    parts: tuple[AnyPath, ...]

    def build(self, info: ValidationInfo) -> tr.Path:
        return tr.stack(*(part.path for part in self.parts))


class Sum(PathData, kind="sum"):
    """Several paths at once: a slow move and a vibration on top."""

    parts: Annotated[tuple[AnyPath, ...], Field(min_length=1)]

    def build(self, info: ValidationInfo) -> tr.Path:
        total = self.parts[0].path
        for part in self.parts[1:]:
            total = total + part.path
        return total
