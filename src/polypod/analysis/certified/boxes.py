"""Boxes of coordinates decided for certain: volumes between bounds, and the largest box around a pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...model import Model
from ..workspace.extent import extent, outside
from ..workspace.space import Judge, Space
from ..workspace.travel import travel
from .enclosure import Enclosure, Verdict

Array = NDArray[np.float64]
_CHUNK = 1 << 14
_MOST_BOXES = 4_000_000
_SUMS = 1e-10
"""What sums of volumes may have lost."""


class CertifiedVolume(NamedTuple):
    """``low`` <= volume <= ``high`` for certain, within ``span`` (k, 2) of the coordinates ``names``.

    In the product of the coordinates' units. ``boxes`` were decided, ``open`` were left when ``seconds`` were over or
    ``gap`` = (high - low)/high was small enough.
    """

    low: float
    high: float
    gap: float
    names: tuple[str, ...]
    span: Array
    boxes: int
    open: int
    seconds: float


class CertifiedBox(NamedTuple):
    """A box of coordinates from ``low`` (m,) to ``high`` (m,) all poses of which are in the workspace, for certain.

    ``beyond`` (m,) are half-widths, in the same proportions, that were not certified: with boxes of that size one pose
    is outside (``beyond_outside``) or the effort was too small.
    """

    low: Array
    high: Array
    beyond: Array
    beyond_outside: bool
    boxes: int


def certified_volume(
    model: Model,
    coordinates: Sequence[str] | None = None,
    span: Mapping[str, tuple[float, float]] | None = None,
    at: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    gap: float = 0.05,
    seconds: float = 30.0,
) -> CertifiedVolume:
    """Volume of the workspace between guaranteed bounds, by bisecting boxes that are neither inside nor outside.

    Over ``coordinates`` (all unless named), the others at ``at``; within ``span`` where it is given, else within the
    workspace's own extent and a tenth more. Inside are poses that keep all limits, close the legs, and have the sign of
    det J that home has; rounding is accounted for. Parts that do not hang together with home count too.
    """
    if not 0 < gap < 1 or not seconds > 0:
        raise InputError(f"gap: between 0 and 1, and more than 0 seconds are needed, got {gap!r} and {seconds!r}")
    space = Space(model, pivot)
    judge = Judge(space)
    names = tuple(coordinates or space.names)
    places = [space.place(name) for name in names]
    start = space.point(at)
    box = _span(judge, names, span or {}, start)
    enclosure = Enclosure(space)
    scale = np.where(space.turns[places], space.model.size, 1.0)
    boxes = _Boxes(box[:, 0][None], box[:, 1][None], np.zeros(1, dtype=bool))
    inside, decided, began = 0.0, 0, monotonic()
    while len(boxes.low):
        left = []
        for first in range(0, len(boxes.low), _CHUNK):
            part = boxes.only(slice(first, first + _CHUNK))
            verdict = _decide(enclosure, start, places, part)
            open_ = ~(verdict.inside | verdict.outside)
            inside += part.only(verdict.inside).volume
            decided += int((~open_).sum())
            left.append(_Boxes(part.low, part.high, verdict.regular).only(open_))
            if monotonic() - began > seconds:
                left.append(boxes.only(slice(first + _CHUNK, None)))
                break
        boxes = _Boxes(*(np.concatenate(parts) for parts in zip(*left, strict=True)))
        enough = boxes.volume <= gap * (inside + boxes.volume)
        if enough or monotonic() - began > seconds or 2 * len(boxes.low) > _MOST_BOXES:
            break
        boxes = boxes.split(scale)
    least, most = inside * (1 - _SUMS), (inside + boxes.volume) * (1 + _SUMS)
    rest = (most - least) / most if most else 0.0
    return CertifiedVolume(least, most, rest, names, box, decided, len(boxes.low), monotonic() - began)


def _span(judge: Judge, names: Sequence[str], span: Mapping[str, tuple[float, float]], at: Array) -> Array:
    for name in span:
        if name not in names:
            raise InputError(f"span: {name} is not among the coordinates {', '.join(names)}")
    missing = [name for name in names if name not in span]
    found = extent(judge, missing, at) if missing else np.zeros((0, 2))
    middle, half = found.mean(axis=1), 0.55 * (found[:, 1] - found[:, 0])
    own = dict(zip(missing, np.stack([middle - half, middle + half], axis=1), strict=True))
    box = np.array([span.get(name, own.get(name)) for name in names], dtype=np.float64)
    if not (np.isfinite(box).all() and (box[:, 0] < box[:, 1]).all()):
        raise InputError(f"span: a low and a high end of every coordinate are needed, got {box.tolist()}")
    return box


class _Boxes(NamedTuple):
    """Boxes from low to high (n, k); ``regular`` (n,) where det J is known to keep its sign."""

    low: Array
    high: Array
    regular: NDArray[np.bool_]

    @property
    def volume(self) -> float:
        """Of all of them."""
        return float(np.prod(self.high - self.low, axis=1).sum())

    def only(self, which: slice | NDArray[np.bool_]) -> _Boxes:
        """Some of them."""
        return _Boxes(self.low[which], self.high[which], self.regular[which])

    def split(self, scale: Array) -> _Boxes:
        """Every box in two halves across the coordinate in which it is largest."""
        rows = np.arange(len(self.low))
        widest = ((self.high - self.low) * scale).argmax(axis=1)
        middle = 0.5 * (self.low[rows, widest] + self.high[rows, widest])
        left, right = self.high.copy(), self.low.copy()
        left[rows, widest] = right[rows, widest] = middle
        ends = np.concatenate([self.low, right]), np.concatenate([left, self.high])
        return _Boxes(*ends, np.tile(self.regular, 2))


def _decide(enclosure: Enclosure, start: Array, places: list[int], boxes: _Boxes) -> Verdict:
    bottom, top = np.tile(start, (len(boxes.low), 1)), np.tile(start, (len(boxes.low), 1))
    bottom[:, places], top[:, places] = boxes.low, boxes.high
    return enclosure(bottom, top, regular=boxes.regular)


def certify_box(
    enclosure: Enclosure, low: Array, high: Array, scale: Array, most: int = 20_000, pose: Array | None = None
) -> tuple[bool, bool, int]:
    """Whether a box is inside for certain; whether some of it is outside for certain; and how many boxes it took.

    ``pose`` (4, 4) is what a box of displacements is about.
    """
    boxes, taken = _Boxes(low[None], high[None], np.zeros(1, dtype=bool)), 0
    while len(boxes.low) and taken < most:
        about = None if pose is None else np.repeat(pose[None], len(boxes.low), axis=0)
        verdict = enclosure(boxes.low, boxes.high, about, boxes.regular)
        taken += len(boxes.low)
        if verdict.outside.any():
            return False, True, taken
        boxes = _Boxes(boxes.low, boxes.high, verdict.regular).only(~verdict.inside).split(scale)
    return not len(boxes.low), False, taken


def certified_box(
    model: Model,
    at: Mapping[str, float] | None = None,
    half: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    most: int = 20_000,
) -> CertifiedBox:
    """The largest box around a pose in which the robot keeps all limits and meets no singularity, for certain.

    Its proportions are ``half``, by coordinate (0: it stays as it is); unless given, those of the travel of all
    coordinates together. The largest multiple that ``most`` boxes certify is found, then each side is moved out as far
    as that goes while the others stay.
    """
    space = Space(model, pivot)
    judge = Judge(space)
    start = space.point(at)
    if not judge(start[None]).inside[0]:
        raise InputError(outside(judge, start))
    if half is None:
        found = travel(model, at, pivot)
        shape = np.nan_to_num(found.together.values[-1]) if len(found.group) else found.high.values - start
    else:
        shape = np.abs(space.point(half))
    if not shape.any():
        raise InputError("half: at least one coordinate needs a half-width greater than 0")
    enclosure = Enclosure(space)
    scale = np.where(space.turns, space.model.size, 1.0)
    boxes, good, bad, outside_ = 0, 0.0, 4.0, False
    for _ in range(14):
        part = 0.5 * (good + bad)
        sure, out, taken = certify_box(enclosure, start - part * shape, start + part * shape, scale, most)
        boxes += taken
        good, bad = (part, bad) if sure else (good, part)
        outside_ = outside_ if sure else out
    low, high = start - good * shape, start + good * shape
    for k in np.flatnonzero(shape):
        for end, sign in ((low, -1.0), (high, 1.0)):
            grown, too_far = end[k], end[k] + sign * shape[k]
            for _ in range(8):
                trial = 0.5 * (grown + too_far)
                bottom, top = low.copy(), high.copy()
                (bottom if sign < 0 else top)[k] = trial
                sure, _, taken = certify_box(enclosure, bottom, top, scale, most // 4)
                boxes += taken
                grown, too_far = (trial, too_far) if sure else (grown, trial)
            end[k] = grown
    return CertifiedBox(low, high, bad * shape, outside_, boxes)
