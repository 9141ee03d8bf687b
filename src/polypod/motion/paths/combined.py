"""Paths made of other paths: side by side, at once, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from ...arrays import Array
from ...errors import InputError
from ..checks import CLOSE, same_duration
from ..contract import Coordinates, HigherDerivatives, Path, path_with_columns
from ..fields import MotionColumn
from ..tables import one_clock
from .base import AnyPath, PathKind

Parts = Annotated[tuple[AnyPath, ...], Field(min_length=1)]


class CombinedPath(PathKind):
    """A path of several ``parts``."""

    parts: Parts

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts[0].shape

    @property
    def duration(self) -> float:
        return self.parts[0].duration

    @property
    def pieces(self) -> Array:
        return np.concatenate([part.pieces for part in self.parts])

    @property
    def clock(self) -> float | None:
        return one_clock("parts", *self.parts)

    def prepare(self, folder: FilePath) -> None:
        if len({part.shape for part in self.parts}) > 1:
            raise InputError(f"parts: must have the same shape, got shapes {[part.shape for part in self.parts]}")

    def with_columns(self, columns: tuple[MotionColumn, ...]) -> Self:
        return self._with_columns([columns] * len(self.parts))

    def _with_columns(self, columns: list[tuple[MotionColumn, ...]]) -> Self:
        """Each part with its own columns."""
        pairs = enumerate(zip(self.parts, columns, strict=True))
        parts = tuple(path_with_columns(f"parts.{number}", part, own) for number, (part, own) in pairs)
        return self.model_copy(update={"parts": parts})

    def evaluate(self, t: Array) -> Coordinates:
        values = [part.evaluate(t) for part in self.parts]
        return Coordinates(*(self._combine([value[order] for value in values], t) for order in range(3)))

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives | None:
        found = [higher for part in self.parts if (higher := part.higher_derivatives(t, half)) is not None]
        if len(found) < len(self.parts):
            return None
        third, fourth = (self._combine([of[k] for of in found], t) for k in range(2))
        return third, fourth

    def _combine(self, parts: list[Array], t: Array) -> Array:
        """Values of the whole at times t from those of all parts: their sum."""
        return np.asarray(np.sum(parts, axis=0))

    @property
    def peak(self) -> Array | None:
        peaks = [peak for part in self.parts if (peak := part.peak) is not None]
        return self._combine_peaks(peaks) if len(peaks) == len(self.parts) else None

    def _combine_peaks(self, peaks: list[Array]) -> Array:
        """Bounds of the whole from those of all parts: the largest, as one part follows the other."""
        return np.asarray(np.max(peaks, axis=0))


class Stack(CombinedPath):
    """Coordinates of several paths side by side: a position and three angles make six."""

    kind: Literal["stack"] = "stack"

    def prepare(self, folder: FilePath) -> None:
        same_duration("parts", (part.duration for part in self.parts))
        one_clock("parts", *self.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(part.count for part in self.parts),)

    def _combine(self, parts: list[Array], t: Array) -> Array:
        shaped = [
            np.reshape(value, t.shape + (part.shape or (1,))) for part, value in zip(self.parts, parts, strict=True)
        ]
        return np.concatenate(shaped, axis=-1)

    def _combine_peaks(self, peaks: list[Array]) -> Array:
        return np.concatenate(peaks)

    def with_columns(self, columns: tuple[MotionColumn, ...]) -> Self:
        ends = np.cumsum([part.count for part in self.parts])
        return self._with_columns([columns[end - part.count : end] for part, end in zip(self.parts, ends, strict=True)])


class Sum(CombinedPath):
    """Several paths at once: a slow move and a vibration on top."""

    kind: Literal["sum"] = "sum"

    def prepare(self, folder: FilePath) -> None:
        super().prepare(folder)
        same_duration("parts", (part.duration for part in self.parts))
        one_clock("parts", *self.parts)

    def _combine_peaks(self, peaks: list[Array]) -> Array:
        return np.asarray(np.sum(peaks, axis=0))


class Piecewise(CombinedPath):
    """One path after the other, without a jump up to the derivative ``continuity``.

    0: position, 1: velocity too, 2: acceleration too. A jump of velocity is an impact, which no finite acceleration
    shows; 0 allows it.
    """

    kind: Literal["piecewise"] = "piecewise"
    continuity: Literal[0, 1, 2] = 1
    _breaks: Array = PrivateAttr()

    def prepare(self, folder: FilePath) -> None:
        super().prepare(folder)
        for number, (before, after) in enumerate(pairwise(self.parts)):
            _check_continuity(number, before, after, self.continuity)
        self._breaks = np.concatenate(([0.0], np.cumsum([part.duration for part in self.parts])))

    @property
    def duration(self) -> float:
        return float(self._breaks[-1])

    @property
    def pieces(self) -> Array:
        shifts = ([start, start, 0.0] for start in self._breaks)
        return np.concatenate([part.pieces + shift for part, shift in zip(self.parts, shifts, strict=False)])

    @property
    def clock(self) -> float | None:
        return self.parts[0].clock  # the others count from where the one before ends

    def evaluate(self, t: Array) -> Coordinates:
        flat = t.reshape(-1)
        result = Coordinates(*(np.empty(flat.shape + self.shape) for _ in range(3)))
        for part, rows, local in self._by_part(flat):
            for whole, piece in zip(result, part.evaluate(local), strict=True):
                whole[rows] = piece
        return Coordinates(*(whole.reshape(t.shape + self.shape) for whole in result))

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives | None:
        result = np.empty(t.shape + self.shape), np.empty(t.shape + self.shape)
        for part, rows, local in self._by_part(t):
            found = part.higher_derivatives(local, half[rows])
            if found is None:
                return None
            for whole, piece in zip(result, found, strict=True):
                whole[rows] = piece
        return result

    def _by_part(self, t: Array) -> Iterator[tuple[Path, NDArray[np.intp], Array]]:
        """The parts in which times (n,) fall, the indices of those times, and the times since the part's start."""
        index = np.searchsorted(self._breaks[1:-1], t, side="right")
        for i in np.unique(index):
            rows = np.flatnonzero(index == i)
            yield self.parts[i], rows, np.clip(t[rows] - self._breaks[i], 0.0, self.parts[i].duration)


def _check_continuity(number: int, before: Path, after: Path, continuity: int) -> None:
    names = ("position", "velocity", "acceleration")
    # the size of a derivative is taken over both pieces, since where they meet it is often zero
    sampled = zip(before.at(before.even_times(9)), after.at(after.even_times(9)), names[: continuity + 1], strict=False)
    for left, right, name in sampled:
        jump = np.abs(right[0] - left[-1]).max()
        if jump > CLOSE * max(np.abs(left).max(), np.abs(right).max()):
            raise InputError(
                f"parts.{number + 1}: {name} jumps by {jump:.6g} between path {number} (ends at {left[-1].tolist()})"
                f" and path {number + 1} (starts at {right[0].tolist()}); "
                "make them meet, or lower continuity"
            )
