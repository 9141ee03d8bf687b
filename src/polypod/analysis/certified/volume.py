"""Volume of a workspace between guaranteed bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...errors import InputError
from ...kernels.threads import cores
from ...model import Model
from ..workspace.extent import extent
from ..workspace.pose_coordinates import PoseCoordinates, WorkspaceTest
from .averages import averages
from .boxes import Boxes
from .columns import Columns, has_columns
from .enclosure import Enclosure
from .hexapod_jacobian import HexapodJacobian
from .implicit import ImplicitEnclosure, enclosure_of
from .mirror import mirrored

_CHUNK = 1 << 11
_MOST_BOXES = 8_000_000
_SUMS = 1e-10
"""Bound of the relative rounding error of sums of volumes."""
_Z = 2
_SMALL = 0.4
"""Sum of a box's sides other than z, in sizes of the robot, below which columns bound it better than bisection."""
_LONG = 0.1
"""Columns are cut when they are as long as this makes equal to the sides of a box."""
_SHARE = 0.5
"""Share of the remaining gap that belongs to the boxes split in one round."""
_NOTHING = 1e-9
"""Share of a box's volume that counts as zero."""
_NEAR = 0.3
"""A box is not split further when its own gap is this share of the gap asked for."""


class CertifiedVolume(NamedTuple):
    """``low`` <= volume <= ``high`` for certain, within ``span`` (k, 2) of the coordinates ``names``.

    In the product of the coordinates' units. ``boxes`` were decided or bounded, ``open`` are those still between bounds
    when ``seconds`` were over or ``gap`` = (high - low)/high was small enough.
    """

    low: float
    high: float
    gap: float
    names: tuple[str, ...]
    span: Array
    boxes: int
    open: int
    seconds: float


def certified_volume(
    model: Model,
    coordinates: Sequence[str] | None = None,
    span: Mapping[str, tuple[float, float]] | None = None,
    at: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    gap: float = 0.05,
    seconds: float = 30.0,
) -> CertifiedVolume:
    """Volume of the workspace between guaranteed bounds, by bisecting boxes whose volume inside is not known well.

    Over ``coordinates`` (all unless named), the others at ``at``; within ``span`` where it is given, else within the
    workspace's own extent and a tenth more. Inside are poses that keep all limits, close the legs, and have the sign of
    det J that home has; rounding is accounted for. Parts that are not connected with home count too.

    Of robots on six telescopic legs with lengths, over z and others, the volume within a box is bounded by the mean
    length of its columns along z (:mod:`.columns`, :mod:`.averages`), half of them of a robot that is its own mirror
    image (:mod:`.mirror`); of others a box is inside, outside or neither.
    """
    if not 0 < gap < 1 or not seconds > 0:
        raise InputError(f"gap: between 0 and 1, and more than 0 seconds are needed, got {gap!r} and {seconds!r}")
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space)
    names = tuple(coordinates or space.names)
    indices = [space.index(name) for name in names]
    start = space.point(at)
    box = _span(test, names, span or {}, start)
    bounds = _bounds(space, start, indices)
    part, times = bounds.part(box)
    work = _Refinement(bounds, Boxes.one(*part.T))
    began = monotonic()
    while work.goes_on(gap) and monotonic() - began < seconds:
        work.refine(gap, began + seconds)
    low, high = times * work.low * (1 - _SUMS), times * work.high * (1 + _SUMS)
    rest = (high - low) / high if high else 0.0
    return CertifiedVolume(low, high, rest, names, box, work.taken, len(work.boxes.low), monotonic() - began)


def _span(test: WorkspaceTest, names: Sequence[str], span: Mapping[str, tuple[float, float]], at: Array) -> Array:
    for name in span:
        if name not in names:
            raise InputError(f"span: {name} is not among the coordinates {', '.join(names)}")
    missing = [name for name in names if name not in span]
    found = extent(test, missing, at) if missing else np.zeros((0, 2))
    middle, half = found.mean(axis=1), 0.55 * (found[:, 1] - found[:, 0])
    middle[np.abs(middle) < 1e-9 * half] = 0.0  # what is even but for rounding is so exactly, as mirrors need it
    own = dict(zip(missing, np.stack([middle - half, middle + half], axis=1), strict=True))
    box = np.array([span.get(name, own.get(name)) for name in names], dtype=np.float64)
    if not (np.isfinite(box).all() and (box[:, 0] < box[:, 1]).all()):
        raise InputError(f"span: a low and a high end of every coordinate are needed, got {box.tolist()}")
    return box


