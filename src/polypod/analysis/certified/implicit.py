"""What is true in every pose of a box where poses or legs follow from equations E(x, y) = 0.

To every x of the box there is exactly one y near the solution in its middle (``.krawczyk``); limits, closing and
det J are then bounded over the box and all such y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ...arrays import Array
from ...legs.contract import SMALLEST_MARGIN
from ..workspace.pose_coordinates import PoseCoordinates
from .displaced import TURN
from .enclosure import Enclosure
from .equations import bounds_kernel, derivatives_kernel, turning_rows, unknown_count
from .intervals import Mask, Verdict, in_ranges, regular_sign
from .telescopic_legs import Chart

_SLACK = 1e-12
"""What sums of some dozens of products may have lost, relative to their terms."""
_PIECES = (1, 4, 16)
"""Pieces of a straight way: more where fewer do not show that the solution at its end is that of its start."""


class ImplicitEnclosure:
    """Bounds over boxes of the coordinates of a robot whose platform follows its legs, or whose legs are iterated.

    What follows is that of the drawn assembly and working mode: a way from home to the middle of a box is covered by
    boxes in each of which there is exactly one solution, and each of them has that of the one before. Of constraints
    that say the same those are used that the model uses. Of a robot in closed form nothing follows, and only the bounds
    by first-order models are its own.
    """

    def __init__(self, space: PoseCoordinates, chart: Chart = "coordinates") -> None:
        self.space, self.chart = space, chart
        mechanism = space.model.kernels.mechanism
        self._ranges = mechanism.limit_ranges
        self._angles = np.array([limit.angle for _, limit in mechanism.limits], dtype=bool)
        self._solve = Krawczyk(space, chart)
        self._known = _KnownPoints(np.where(space.turns, space.model.size, 1.0), self._solve.k)
        nowhere = np.zeros((1, len(space.names))), np.zeros((1, self._solve.k))
        home = self._solve.point(*nowhere, None if chart == "coordinates" else space.home[None])
        self._sign = float(self._signs(home)[0])

    def __call__(self, low: Array, high: Array, poses: Array | None = None, regular: Mask | None = None) -> Verdict:
        """As ``.Enclosure``; what is known already spares nothing, since y has to be found anyway."""
        inside, outside, good = (np.zeros(len(low), dtype=bool) for _ in range(3))
        middle = 0.5 * (low + high)
        half = np.maximum(high - middle, middle - low) * (1 + 1e-14)
        y, joined = self._joined(middle, poses)
        some = np.flatnonzero(joined)
        own = None if poses is None else poses[some]
        found = self._solve.boxes(middle[some], half[some], y[some], own)
        if poses is None and self._solve.k:
            self._known.add(middle[some], half[some], found)
        sure = some[found.proven]
        inside[sure], outside[sure], good[sure] = self._judged(found.only(found.proven))
        if poses is None:
            # of rotation vectors beyond half a turn each orientation has a shorter one
            most, least = np.maximum(np.abs(low), np.abs(high)), np.maximum(np.maximum(low, -high), 0.0)
            inside &= ~self.space.repeated(most * (1 + 1e-15))
            outside |= self.space.repeated(least * (1 - 1e-15))
        return Verdict(inside, outside, good)

    def _joined(self, x: Array, poses: Array | None) -> tuple[Array, Mask]:
        """y (n, k) at coordinates (n, m), and whether it is joined with that of home, for certain.

        By being in a box of which that is known, or by the straight way from the nearest place of which it is; about
        poses from home itself.
        """
        y, joined = np.zeros((len(x), self._solve.k)), np.full(len(x), not self._solve.k)
        if joined.all():
            return y, joined
        if poses is None:
            start, own = self._known.nearest(x)
            inside = np.flatnonzero((np.abs(x - start) <= self._known.half[own]).all(axis=1))
            boxes = own[inside]
            after = self._solve.point(
                x[inside], self._solve.solved(start[inside], x[inside], self._known.y[boxes], None), None
            )
            joined[inside] = self._known.hold(boxes, after, x[inside])
            y[inside] = after.y
            first = self._known.y[own]
        else:
            start, first = self._start(poses), np.zeros_like(y)
        for pieces in _PIECES:
            left = np.flatnonzero(~joined)
            if len(left):
                about = None if poses is None else poses[left]
                y[left], joined[left] = self._way(start[left], first[left], x[left], about, pieces)
        return y, joined

    def _start(self, poses: Array) -> Array:
        """Home (n, 6) as a displacement about poses: c of Cayley's rotation is tan(angle/2) along its axis."""
        back = self.space.home[:3, :3] @ poses[:, :3, :3].transpose(0, 2, 1)
        twice = np.stack([back[:, 2, 1] - back[:, 1, 2], back[:, 0, 2] - back[:, 2, 0], back[:, 1, 0] - back[:, 0, 1]])
        turn = (twice / (1 + np.trace(back, axis1=1, axis2=2))).T
        return np.concatenate([self.space.home[:3, 3] - poses[:, :3, 3], turn], axis=1)

    def _way(self, start: Array, y: Array, x: Array, poses: Array | None, pieces: int) -> tuple[Array, Mask]:
        """The same by a number of pieces of the way from places ``start`` with their ``y``."""
        found, joined = np.zeros_like(y), np.zeros(len(x), dtype=bool)
        before = self._solve.point(start, y, poses)
        left = np.flatnonzero(before.proven)
        before = before.only(left)
        for piece in range(pieces):
            first, last = (start[left] + (x - start)[left] * ((piece + part) / pieces) for part in (0.0, 1.0))
            own = None if poses is None else poses[left]
            middle, half = 0.5 * (first + last), 0.5 * (last - first) * (1 + 1e-14)
            between = self._solve.solved(first, middle, before.y, own)
            held = self._solve.boxes(middle, half, between, own)
            after = self._solve.point(last, self._solve.solved(middle, last, between, own), own)
            good = held.proven & held.holds(before, -1.0) & held.holds(after, 1.0)
            left, before = left[good], after.only(good)
        found[left], joined[left] = before.y, True
        return found, joined

    def _judged(self, found: SolutionBounds) -> tuple[Mask, Mask, Mask]:
        """Inside, outside and regular of boxes in which y is known."""
        kept, broken = in_ranges(*found.values.ends, self._ranges, self._angles)
        least, most = found.margins.ends
        closed = (least > SMALLEST_MARGIN).all(axis=1)
        sign = self._signs(found)
        good = closed & (sign == self._sign)
        wrong = (most < SMALLEST_MARGIN).any(axis=1) | (closed & (sign == -self._sign))
        return kept & good, broken | wrong, good

    def _signs(self, found: SolutionBounds) -> Array:
        """Sign of det of the derivatives of E and q by [x, y], which is singular where the robot is; 0 where not
        known."""
        derivatives = np.moveaxis(found.matrix.derivatives, 3, 1)
        vague = np.broadcast_to(_SLACK * np.abs(derivatives), derivatives.shape)
        return regular_sign(found.matrix.middle, found.matrix.remainder, derivatives, vague)


