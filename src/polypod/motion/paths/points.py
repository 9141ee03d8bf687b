"""Paths through points, given in the file or in a table: lines with a time law, and splines."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any, Literal, Self

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from ...arrays import Array
from ...description.file_names import FileName
from ...errors import InputError
from ..checks import knots, scalar_or_vector
from ..contract import Coordinates, HigherDerivatives, even_pieces
from ..fields import Accelerations, Duration, MaybeNumbers, MaybeTimes, MotionColumn, Numbers, Velocities
from ..laws import QUINTIC, AnyLaw, TimeLaw
from ..tables import TimeTable, read_table
from .base import PathKind
from .polynomials import polynomial_higher_derivatives, polynomial_peak


class Line(PathKind):
    """x = start + (end - start) s: straight from ``start`` to ``end`` with a time law s.

    ``duration`` may be left out if the law fixes it.
    """

    kind: Literal["line"] = "line"
    start: Numbers
    end: Numbers
    law: AnyLaw = QUINTIC
    duration: Duration = Field(default=None)  # type: ignore[assignment]  # the validator fills it in
    _start: Array = PrivateAttr()
    _step: Array = PrivateAttr()
    _law: TimeLaw = PrivateAttr()

    @field_validator("duration", mode="before")
    @classmethod
    def _default_duration(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None:
            return value
        if not {"start", "end", "law"} <= set(info.data) or np.shape(info.data["start"]) != np.shape(info.data["end"]):
            return 1.0  # those are faults of their own
        distance = _distance(info.data["start"], info.data["end"])
        taken = info.data["law"].time_for(distance) if distance else None
        if taken is None:
            law = info.data["law"].kind
            two = "; a trapezoid takes exactly two of duration, ramp and speed" if law == "trapezoid" else ""
            raise ValueError(f"missing; give the duration in seconds{two}")
        return taken

    def prepare(self, folder: FilePath) -> None:
        self._start, end = scalar_or_vector("start", self.start), scalar_or_vector("end", self.end)
        if self._start.shape != end.shape:
            raise InputError(f"end: must have as many numbers as start, got {self.end} for {self.start}")
        self._step = end - self._start
        distance = _distance(self.start, self.end)
        self._law = self.law.fitted(distance, self.duration) if distance else QUINTIC  # any law stays where it is

    @property
    def shape(self) -> tuple[int, ...]:
        return self._start.shape

    def evaluate(self, t: Array) -> Coordinates:
        progress = self._law.evaluate(t, np.full_like(t, self.duration))
        s, sdot, sddot = (np.multiply.outer(derivative, self._step) for derivative in progress)
        return Coordinates(self._start + s, sdot, sddot)

    @property
    def pieces(self) -> Array:
        return np.concatenate([super().pieces, corner_pieces(np.array([0.0, self.duration]), self._law)])

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives | None:
        found = self._law.higher_derivatives(t, np.full_like(t, self.duration), half)
        if found is None:
            return None
        third, fourth = found
        return np.multiply.outer(third, self._step), np.multiply.outer(fourth, np.abs(self._step))

    @property
    def peak(self) -> Array | None:
        top = self._law.peak(np.array(self.duration))
        return None if top is None else np.atleast_1d(np.abs(self._step) * top)


def corner_pieces(times: Array, law: TimeLaw) -> Array:
    """Pieces that end where the acceleration of a law from each of ``times`` (n,) to the next jumps."""
    spans = zip(times[:-1], np.diff(times), strict=True)
    return np.array([[start, start + c, 0.0] for start, span in spans for c in law.corners(float(span))]).reshape(-1, 3)


def _distance(start: Any, end: Any) -> float:
    """Distance of two points [m or rad]."""
    return float(np.linalg.norm(np.subtract(end, start)))


class PointPath(PathKind):
    """Points at times, written out or read from a CSV file with the columns ``time`` and one a coordinate."""

    points: MaybeNumbers = None
    times: MaybeTimes = None
    csv: FileName | None = None
    _table: TimeTable | None = PrivateAttr(None)
    _points: Array = PrivateAttr()
    _times: Array = PrivateAttr()

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

    def prepare(self, folder: FilePath) -> None:
        if self.csv is not None:
            self._table = read_table(folder, self.csv)
        self._arrange()

    def _arrange(self) -> None:
        """Take points and times from the table, if there is one."""
        points, times = (self.points, self.times) if self._table is None else (self._table.values, self._table.times)
        self._points = scalar_or_vector("points", points, extra=1)
        self._times = knots("times", times, len(self._points))

    @property
    def duration(self) -> float:
        return float(self._times[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        return self._points.shape[1:]

    @property
    def pieces(self) -> Array:
        return even_pieces(self._times)

    @property
    def clock(self) -> float | None:
        return None if self._table is None else self._table.start

    def with_columns(self, columns: tuple[MotionColumn, ...]) -> Self:
        if self._table is None:
            return super().with_columns(columns)
        path = self.model_copy()
        path._table = self._table.select(columns)
        path._arrange()
        return path


class Through(PointPath):
    """Straight from point to point, there at the given times, with one law for each line.

    With ``quintic`` or ``cosine`` it rests in every point; a ``spline`` goes through without a stop.
    """

    kind: Literal["through"] = "through"
    law: AnyLaw = QUINTIC

    def _arrange(self) -> None:
        super()._arrange()
        self.law.check_times(self._times)

    def progress(self, t: Array) -> tuple[NDArray[np.intp], Coordinates]:
        """The segment that each time falls in (at a point the later one), and the progress along it.

        Parameters
        ----------
        t : ndarray, shape (...)
            Times [s] in [0, duration].

        Returns
        -------
        segment : ndarray of int, shape (...)
            Index of the segment.
        progress : Coordinates
            Progress s along it from 0 to 1, and its derivatives.
        """
        i = np.searchsorted(self._times[1:-1], t, side="right")
        return i, self.law.at(t - self._times[i], np.diff(self._times)[i])

    def evaluate(self, t: Array) -> Coordinates:
        i, progress = self.progress(t)
        s, sdot, sddot = (derivative.reshape(t.shape + (1,) * len(self.shape)) for derivative in progress)
        step = np.diff(self._points, axis=0)[i]
        return Coordinates(self._points[i] + s * step, sdot * step, sddot * step)

    @property
    def pieces(self) -> Array:
        return np.concatenate([super().pieces, corner_pieces(self._times, self.law)])

    def progress_higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives | None:
        """Third derivative of the progress at times, and bounds of the fourth in intervals around them.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times [s].
        half : ndarray, shape (n,)
            Half-widths of the intervals around them [s]; no interval reaches beyond a piece.

        Returns
        -------
        HigherDerivatives or None
            Arrays (n,); None if they are not known.
        """
        i = np.searchsorted(self._times[1:-1], t, side="right")
        return self.law.higher_derivatives(t - self._times[i], np.diff(self._times)[i], half)

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives | None:
        found = self.progress_higher_derivatives(t, half)
        if found is None:
            return None
        step = np.diff(self._points, axis=0)[np.searchsorted(self._times[1:-1], t, side="right")]
        third, fourth = (np.reshape(part, t.shape + (1,) * len(self.shape)) for part in found)
        return third * step, fourth * np.abs(step)

    @property
    def peaks(self) -> Array | None:
        """Largest sdot [1/s] on every line; None where the law does not say."""
        return self.law.peak(np.diff(self._times))

    @property
    def peak(self) -> Array | None:
        if self.peaks is None:
            return None
        step = np.abs(np.diff(self._points, axis=0)).reshape(len(self._times) - 1, -1)
        return np.asarray((step * self.peaks[:, None]).max(axis=0))


class Spline(PointPath):
    """Quintic spline through all points without a stop, smooth to the fourth derivative.

    ``velocities`` and ``accelerations`` are those at the first and at the last point, each a number or one a
    coordinate.
    """

    kind: Literal["spline"] = "spline"
    velocities: Velocities = (0.0, 0.0)
    accelerations: Accelerations = (0.0, 0.0)
    _curve: Any = PrivateAttr()

    def _arrange(self) -> None:
        super()._arrange()
        names = ("velocities", "accelerations")
        ends = [scalar_or_vector(name, getattr(self, name), 1) for name in names]
        for name, end in zip(names, ends, strict=True):
            if len(end) != 2 or end.shape[1:] not in ((), self.shape):
                raise InputError(f"{name}: must be two values, each a number or of shape {self.shape}, got {end.shape}")
        conditions = [[(nu, np.broadcast_to(end[i], self.shape)) for nu, end in enumerate(ends, 1)] for i in range(2)]
        self._curve = scipy.interpolate.make_interp_spline(self._times, self._points, k=5, bc_type=tuple(conditions))

    def evaluate(self, t: Array) -> Coordinates:
        return Coordinates(*(self._curve(t, nu) for nu in range(3)))

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives:
        return polynomial_higher_derivatives(self._curve, 5, t, half)

    @property
    def peak(self) -> Array:
        return polynomial_peak(self._curve, self._times, 5)
