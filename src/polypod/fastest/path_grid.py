"""Places along a path at which the limits are kept, and what a robot needs there as a function of speed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import StateError
from ..mechanism.acting_elements import has_dampers
from ..motion import ArcLengthPath, Motion, PathSample, Trajectory, Wrench
from .sharing import of_least_norm

if TYPE_CHECKING:
    from ..model import Model

_LEAST, _FEW = 16, 2
"""Intervals of a smooth part at least, and where there are very many parts."""
_TURN, _HALVINGS = 0.35, 30
"""Largest angle [rad] by which a path turns in an interval, and how often one is halved for it: to rounding."""
_JUDGED_AT = 4000
"""Places at which limits are judged, about: quarters of 1,000 intervals, finer parts of fewer, middles of many."""


@dataclass(frozen=True)
class PathGrid:
    """Grid of N + 1 points on a path.

    Where two smooth parts meet there are two points with no step between them, one for each side.

    Attributes
    ----------
    path : ArcLengthPath
        The path.
    length : ndarray, shape (N + 1,)
        Arc length at the grid points [m].
    step : ndarray, shape (N,)
        Length of the intervals [m].
    stops : ndarray of bool, shape (N + 1,)
        Where the speed must be zero.
    samples : PathSample
        The path at the grid points.
    shares : ndarray, shape (s + 2,)
        Shares of an interval, evenly from 0 to 1, at which limits are checked.
    between : PathSample
        The path at the points (s, N) inside the intervals.
    along : Trajectory
        The motion that the path comes from.
    wrench : Wrench or None
        External wrench along it.
    """

    path: ArcLengthPath
    length: Array
    step: Array
    stops: NDArray[np.bool_]
    samples: PathSample
    shares: Array
    between: PathSample
    along: Trajectory
    wrench: Wrench | None

    @staticmethod
    def of(path: ArcLengthPath, points: int, along: Trajectory, wrench: Wrench | None) -> PathGrid:
        """Grid of about so many intervals, spread evenly over the path, with at least a few on each smooth part.

        Intervals in which the path turns much are halved until none does.

        Parameters
        ----------
        path : ArcLengthPath
            The path.
        points : int
            Number of intervals.
        along : Trajectory
            The motion that the path comes from.
        wrench : Wrench or None
            External wrench along it.

        Returns
        -------
        PathGrid
            The grid.
        """
        spans = np.diff(path.breakpoints)
        least = max(_FEW, min(_LEAST, points // (2 * len(spans))))
        counts = np.maximum(np.ceil(points * spans / path.length - 1e-9).astype(int), least)
        piece = np.repeat(np.arange(len(spans)), counts + 1)
        share = np.arange(len(piece)) - (np.cumsum(counts + 1) - counts - 1)[piece]
        length = path.breakpoints[piece] + spans[piece] * share / counts[piece]
        stops = ((share == 0) & path.stops[piece]) | ((share == counts[piece]) & path.stops[piece + 1])
        samples = path.evaluate_piece(piece, length)
        for number in range(_HALVINGS + 1):
            sharp = np.flatnonzero((_turns(path, samples) > _TURN) & (piece[1:] == piece[:-1]))
            if not len(sharp):
                break
            if number == _HALVINGS:  # as good as corners
                stops[sharp] = True
                break
            half = (length[sharp] + length[sharp + 1]) / 2
            new = path.evaluate_piece(piece[sharp], half)
            samples = PathSample(
                *(np.insert(old, sharp + 1, more, axis=0) for old, more in zip(samples, new, strict=True))
            )
            length, stops = np.insert(length, sharp + 1, half), np.insert(stops, sharp + 1, False)
            piece = np.insert(piece, sharp + 1, piece[sharp])
        count = len(length) - 1
        shares = np.linspace(0.0, 1.0, 2 * max(1, round(_JUDGED_AT / 2 / count)) + 1)
        inside = length[:-1] + shares[1:-1, None] * np.diff(length)
        pieces = np.broadcast_to(piece[:-1], inside.shape)
        between = path.evaluate_piece(pieces.ravel(), inside.ravel())
        return PathGrid(
            path, length, np.where(piece[1:] == piece[:-1], np.diff(length), 0.0), stops, samples, shares,
            PathSample(*(part.reshape(*inside.shape, *part.shape[1:]) for part in between)), along, wrench,
        )  # fmt: skip

    def resting_at_bends(self) -> PathGrid:
        """The grid with stops where the path's curvature jumps: at any speed the accelerations would jump there.

        Returns
        -------
        PathGrid
            The grid.
        """
        meeting = np.flatnonzero(self.step == 0)  # two places, one for each side
        mark = np.abs(self.path.breakpoints[:, None] - self.length[meeting]).argmin(axis=0)
        bends = meeting[self.path.bends[mark]]
        stops = self.stops.copy()
        stops[bends] = stops[bends + 1] = True
        return replace(self, stops=stops)

    def times(self, x: Array) -> Array:
        """When each grid point is reached.

        Parameters
        ----------
        x : ndarray, shape (N + 1,)
            Squares of the speeds at the grid points [m^2/s^2].

        Returns
        -------
        ndarray, shape (N + 1,)
            Times [s].
        """
        speed = np.sqrt(x)
        both = speed[1:] + speed[:-1]
        spent = np.where(self.step > 0, 2 * self.step / np.where(both > 0, both, 1.0), 0.0)
        return np.concatenate([[0.0], np.cumsum(spent)])

    def time_inside(self, x: Array, interval: int, share: float) -> float:
        """How long a share of an interval takes.

        Parameters
        ----------
        x : ndarray, shape (N + 1,)
            Squares of the speeds at the grid points [m^2/s^2].
        interval : int
            Index of the interval.
        share : float
            Share of its length, 0 to 1.

        Returns
        -------
        float
            Time [s].
        """
        here, there = x[interval], x[interval] + share * (x[interval + 1] - x[interval])
        both = float(np.sqrt(here) + np.sqrt(there))
        return float(2 * share * self.step[interval]) / both if both > 0 else 0.0

    def accelerations(self, x: Array) -> Array:
        """Constant acceleration along the path in each interval: (x_{k+1} - x_k)/(2 step).

        Parameters
        ----------
        x : ndarray, shape (N + 1,)
            Squares of the speeds at the grid points [m^2/s^2].

        Returns
        -------
        ndarray, shape (N,)
            Accelerations [m/s^2]; 0 where there is no step.
        """
        return np.where(self.step > 0, np.diff(x) / (2 * np.where(self.step > 0, self.step, 1.0)), 0.0)


def _turns(path: ArcLengthPath, samples: PathSample) -> Array:
    """Angles (N,) [rad], about, by which the tangent turns between places, turns counted as lengths."""
    change = np.diff(samples.tangent, axis=0)
    change[:, 3:] *= path.turn_length
    return np.asarray(np.linalg.norm(change, axis=1))


class PathDynamics(NamedTuple):
    """What a robot needs at places (..., n), without friction: affine in the acceleration u and the squared speed x.

    Dampers of elements count as friction here. force = u force_u + x force_x + force_0; speed = sqrt(x) rate;
    acceleration = u rate + x rate_x. Reactions are the joints' forces (..., joints, 3) in the same three parts, None if
    they have no limit.
    """

    force_u: Array
    force_x: Array
    force_0: Array
    rate: Array
    rate_x: Array
    reaction: tuple[Array, Array, Array] | None


def path_dynamics(model: Model, samples: PathSample, wrench: Array | None, reactions: bool) -> PathDynamics:
    """Three states a place, all in one call: at rest, accelerating at rest, and at unit speed.

    With dampers the last is the mean of both directions, in which what is viscous cancels.
    """
    count, ways = len(samples.time), (1.0, -1.0) if has_dampers(model.kernels.mechanism) else (1.0,)
    states, still = 2 + len(ways), np.zeros((count, 6))
    pose = np.concatenate([samples.pose] * states)
    twist = np.concatenate([still, still, *(way * samples.tangent for way in ways)])
    acceleration = np.concatenate([still, samples.tangent, *(samples.curvature for _ in ways)])
    wrench = None if wrench is None else np.tile(wrench, (states, 1))

    def parts(found: Array) -> tuple[Array, Array, Array]:
        at_rest, pushing, *moving = found.reshape(states, count, *found.shape[1:])
        return pushing - at_rest, sum(moving) / len(ways) - at_rest, at_rest

    with name_motion_time(samples):
        force = parts(
            model.inverse_dynamics(pose, twist, acceleration, wrench, False, errors="raise", **of_least_norm(model))
        )
    reaction = parts(joint_forces(model, pose, twist, acceleration, wrench, False)) if reactions else None
    return PathDynamics(
        *force,
        model.rates(samples.pose, samples.tangent),
        model.accelerations(samples.pose, samples.tangent, samples.curvature), reaction,
    )  # fmt: skip


def wrench_at(wrench: Wrench, samples: PathSample) -> Array:
    """External wrenches (..., 6) at places: each is that of the given motion when it is there."""
    return wrench.at(Motion(samples.time, samples.pose, samples.tangent, samples.curvature))


def joint_forces(
    model: Model, pose: Array, twist: Array, acceleration: Array, wrench: Array | None, friction: bool
) -> Array:
    """Forces (..., joints, 3) in all joints; those that statics leaves open count as zero."""
    found = model.reactions(pose, twist, acceleration, wrench, friction, errors="raise", **of_least_norm(model))
    forces = np.stack([joint.force for leg in found.legs.values() for joint in leg.values()], axis=-2)
    return np.nan_to_num(forces, copy=False, nan=0.0)


@contextmanager
def name_motion_time(samples: PathSample) -> Iterator[None]:
    """A state without an answer is reported with the motion's own time."""
    try:
        yield
    except StateError as error:
        time = float(samples.time[int(error.index[0]) % len(samples.time)])
        why = error.reasons[0] if error.reasons else str(error)
        message = f"trajectory: the robot cannot go where the motion is at t = {time:.6g} s: {why}"
        raise StateError(message, error.index, error.reasons, time=time) from error
