"""The path of a motion by its length: where the platform goes, whatever the speed.

The length of a path counts turns as well, dl = sqrt(|v|^2 + r^2 |omega|^2) dt with a ``turn_length`` r [m]: a turn by
one radian is as long as r. A motion along it at speed w = ldot has twist = w tangent and acceleration = wdot tangent +
w^2 curvature; tangent and curvature belong to the path, not to the motion it was taken from. Where that motion rests
(every pose of a motion through poses), the path goes on; where its tangent jumps, a robot must stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError, StateError
from ..lazy import lazy
from .checks import distance_to
from .contract import INTERVALS, Motion, Trajectory

_CELLS, _LEAST_CELLS, _MAX_CELLS = 1024, 4, 200_000
"""Cells of the table of lengths in all, and of a piece at least; a cell's length is exact to its fourth power. More
where a harmonic path has many periods: those may need as many as the last at most."""
_SAME_TIME = 1e-9
"""Share of the duration by which times are apart at least that are two."""
_PASSES = 20
"""How often corners inside of pieces are looked for: each pass finds one at least between two samples."""
_STILL = 1e-3
"""Share of a piece's largest speed below which its tangent is taken further inside: it is 0/0 where motions rest."""
_BEND = 1e-2
"""Largest angle [rad] between the tangents on both sides of a point that is taken for a smooth one."""
_SAME_CURVATURE = 1e-5
"""Part of the largest curvature, or of a tenth of 1/length, by which it may differ on both sides of a smooth point."""
_TURN_BACK = 0.5
"""Angle [rad] between tangents half a cell apart above which there is a corner between them."""


class PathSample(NamedTuple):
    """Points of a path.

    Attributes
    ----------
    time : ndarray, shape (...)
        Time of the original motion [s].
    pose : ndarray, shape (..., 4, 4)
        Pose of {P} in {B}.
    tangent : ndarray, shape (..., 6)
        Derivative of the pose by arc length, as a twist in base axes.
    curvature : ndarray, shape (..., 6)
        Derivative of the tangent by arc length [1/m].
    """

    time: Array
    pose: Array
    tangent: Array
    curvature: Array


@dataclass(frozen=True)
class _Pieces:
    """Smooth parts of a path: times (p, 2) of the motion, those just inside where tangents are read, and lengths.

    Beyond the inner times a motion is too slow to tell where it goes: ``at_inner`` are the lengths (p, 2) there, and
    ``change`` the rates (p, 2, 6) of the curvature by the length, with which tangents go on from there.
    """

    time: Array
    inner: Array
    length: Array
    at_inner: Array
    change: Array


