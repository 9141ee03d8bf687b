"""Solutions y of E(x, y) = 0 over boxes of x, proven to be there and to be alone: Krawczyk's operator.

With y0 that solves E in the middle xm of a box, its derivatives S there, C near E_y^-1, and bounds over the box,

    b + G r < r,   b = |C E(x, y0 + S (x - xm))|,   G = |1 - C E_y(x, y0 + S (x - xm) +- r)|

proves that to every x of the box there is exactly one y within r of y0 + S (x - xm), and that it is within b + G r of
it: Krawczyk's operator (1969) for e of y = y0 + S (x - xm) + e. Both b and r are of second order in the box's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..workspace.pose_coordinates import PoseCoordinates
from .displaced import TURN
from .equations import bounds_kernel, derivatives_kernel, turning_rows, unknown_count
from .legs import Chart
from .verdict import Mask

_SLACK = 1e-12
"""What sums of some dozens of products may have lost, relative to their terms."""
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
