"""Paths that are harmonic functions of time: sines and circles."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field, PrivateAttr

from ...arrays import Array
from ...description.quantities import Number, Position
from ...errors import InputError
from ..checks import scalar_or_vector, unit
from ..contract import INTERVALS, Coordinates, HigherDerivatives
from ..fields import Axis, Duration, Frequencies, Numbers, Phases
from .base import PathKind


class Wave(NamedTuple):
    """x = offset + cosine cos(w t) + sine sin(w t), each (k,) or a number, w in rad/s."""

    offset: Array
    cosine: Array
    sine: Array
    angular_frequency: Array


class HarmonicPath(PathKind):
    """A harmonic path; a kind sets its ``_wave``."""

    _wave: Wave = PrivateAttr()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._wave.offset.shape

    @property
    def pieces(self) -> Array:
        turns = float(np.abs(self._wave.angular_frequency).max()) * self.duration / (2 * np.pi)
        return np.array([[0.0, self.duration, np.ceil(INTERVALS * max(turns, 1.0))]])

    def evaluate(self, t: Array) -> Coordinates:
        offset, cosine, sine, w = self._wave
        angle = np.multiply.outer(t, w)
        c, s = np.cos(angle), np.sin(angle)
        swing = cosine * c + sine * s
        return Coordinates(offset + swing, w * (sine * c - cosine * s), -w * w * swing)

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives:
        _, cosine, sine, w = self._wave
        angle = np.multiply.outer(t, w)
        third = w**3 * (cosine * np.sin(angle) - sine * np.cos(angle))
        return third, np.broadcast_to(w**4 * np.hypot(cosine, sine), third.shape)

    @property
    def peak(self) -> Array:
        _, cosine, sine, w = self._wave
        return np.atleast_1d(np.abs(w) * np.hypot(cosine, sine))


class Sine(HarmonicPath):
    """x = offset + amplitude sin(2 pi frequency t + phase), ``frequency`` in Hz; numbers, or one a coordinate."""

    kind: Literal["sine"] = "sine"
    amplitude: Numbers
    frequency: Frequencies
    duration: Duration
    phase: Phases = 0.0
    offset: Numbers = 0.0

    def prepare(self, folder: FilePath) -> None:
        names = ("amplitude", "frequency", "phase", "offset")
        values = [scalar_or_vector(name, getattr(self, name)) for name in names]
        try:
            a, f, shift, middle = np.broadcast_arrays(*values)
        except ValueError as error:
            sizes = ", ".join(f"{name} {value.shape}" for name, value in zip(names, values, strict=True))
            raise InputError(f"amplitude: must be numbers or lists of equal length, got shapes {sizes}") from error
        self._wave = Wave(middle, a * np.sin(shift), a * np.cos(shift), 2 * np.pi * f)


class Circle(HarmonicPath):
    """A circle at constant speed, ``rpm`` turns per minute, right-handed about ``normal``: three coordinates.

    x = centre + radius (e cos wt + (n x e) sin wt), w = 2 pi rpm/60; negative rpm turn left-handed. It starts from the
    centre in the direction ``start`` projected on the plane (without one x, or y where the normal is nearest to x) and
    lasts 60 turns/rpm seconds.
    """

    kind: Literal["circle"] = "circle"
    centre: Position
    radius: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "m"})]
    normal: Axis
    rpm: Annotated[Number, Field(json_schema_extra={"unit": "1/min"})]
    turns: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1"})] = 1.0
    start: Axis | None = None

    @property
    def duration(self) -> float:
        return 60.0 * self.turns / abs(self.rpm)

    def prepare(self, folder: FilePath) -> None:
        n = unit("normal", self.normal)
        if self.rpm == 0.0:
            raise InputError("rpm: must not be 0")
        towards = np.eye(3)[int(np.argmax(np.abs(n)) == 0)] if self.start is None else unit("start", self.start)
        across = towards - (towards @ n) * n
        if np.linalg.norm(across) < 1e-6:
            raise InputError(f"start: must not be parallel to the normal {n.tolist()}, got {towards.tolist()}")
        e = across / np.linalg.norm(across) * self.radius
        w = np.full(3, 2 * np.pi * self.rpm / 60)
        self._wave = Wave(np.array(self.centre), e, np.cross(n, e), w)