class ArcLengthPath:
    """The path of a trajectory as a function of arc length: dl = sqrt(|v|^2 + r^2 |omega|^2) dt.

    Times at which the motion rests have no length.

    Parameters
    ----------
    trajectory : Trajectory
        The motion.
    turn_length : float
        Length r by which rotations count [m/rad].

    Attributes
    ----------
    length : float
        Total arc length [m].
    breakpoints : ndarray, shape (p + 1,)
        Lengths at which smooth parts meet [m].
    stops : ndarray of bool, shape (p + 1,)
        Where the tangent jumps, so that the speed must be zero.
    bends : ndarray of bool, shape (p + 1,)
        Where the curvature jumps; with limited jerk the speed must be zero there too.

    Examples
    --------
    >>> import polypod as pp
    >>> here = pp.motion.Line(start=[0, 0, 1, 0, 0, 0], end=[0.3, 0.4, 1, 0, 0, 0], duration=2, law="quintic")
    >>> path = ArcLengthPath(pp.motion.Euler(path=here, convention="ZYX"), turn_length=0.1)
    >>> round(path.length, 12), path.at(0.25).tangent[:2].round(12)
    (0.5, array([0.6, 0.8]))
    """

    def __init__(self, trajectory: Trajectory, turn_length: float) -> None:
        if not (np.isfinite(turn_length) and turn_length > 0):
            raise InputError(f"turn_length: must be greater than 0 m, got {turn_length}")
        self.trajectory, self.turn_length = trajectory, turn_length
        self._weights = np.array([1.0, 1.0, 1.0, *[turn_length**2] * 3])
        edges = np.unique(np.clip(trajectory.pieces[:, :2], 0.0, trajectory.duration))
        for _ in range(_PASSES):  # a corner inside a piece becomes an edge, and may have hidden another
            corners = self._tabulate(edges)
            # next to an edge a path may turn sharply without another corner
            corners = corners[distance_to(edges, corners) > _SAME_TIME * trajectory.duration]
            if not len(corners):
                break
            edges = np.union1d(edges, corners)
        else:
            raise InputError(f"trajectory: corners too close to be distinguished at t = {corners[0]:.6g} s")
        self.length = float(self._lengths[-1])
        if not self.length > 0:
            raise InputError("trajectory: the platform does not move, so there is no path to follow", code="no_motion")
        self._join_pieces(edges)

    def _speed(self, motion: Motion) -> Array:
        return np.asarray(np.sqrt(motion.twist**2 @ self._weights))

    def _cells(self, edges: Array) -> NDArray[np.intp]:
        """Numbers of cells (p,) between ``edges`` (p + 1,): a share of all, and as many as a harmonic piece needs."""
        spans = np.diff(edges)
        cells = np.maximum(np.ceil(_CELLS * spans / spans.sum()), _LEAST_CELLS)
        pieces, middle = self.trajectory.pieces, (edges[1:] + edges[:-1]) / 2
        harmonic = pieces[pieces[:, 2] > INTERVALS]
        if harmonic[:, 2].sum() > _MAX_CELLS:
            raise InputError(
                f"trajectory: its periods need {harmonic[:, 2].sum():.7g} cells; the limit is {_MAX_CELLS}"
            )
        for start, end, least in harmonic:
            inside = (middle > start) & (middle < end)
            cells = np.maximum(cells, np.where(inside, np.ceil(least * spans / (end - start)), 0))
        return cells.astype(int)

    def _tabulate(self, edges: Array) -> Array:
        """Tabulate lengths at the cells' ends and speeds within them; the times of corners inside of pieces."""
        spans, cells = np.diff(edges), self._cells(edges)
        piece = np.repeat(np.arange(len(spans)), 2 * cells + 1)
        first = np.concatenate([[0], np.cumsum(2 * cells + 1)])
        share = (np.arange(first[-1]) - first[piece]) / (2 * cells[piece])
        # just inside its piece: where pieces meet in a jump, each has its own speed
        time = edges[piece] + np.clip(share, 1e-12, 1 - 1e-12) * spans[piece]
        motion = self.trajectory.at(time)
        speed = self._speed(motion)
        lost = ~np.isfinite(speed)
        if lost.any():
            when = float(time[int(lost.argmax())])
            reason = f"trajectory: the robot cannot go where the motion is at t = {when:.6g} s"
            raise StateError(reason, np.array([0]), [reason], time=when)
        of = np.repeat(np.arange(len(spans)), cells)  # the piece of each cell, and its place there
        place = np.arange(len(of)) - (np.cumsum(cells) - cells)[of]
        begin = first[of] + 2 * place
        self._width = (spans / cells)[of]
        self._starts = edges[of] + self._width * place
        self._top = np.maximum.reduceat(speed, first[:-1])
        rise = (motion.twist * motion.acceleration) @ self._weights / np.where(speed > 0, speed, 1.0)
        self._curve = _quartic(*(speed[begin + k] for k in range(3)), *(rise[begin + k] * self._width for k in (0, 2)))
        self._curve *= self._width
        self._lengths = np.concatenate([[0.0], np.cumsum(self._curve.sum(axis=0))])
        self._ends = np.concatenate([[0], np.cumsum(cells)])
        tangent = motion.twist * np.sqrt(self._weights) / np.where(speed > 0, speed, 1.0)[:, None]
        moving = np.flatnonzero(speed > 1e-9 * speed.max(initial=0.0))
        one, other = moving[:-1], moving[1:]
        turned = (tangent[one] * tangent[other]).sum(axis=1) < np.cos(_TURN_BACK)
        turned &= piece[one] == piece[other]
        return self._rests(time[one[turned]], time[other[turned]])

    def _rests(self, low: Array, high: Array) -> Array:
        """Times (k,) between ``low`` and ``high`` at which the speed is least, where d(speed^2)/dt changes its sign."""
        for _ in range(60 if len(low) else 0):
            middle = (low + high) / 2
            motion = self.trajectory.at(middle)
            slower = (motion.twist * motion.acceleration) @ self._weights < 0
            low, high = np.where(slower, middle, low), np.where(slower, high, middle)
        return (low + high) / 2

    def _join_pieces(self, edges: Array) -> None:
        """The smooth parts that have a length, and where the tangent jumps between them."""
        lengths = self._lengths[self._ends]
        kept = np.diff(lengths) > 1e-12 * self.length
        time = np.column_stack([edges[:-1], edges[1:]])[kept]
        inner = self._inner_times(time, self._top[kept])
        further = 2 * inner - time
        at_inner, at_further = self._length_at(inner), self._length_at(further)
        apart = np.where(at_further != at_inner, at_further - at_inner, np.inf)[..., None]
        change = (self._tangents(further)[1] - self._tangents(inner)[1]) / apart
        self._pieces = _Pieces(time, inner, np.column_stack([lengths[:-1], lengths[1:]])[kept], at_inner, change)
        self.breakpoints = np.append(self._pieces.length[:, 0], self.length)
        ends = self._tangents(self._pieces.inner)[0] * np.sqrt(self._weights)
        bend = np.linalg.norm(ends[1:, 0] - ends[:-1, 1], axis=-1)
        self.stops = np.concatenate([[True], bend > _BEND, [True]])

    @lazy
    def bends(self) -> NDArray[np.bool_]:
        """Where the curvature jumps though the tangent does not (p + 1,): there any speed makes accelerations jump.

        What is carried on from where the motion is fast enough to tell its curvature is in doubt by as much as it
        changes that far.
        """
        parts, numbers = self._pieces, np.arange(len(self._pieces.time))
        weights = np.sqrt(self._weights)
        at = np.stack([self.evaluate_piece(numbers, parts.length[:, k]).curvature * weights for k in (0, 1)], axis=1)
        doubt = np.linalg.norm(parts.change * weights, axis=-1) * np.abs(parts.at_inner - parts.length)
        jump = np.linalg.norm(at[1:, 0] - at[:-1, 1], axis=-1)
        largest = float(np.linalg.norm(at, axis=-1).max(initial=0.0))
        jumps = jump > _SAME_CURVATURE * max(largest, 0.1 / self.length) + doubt[1:, 0] + doubt[:-1, 1]
        return np.asarray(np.concatenate([[False], jumps, [False]]) & ~self.stops)

    def _inner_times(self, time: Array, top: Array) -> Array:
        """Times (p, 2) next to the ends of pieces at which they move fast enough to tell where to."""
        shares = np.array([1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1])
        span = time[:, 1] - time[:, 0]
        tried = np.stack([time[:, :1] + span[:, None] * shares, time[:, 1:] - span[:, None] * shares], axis=1)
        fast = self._speed(self.trajectory.at(tried)) >= _STILL * top[:, None, None]
        chosen = np.where(fast.any(axis=-1), fast.argmax(axis=-1), len(shares) - 1)
        return np.asarray(np.take_along_axis(tried, chosen[..., None], axis=-1)[..., 0])

    def _tangents(self, time: Array) -> tuple[Array, Array, Array]:
        """Tangent, curvature and pose at times of the motion at which it moves."""
        motion = self.trajectory.at(time)
        speed = self._speed(motion)[..., None]
        tangent = motion.twist / speed
        faster = ((motion.acceleration * tangent) @ self._weights)[..., None]
        return tangent, (motion.acceleration - faster * tangent) / speed**2, motion.pose

    def time(self, length: Array) -> Array:
        """Time of the original motion at arc lengths.

        Parameters
        ----------
        length : ndarray, shape (...)
            Arc lengths [m].

        Returns
        -------
        ndarray, shape (...)
            Times [s].
        """
        flat = np.clip(length, 0.0, self.length)
        cell = np.clip(np.searchsorted(self._lengths, flat, "right") - 1, 0, len(self._width) - 1)
        curve, left = self._curve[:, cell], flat - self._lengths[cell]
        total = curve.sum(axis=0)
        z = np.where(total > 0, left / np.where(total > 0, total, 1.0), 0.0)
        low, high = np.zeros_like(z), np.ones_like(z)
        for _ in range(60):  # Newton's steps within a bracket; a few, but for cells that start at rest
            value, slope = _polynomial(curve, z)
            excess = value - left
            low, high = np.where(excess <= 0, z, low), np.where(excess >= 0, z, high)
            step = z - excess / np.where(slope > 0, slope, 1.0)
            new = np.where((slope > 0) & (step > low) & (step < high), step, (low + high) / 2)
            done = np.abs(new - z).max(initial=0.0) < 1e-14
            z = new
            if done:
                break
        return np.asarray(self._starts[cell] + z * self._width[cell])

    def _length_at(self, time: Array) -> Array:
        """Lengths (...) at times (...) of the motion."""
        cell = np.clip(np.searchsorted(self._starts, time, "right") - 1, 0, len(self._width) - 1)
        return (
            self._lengths[cell] + _polynomial(self._curve[:, cell], (time - self._starts[cell]) / self._width[cell])[0]
        )

    def at(self, length: Array | float) -> PathSample:
        """The path at arc lengths; where smooth parts meet, that of the later part.

        Parameters
        ----------
        length : array_like, shape (...)
            Arc lengths [m].

        Returns
        -------
        PathSample
            Pose, tangent and curvature.
        """
        where = np.asarray(length, dtype=np.float64)
        return self.evaluate_piece(self.piece(where), where)

    def piece(self, length: Array) -> NDArray[np.intp]:
        """Smooth part in which each arc length lies; the later one where two meet.

        Parameters
        ----------
        length : ndarray, shape (...)
            Arc lengths [m].

        Returns
        -------
        ndarray of int, shape (...)
            Indices of the parts.
        """
        return np.clip(np.searchsorted(self.breakpoints, length, "right") - 1, 0, len(self._pieces.time) - 1)

    def evaluate_piece(self, piece: NDArray[np.intp], length: Array) -> PathSample:
        """The path at arc lengths of given smooth parts.

        Parameters
        ----------
        piece : ndarray of int, shape (...)
            Indices of the parts.
        length : ndarray, shape (...)
            Arc lengths [m].

        Returns
        -------
        PathSample
            Pose, tangent and curvature.
        """
        time, parts = self.time(length), self._pieces
        inner = np.clip(time, parts.inner[piece, 0], parts.inner[piece, 1])
        tangent, curvature, pose = self._tangents(inner)
        moved = inner != time
        if moved.any():
            pose[moved] = self.trajectory.at(time[moved]).pose
            place = piece[moved], (time > inner)[moved].astype(int)
            past, change = (length[moved] - parts.at_inner[place])[:, None], parts.change[place]
            tangent[moved] += past * (curvature[moved] + past * change / 2)
            curvature[moved] += past * change
        return PathSample(time, pose, tangent, curvature)


def _quartic(start: Array, middle: Array, end: Array, rise: Array, last_rise: Array) -> Array:
    """Coefficients (5, n) of z, ..., z^5 of the integral of the quartic on 0..1 with these values and end
    derivatives."""
    d, e, f = end - start - rise, last_rise - rise, middle - start - rise / 2
    fourth = 16 * f - 8 * d + 2 * e
    return np.stack([start, rise / 2, (3 * d - e + fourth) / 3, (e - 2 * d - 2 * fourth) / 4, fourth / 5])


def _polynomial(coefficients: Array, z: Array) -> tuple[Array, Array]:
    """Values of a polynomial without constant part, and its derivatives, by Horner's rule."""
    value, slope = np.zeros_like(z), np.zeros_like(z)
    for coefficient in coefficients[::-1]:
        slope = slope * z + value + coefficient
        value = (value + coefficient) * z
    return value, slope