class _KnownPoints:
    """Coordinates (n, m) whose y (n, k) is known to be joined with that of home, which is the first of them.

    ``half`` (n, m) are the half-widths of boxes about them in which y is the only one within ``reach`` of a line; zero
    where none is known.
    """

    def __init__(self, scale: Array, k: int) -> None:
        m = len(scale)
        self._scale = scale
        self._x, self.half, self.y = np.zeros((1, m)), np.zeros((1, m)), np.zeros((1, k))
        self._derivatives, self._reach = np.zeros((1, k, m)), np.zeros((1, k))
        self._tree = scipy.spatial.KDTree(self._x)

    def nearest(self, x: Array) -> tuple[Array, NDArray[np.int64]]:
        """The nearest known to each of some coordinates, and their numbers."""
        own = np.asarray(self._tree.query(x * self._scale)[1], dtype=np.int64)
        return self._x[own], own

    def hold(self, own: NDArray[np.int64], found: SolutionBounds, x: Array) -> Mask:
        """Whether solutions at coordinates are those of known boxes that hold them."""
        line = self.y[own] + (self._derivatives[own] @ (x - self._x[own])[..., None])[..., 0]
        with np.errstate(invalid="ignore"):
            inside = (np.abs(found.y - line) + found.near) * (1 + _SLACK) + 1e-14 <= self._reach[own]
        return np.asarray(found.proven & inside.all(axis=1))

    def add(self, x: Array, half: Array, found: SolutionBounds) -> None:
        """Take more of them; the nearest is looked for among all when they have become a quarter more."""
        held = found.proven[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            derivatives = np.where(half[:, None] > 0, found.swing / half[:, None], 0.0)
        self._x, self.y = np.concatenate([self._x, x]), np.concatenate([self.y, found.y])
        self.half = np.concatenate([self.half, np.where(held, half, 0.0)])
        self._derivatives = np.concatenate([self._derivatives, derivatives])
        self._reach = np.concatenate([self._reach, np.where(held, found.reach, 0.0)])
        if len(self._x) > 1.25 * self._tree.n:
            self._tree = scipy.spatial.KDTree(self._x * self._scale)


class EitherEnclosure:
    """Bounds of robots of few degrees of freedom with long formulas: by intervals, and by first-order models where
    these fail.

    Intervals see what is out of reach, models see boxes that are inside two to four times as large.
    """

    def __init__(self, space: PoseCoordinates, chart: Chart = "coordinates") -> None:
        self._ways = Enclosure(space, chart), ImplicitEnclosure(space, chart)

    def __call__(self, low: Array, high: Array, poses: Array | None = None, regular: Mask | None = None) -> Verdict:
        """As ``.Enclosure``."""
        first = self._ways[0](low, high, poses, regular)
        left = np.flatnonzero(~first.inside & ~first.outside)
        second = self._ways[1](low[left], high[left], None if poses is None else poses[left])
        for known, more in zip(first, second, strict=True):
            known[left] |= more
        return first


AnyEnclosure = Enclosure | ImplicitEnclosure | EitherEnclosure


def enclosure_of(space: PoseCoordinates, chart: Chart = "coordinates") -> AnyEnclosure:
    """Bounds over boxes of a robot's coordinates, or of displacements ``about`` poses, whatever its legs."""
    mechanism = space.model.kernels.mechanism
    if mechanism.implicit_legs or mechanism.platform.is_constrained:
        return ImplicitEnclosure(space, chart)
    return (Enclosure if space.full else EitherEnclosure)(space, chart)


# ----------------------------------------------------------------------------------------------------------------------
# Solutions y of E(x, y) = 0 over boxes of x, proven to be there and to be alone: Krawczyk's operator.
#
# With y0 that solves E in the middle xm of a box, its derivatives S there, C near E_y^-1, and bounds over the box,
#
#     b + G r < r,   b = |C E(x, y0 + S (x - xm))|,   G = |1 - C E_y(x, y0 + S (x - xm) +- r)|
#
# proves that to every x of the box there is exactly one y within r of y0 + S (x - xm), and that it is within b + G
# r of
# it: Krawczyk's operator (1969) for e of y = y0 + S (x - xm) + e. Both b and r are of second order in the box's size.

_POINT = 1e-9
"""Half-width in which the solution at a single point is looked for."""
_TRIES = 3
_FIRST = 0.1
"""Part of the swing |S| h that the reach is first taken to be."""
_GROWN = 1.5
"""What the reach is taken to be next, over what it was found to need."""


@dataclass(frozen=True)
class Models:
    """Numbers (n, ...) of boxes x + h t, |t_j| <= 1: ``middle`` + sum ``derivatives`` t, within ``remainder``."""

    middle: Array
    derivatives: Array
    remainder: Array

    @property
    def ends(self) -> tuple[Array, Array]:
        """Lower and upper ends over the box."""
        size = (np.abs(self.derivatives).sum(axis=-1) + self.remainder) * (1 + _SLACK) + _SLACK * np.abs(self.middle)
        return self.middle - size, self.middle + size

    def __getitem__(self, key: Any) -> Models:
        return Models(self.middle[key], self.derivatives[key], self.remainder[key])

    def put(self, which: NDArray[np.int64], by: Models) -> None:
        """Replace the bounds of some of the boxes."""
        self.middle[which], self.derivatives[which], self.remainder[which] = by.middle, by.derivatives, by.remainder


@dataclass(frozen=True)
class SolutionBounds:
    """Of n boxes. ``proven`` (n,): exactly one y to every x within ``reach`` (n, k) of y0 + S (x - xm), and within
    ``near`` of it; ``y`` is y0 (n, k), ``swing`` S h (n, k, m).

    Models over the box and these y of limited ``values``, of ``margins``, and of the ``matrix`` of derivatives of E and
    the actuated coordinates by [x, y].
    """

    proven: Mask
    y: Array
    swing: Array
    reach: Array
    near: Array
    values: Models
    margins: Models
    matrix: Models

    def only(self, which: Mask | NDArray[np.int64]) -> SolutionBounds:
        """The bounds of some of the boxes, by index or mask."""
        arrays = self.proven[which], self.y[which], self.swing[which], self.reach[which], self.near[which]
        return SolutionBounds(*arrays, self.values[which], self.margins[which], self.matrix[which])

    def put(self, which: NDArray[np.int64], by: SolutionBounds) -> None:
        """Replace the bounds of some of the boxes."""
        self.proven[which], self.y[which], self.swing[which] = by.proven, by.y, by.swing
        self.reach[which], self.near[which] = by.reach, by.near
        self.values.put(which, by.values)
        self.margins.put(which, by.margins)
        self.matrix.put(which, by.matrix)

    def holds(self, other: SolutionBounds, t: float) -> Mask:
        """Whether the solutions of others, in the corners t = +-1 (all alike) of the boxes, are the ones here."""
        with np.errstate(invalid="ignore"):
            off = other.y - self.y - t * self.swing.sum(axis=2)
            inside = (np.abs(off) + other.near) * (1 + _SLACK) + 1e-14 * np.abs(self.swing).sum(axis=2) <= self.reach
        return np.asarray(other.proven & inside.all(axis=1))


class Krawczyk:
    """Proofs for one robot; ``k`` is the number of what follows from its m coordinates."""

    def __init__(self, space: PoseCoordinates, chart: Chart) -> None:
        mechanism = space.model.kernels.mechanism
        self.k, self._m = unknown_count(mechanism), len(space.names)
        self._derivatives, self._bounds = (kernel(space.model, chart) for kernel in (derivatives_kernel, bounds_kernel))
        self._rest = np.concatenate([space.home.ravel(), space.pivot])[None], mechanism.numbers.values[None]
        self._limits, self._rows = len(mechanism.limits), len(mechanism.actuators) + self.k
        self._turns = turning_rows(mechanism)

    def solved(self, start: Array, x: Array, y: Array, poses: Array | None) -> Array:
        """y (n, k) at x (n, m) by Newton's steps, from that at ``start``; not a number where it is lost."""
        now = y
        for step in range(4):
            value, by_x, by_y = self._derivatives(*self._given((start if step == 0 else x, now), poses))
            if step == 0:
                value = value + (by_x @ (x - start)[..., None])[..., 0]
            inverse, good = _inverted(by_y)
            now = np.where(good[:, None], now - (inverse @ np.nan_to_num(value)[..., None])[..., 0], np.nan)
        return now

    def point(self, x: Array, y: Array, poses: Array | None) -> SolutionBounds:
        """Bounds at single points: boxes of no size."""
        return self._tried(x, np.zeros_like(x), y, np.zeros((*y.shape, self._m)), np.full_like(y, _POINT), poses)

    def boxes(self, x: Array, half: Array, y: Array, poses: Array | None) -> SolutionBounds:
        """Over boxes x + h t (n, m), with a reach for which the proof succeeds if one was found.

        Half-widths that are negative make t run the other way.
        """
        _, by_x, by_y = self._derivatives(*self._given((x, np.nan_to_num(y)), poses))
        swing = -_inverted(by_y)[0] @ np.nan_to_num(by_x) * half[:, None]
        reach = _FIRST * np.abs(swing).sum(axis=2) + _POINT
        found = self._tried(x, half, y, swing, reach, poses)
        for _ in range(_TRIES - 1):
            again = np.flatnonzero(~found.proven & np.isfinite(found.near).all(axis=1))
            if len(again):
                own = None if poses is None else poses[again]
                more = _GROWN * found.near[again] + _POINT
                found.put(again, self._tried(x[again], half[again], y[again], swing[again], more, own))
        return found

    def _given(self, first: tuple[Array, ...], poses: Array | None) -> list[Array]:
        return [*(np.ascontiguousarray(part) for part in (*first, *(() if poses is None else (poses,)))), *self._rest]

    def _tried(
        self, x: Array, half: Array, y: Array, swing: Array, reach: Array, poses: Array | None
    ) -> SolutionBounds:
        """Models over boxes, and whether the operator takes ``reach`` into itself."""
        k, m, n = self.k, self._m, len(x)
        given = x, half, y, swing.reshape(n, k * m), reach
        found = Models(*self._bounds(*self._given(given, poses)))
        last = found.middle.shape[1] - self._rows * (m + k)
        places = slice(0, k), slice(k, k + self._limits), slice(k + self._limits, last), slice(last, None)
        value, values, margins, entries = (found[:, part] for part in places)
        shape = n, self._rows, m + k
        matrix = Models(
            entries.middle.reshape(shape), entries.derivatives.reshape(*shape, m), entries.remainder.reshape(shape)
        )
        by_y = matrix[:, :k, m:]
        with np.errstate(all="ignore"):
            inverse, good = _inverted(by_y.middle)
            good &= np.isfinite(value.remainder).all(axis=1) & np.isfinite(by_y.remainder).all(axis=(1, 2))
            size = np.abs(inverse)
            rest = np.abs(np.eye(k) - inverse @ by_y.middle) + size @ (by_y.remainder + _SLACK * np.abs(by_y.middle))
            rest += np.abs(np.einsum("nij,njkm->nikm", inverse, by_y.derivatives)).sum(axis=3)
            near = np.abs(inverse @ value.derivatives).sum(axis=2)
            near += np.abs((inverse @ value.middle[..., None])[..., 0])
            vague = value.remainder + _SLACK * (np.abs(value.middle) + np.abs(value.derivatives).sum(axis=2))
            near += (size @ vague[..., None])[..., 0]
            near += (rest @ reach[..., None])[..., 0]
            near = np.where(good[:, None], near * (1 + _SLACK) + 1e-300, np.nan)
            whole = np.abs(swing).sum(axis=2) + reach
            proven = good & (near < reach).all(axis=1) & self._in_chart(np.abs(x) + np.abs(half), np.abs(y) + whole)
        return SolutionBounds(proven, y.copy(), swing, reach, near, values, margins, matrix)

    def _in_chart(self, x: Array, y: Array) -> Mask:
        """Whether rotation vectors from home of these sizes are within what their series hold for."""
        if self._turns is None:
            return np.ones(len(x), dtype=bool)
        most = np.concatenate([x, y], axis=1)[:, :6]
        return np.asarray(np.linalg.norm(most @ self._turns.T, axis=1) < TURN)


def _inverted(matrix: Array) -> tuple[Array, Mask]:
    """Inverses (n, k, k), and where there are such; zeros elsewhere."""
    k = matrix.shape[1]
    good: Mask = np.asarray(np.isfinite(matrix).all(axis=(1, 2)))
    safe = np.where(good[:, None, None], matrix, np.eye(k))
    with np.errstate(all="ignore"):
        good &= np.abs(np.linalg.det(safe)) > 1e-12 * np.prod(np.linalg.norm(safe, axis=2), axis=1)
    inverse = np.linalg.inv(np.where(good[:, None, None], safe, np.eye(k)))
    return np.where(good[:, None, None], inverse, 0.0), good