class _BoundedBoxes(NamedTuple):
    """Boxes, perhaps made smaller, with bounds of the volume inside each (n,)."""

    boxes: Boxes
    least: Array
    most: Array


class _VolumeBounds:
    """Bounds of the volume inside boxes: each is inside, outside or neither."""

    def __init__(self, space: PoseCoordinates, start: Array, indices: list[int]) -> None:
        self.start, self.indices = start, indices
        self.enclosure = enclosure_of(space)
        # of poses that follow, places found in one call are where the next one starts: calls come one after the other
        self.threads = 1 if isinstance(self.enclosure, ImplicitEnclosure) else cores()
        self.scale = np.where(space.turns, space.model.size, 1.0)[indices]

    def __call__(self, boxes: Boxes) -> _BoundedBoxes:
        verdict = self.enclosure(*self.whole(boxes), regular=boxes.regular)
        whole = boxes.volumes
        least, most = np.where(verdict.inside, whole, 0.0), np.where(verdict.outside, 0.0, whole)
        return _BoundedBoxes(boxes._replace(regular=verdict.regular), least, most)

    def whole(self, boxes: Boxes) -> tuple[Array, Array]:
        """Ends (n, m) of all coordinates."""
        bottom, top = (np.tile(self.start, (len(boxes.low), 1)) for _ in range(2))
        bottom[:, self.indices], top[:, self.indices] = boxes.low, boxes.high
        return bottom, top

    def part(self, box: Array) -> tuple[Array, int]:
        """A part of the box (k, 2) to look at, and how many such parts make it up, all of the same volume inside."""
        return box, 1

    def split(self, boxes: Boxes) -> Boxes:
        """Across the coordinate in which a box is largest."""
        return boxes.split(self.scale)


class _ColumnBounds(_VolumeBounds):
    """Bounds by the mean length of columns along z."""

    def __init__(self, space: PoseCoordinates, start: Array, indices: list[int]) -> None:
        super().__init__(space, start, indices)
        self.z = indices.index(_Z)
        self.jacobian = HexapodJacobian(space)
        self.columns = cache(partial(Columns, space))  # with cones: compiled only where one may bind
        self.sign, self.size = space.sign, space.model.size
        self.mirror = mirrored(space)

    def part(self, box: Array) -> tuple[Array, int]:
        """Half of it, if a reflection takes the robot, the box and the coordinates that stay to themselves."""
        if self.mirror is None:
            return box, 1
        flipped = self.mirror < 0
        stay = np.ones(len(flipped), dtype=bool)
        stay[self.indices] = False
        own = np.flatnonzero(flipped[self.indices])
        if not len(own) or self.start[stay & flipped].any() or (box[own, 0] != -box[own, 1]).any():
            return box, 1
        half = box.copy()
        half[own[-1], 0] = 0.0
        return half, 2

    def __call__(self, boxes: Boxes) -> _BoundedBoxes:
        """By lengths first; small boxes that may hold something are then asked for the sign of det J, and for cones."""
        refined = Boxes.joined([boxes])
        width = self.scale * (boxes.high - boxes.low)
        small = width.sum(axis=1) - width[:, self.z] < _SMALL * self.size
        least, most = np.zeros(len(small)), np.zeros(len(small))
        self._average(refined, least, most, np.arange(len(small)), with_cones=False)
        self._ask(refined, np.flatnonzero((least > 0) & ~(refined.regular & refined.within_cones)))
        by_lengths = most.copy()
        # where lengths alone leave no volume for certain smaller boxes come anyway: cones cost more than they say
        self._average(
            refined, least, most, np.flatnonzero(small & (least > 0) & ~refined.within_cones), with_cones=True
        )
        # cones are known less well than lengths in larger boxes: more limits must not loosen the bound
        most = np.minimum(most, by_lengths)
        least[~(refined.regular & (small | refined.within_cones))] = 0.0
        return _BoundedBoxes(refined, np.minimum(least, most), most)

    def _average(self, boxes: Boxes, least: Array, most: Array, own: NDArray[np.int64], with_cones: bool) -> None:
        """Bounds of some boxes, which are cut to the heights of their columns."""
        if not len(own):
            return
        part = boxes.only(own)
        bottom, top = self.whole(part)
        found = averages(self.columns(with_cones)(bottom, top), bottom, top)
        area = np.prod(np.delete(part.high - part.low, self.z, axis=1), axis=1)
        least[own], most[own] = area * found.least, area * found.most
        boxes.low[own, self.z], boxes.high[own, self.z] = found.heights.min(axis=1), found.heights.max(axis=1)

    def _ask(self, boxes: Boxes, asked: NDArray[np.int64]) -> None:
        """Whether det J keeps its sign, legs close and cones hold, for boxes of which that is not known."""
        if not len(asked):
            return
        part = boxes.only(asked)
        found = self.jacobian(*self.whole(part), signed=~part.regular)
        boxes.within_cones[asked] |= found.cones
        fresh = np.flatnonzero((found.sign == self.sign) & ~part.regular)
        assert isinstance(self.enclosure, Enclosure)  # telescopic legs are in closed form
        boxes.regular[asked[fresh]] |= self.enclosure.limits(*self.whole(part.only(fresh))).closed

    def split(self, boxes: Boxes) -> Boxes:
        """Columns are cut only where they are long and det J is not known to keep its sign along them."""
        scale = np.tile(self.scale, (len(boxes.low), 1))
        scale[:, self.z] = np.where(boxes.regular & boxes.within_cones, 0.0, _LONG)
        return boxes.split(scale)


