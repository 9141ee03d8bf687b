"""Paths made of laws and of other paths: lines, polylines, sequences in time and stacked coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .checks import CLOSE, Array, knots, same_duration, scalar_or_vector
from .contract import Coordinates, Law, Path
from .laws import quintic


@dataclass(frozen=True, eq=False)
class _Line(Path):
    duration: float
    shape: tuple[int, ...]
    start: Array
    step: Array
    law: Path

    def evaluate(self, t: Array) -> Coordinates:
        s, sdot, sddot = (np.multiply.outer(derivative, self.step) for derivative in self.law.evaluate(t))
        return Coordinates(self.start + s, sdot, sddot)


@dataclass(frozen=True, eq=False)
class SequencePath(Path):
    """``parts[i]`` from ``breaks[i]`` to ``breaks[i + 1]``."""

    duration: float
    shape: tuple[int, ...]
    parts: tuple[Path, ...]
    breaks: Array

    def index(self, t: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """The part (...) each time falls in; at a joint the later one."""
        return np.searchsorted(self.breaks[1:-1], t, side="right")

    def evaluate(self, t: Array) -> Coordinates:
        flat = t.reshape(-1)
        part = self.index(flat)
        result = Coordinates(*(np.empty(flat.shape + self.shape) for _ in range(3)))
        # one call for each part that has times at all: times in the order of their parts, cut where it changes
        order = np.argsort(part, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            if len(rows):
                i = part[rows[0]]
                local = np.clip(flat[rows] - self.breaks[i], 0.0, self.parts[i].duration)
                for whole, piece in zip(result, self.parts[i].evaluate(local), strict=True):
                    whole[rows] = piece
        return Coordinates(*(whole.reshape(t.shape + self.shape) for whole in result))


@dataclass(frozen=True, eq=False)
class _Through(Path):
    duration: float
    shape: tuple[int, ...]
    points: Array
    progress: SequencePath

    def evaluate(self, t: Array) -> Coordinates:
        i = self.progress.index(t)
        step = np.diff(self.points, axis=0)[i]
        extended = (derivative.reshape(t.shape + (1,) * len(self.shape)) for derivative in self.progress.evaluate(t))
        s, sdot, sddot = extended
        return Coordinates(self.points[i] + s * step, sdot * step, sddot * step)


@dataclass(frozen=True, eq=False)
class _Stack(Path):
    duration: float
    shape: tuple[int, ...]
    paths: tuple[Path, ...]

    def evaluate(self, t: Array) -> Coordinates:
        parts = [(path.shape or (1,), path.evaluate(t)) for path in self.paths]
        columns = ([np.reshape(part[order], t.shape + shape) for shape, part in parts] for order in range(3))
        return Coordinates(*(np.concatenate(column, axis=-1) for column in columns))


def line(start: ArrayLike, end: ArrayLike, law: Path) -> Path:
    """x = start + (end - start) s(t), from ``start`` (k,) where the law is 0 to ``end`` (k,) where it is 1."""
    first, last = scalar_or_vector("start", start), scalar_or_vector("end", end)
    if first.shape != last.shape:
        raise InputError(f"end: must have the shape {first.shape} of start, got {last.shape}")
    if law.shape != ():
        raise InputError(f"law: must be a scalar path, got one of shape {law.shape}")
    return _Line(law.duration, first.shape, first, last - first, law)


def progress(times: Array, law: Law) -> SequencePath:
    """s(t) from 0 to 1 again and again, once between each two of ``times`` (n,)."""
    laws = tuple(law(float(span)) for span in np.diff(times))
    for part, span in zip(laws, np.diff(times), strict=True):
        same_duration("law, time between points", (part.duration, float(span)))
        if part.shape != ():
            raise InputError(f"law: must make a scalar path, got one of shape {part.shape}")
        ends = part.at([0.0, part.duration]).x
        if np.abs(ends - [0.0, 1.0]).max() > CLOSE:
            raise InputError(f"law: must go from 0 to 1, got one from {ends[0]} to {ends[1]}")
    return SequencePath(float(times[-1]), (), laws, times)


def through(points: ArrayLike, times: ArrayLike, law: Law = quintic) -> Path:
    """Straight from each of ``points`` (n, k) or (n,) to the next, there at ``times`` (n,), with one law for each line.

    With ``quintic`` or ``cosine`` the path rests in every point; ``spline`` goes through without a stop.
    """
    x = scalar_or_vector("points", points, extra=1)
    t = knots("times", times, len(x))
    return _Through(float(t[-1]), x.shape[1:], x, progress(t, law))


def stack(*paths: Path) -> Path:
    """Coordinates of all ``paths`` side by side, (k1 + k2 + ...); all must last equally long."""
    if not paths:
        raise InputError("stack: needs at least one path, got none")
    duration = same_duration("stack", (path.duration for path in paths))
    return _Stack(duration, (sum(int(np.prod(path.shape)) for path in paths),), paths)


def piecewise(*paths: Path, continuity: int = 1) -> Path:
    """One path after the other, without a jump up to the derivative ``continuity``.

    0: position, 1: velocity too, 2: acceleration too. A jump of velocity is an impact, which no finite
    acceleration shows; ask for 0 to allow it.
    """
    if continuity not in (0, 1, 2):
        raise InputError(f"continuity: must be 0, 1 or 2, got {continuity!r}")
    if not paths or len({path.shape for path in paths}) != 1:
        raise InputError(f"piecewise: needs paths of one shape, got shapes {[path.shape for path in paths]}")
    for i, (before, after) in enumerate(pairwise(paths)):
        _check_joint(i, before, after, continuity)
    breaks = np.concatenate(([0.0], np.cumsum([path.duration for path in paths])))
    return SequencePath(float(breaks[-1]), paths[0].shape, paths, breaks)


def _check_joint(i: int, before: Path, after: Path, continuity: int) -> None:
    names = ("position", "velocity", "acceleration")
    # the size of a derivative is taken over both pieces, since at the joint itself it is often zero
    sampled = zip(before.at(before.times(9)), after.at(after.times(9)), names[: continuity + 1], strict=False)
    for left, right, name in sampled:
        jump = np.abs(right[0] - left[-1]).max()
        if jump > CLOSE * max(np.abs(left).max(), np.abs(right).max()):
            raise InputError(
                f"piecewise: {name} jumps by {jump:.6g} between path {i} (ends at {left[-1].tolist()})"
                f" and path {i + 1} (starts at {right[0].tolist()})"
            )