def _bounds(space: PoseCoordinates, start: Array, indices: list[int]) -> _VolumeBounds:
    return (_ColumnBounds if has_columns(space) and _Z in indices else _VolumeBounds)(space, start, indices)


class _Refinement:
    """Boxes whose bounds are still apart, and the sums of those of all others."""

    def __init__(self, bounds: _VolumeBounds, first: Boxes) -> None:
        self.bounds, self.taken = bounds, 1
        self.decided = [0.0, 0.0]
        self.boxes, self.least, self.most = bounds(first)

    @property
    def low(self) -> float:
        return self.decided[0] + float(self.least.sum())

    @property
    def high(self) -> float:
        return self.decided[1] + float(self.most.sum())

    def goes_on(self, gap: float) -> bool:
        """Whether the gap is too large and there is room for more boxes."""
        return self.high - self.low > gap * self.high and 0 < len(self.boxes.low) < _MOST_BOXES

    def refine(self, gap: float, until: float) -> None:
        """Split the boxes with the widest bounds, which make up half of the gap."""
        width = self.most - self.least
        order = np.argsort(-width)
        count = int(np.searchsorted(np.cumsum(width[order]), _SHARE * width.sum())) + 1
        parts: list[_BoundedBoxes] = []
        done, low, high = 0, self.low, self.high
        chunks = [order[first : min(first + _CHUNK, count)] for first in range(0, count, _CHUNK)]
        # what NumPy does between compiled calls is done for several chunks at once
        with ThreadPoolExecutor(self.bounds.threads) as pool:
            for first in range(0, len(chunks), self.bounds.threads):
                together = chunks[first : first + self.bounds.threads]
                for own, part in zip(together, pool.map(self._halves, together), strict=True):
                    done += len(own)
                    low += float(part.least.sum() - self.least[own].sum())
                    high += float(part.most.sum() - self.most[own].sum())
                    self.taken += len(part.least)
                    near = part.most - part.least <= _NEAR * gap * part.least + _NOTHING * part.boxes.volumes
                    self.decided[0] += float(part.least[near].sum())
                    self.decided[1] += float(part.most[near].sum())
                    parts.append(_BoundedBoxes(part.boxes.only(~near), part.least[~near], part.most[~near]))
                if monotonic() > until or high - low <= gap * high:
                    break
        kept = order[done:]
        parts.append(_BoundedBoxes(self.boxes.only(kept), self.least[kept], self.most[kept]))
        self.boxes = Boxes.joined([one.boxes for one in parts])
        self.least, self.most = (np.concatenate([one[k] for one in parts]) for k in (1, 2))

    def _halves(self, own: NDArray[np.int64]) -> _BoundedBoxes:
        """Bounds of the halves of some boxes."""
        return self.bounds(self.bounds.split(self.boxes.only(own)))
