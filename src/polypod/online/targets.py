"""Jerk-limited motion of several axes to a target that may change every cycle."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from ..fastest.limits import Limits
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Kernel
from ..model.arguments import Argument, batch, check_finite
from .planner import LIMITS, RANGE, STATE, TARGET, online_step

if TYPE_CHECKING:
    from ..model import Model


class OnlineState(NamedTuple):
    """What an online motion is at an instant.

    Attributes
    ----------
    q, qdot, qddot : ndarray, shape (..., n)
        Position, speed and acceleration of the axes [m or rad, and per second].
    duration : ndarray, shape (...)
        Time [s] in which all axes come to the target, from the state that the step began with.
    outside : ndarray, shape (..., n)
        By how much the target was outside its range [m or rad]: the nearest within was taken. Zero inside.
    """

    q: Array
    qdot: Array
    qddot: Array
    duration: Array
    outside: Array


class OnlinePlan:
    """The motion from a state to a target, as ``OnlineMotion.plan`` gives it.

    Parameters
    ----------
    motion : OnlineMotion
        Axes and their limits.
    state : tuple of ndarray, shape (n,)
        Position, speed and acceleration of the axes.
    target, target_velocity : ndarray, shape (n,)
        Where the axes are to come to, and how fast that moves.

    Attributes
    ----------
    duration : float
        Time [s] in which all axes come to the target.
    durations : ndarray, shape (n,)
        Shortest time of each axis alone [s].
    outside : ndarray, shape (n,)
        By how much the target was outside its range [m or rad].
    """

    def __init__(self, motion: OnlineMotion, state: tuple[Array, ...], target: Array, target_velocity: Array) -> None:
        self._motion, self._state, self._target = motion, state, (target, target_velocity)
        found = motion.evaluate(state, *self._target, 0.0)
        self.duration = float(found["duration"])
        self.durations: Array = found["durations"]
        self.outside: Array = found["outside"]

    def at(self, time: ArrayLike) -> OnlineState:
        """States at times.

        Parameters
        ----------
        time : array_like, shape (...)
            Times [s] from the start; after ``duration`` the axes are where the target is.

        Returns
        -------
        OnlineState
            States at these times.
        """
        found = self._motion.evaluate(self._state, *self._target, time)
        return OnlineState(*(found[name] for name in OnlineState._fields))


class OnlineMotion:
    """Shortest jerk-limited motion of several axes, from any state to a target that may change every cycle.

    All axes come to the target at the same time, at rest or with the speed of a target that moves. Each is at its
    limits or slower; a state beyond limits comes back within them first, as fast as possible.

    Parameters
    ----------
    max_speed, max_acceleration, max_jerk : array_like, shape (n,)
        Largest speed, acceleration and jerk of every axis [m or rad, per second, second^2, second^3].
    lowest, highest : array_like, shape (n,), optional
        Range of targets [m or rad]; the nearest within it is taken of others, and reported. Default: no range.

    Examples
    --------
    >>> axis = OnlineMotion([1.0], [2.0], [10.0])
    >>> round(axis.plan(([0.0], [0.0], [0.0]), [4.0]).duration, 12)  # L/v + v/a + a/j
    4.7
    """

    def __init__(
        self,
        max_speed: ArrayLike,
        max_acceleration: ArrayLike,
        max_jerk: ArrayLike,
        lowest: ArrayLike | None = None,
        highest: ArrayLike | None = None,
    ) -> None:
        given = dict(zip(LIMITS, (max_speed, max_acceleration, max_jerk), strict=True))
        arrays = {name: np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in given.items()}
        try:
            (self.count,) = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        except ValueError as error:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise InputError(f"limits: one number for each axis is needed, got {shapes}") from error
        for name, array in arrays.items():
            if not (np.isfinite(array) & (array > 0)).all():
                raise InputError(f"{name}: must be finite and greater than 0, got {array.tolist()}")
        self._limits = tuple(np.broadcast_to(arrays[name], (self.count,)).copy() for name in LIMITS)
        wide = {"lowest": (-np.inf, lowest), "highest": (np.inf, highest)}
        self._range = tuple(
            _bound(name, none if value is None else value, self.count) for name, (none, value) in wide.items()
        )
        if not (self._range[0] <= self._range[1]).all():
            k = int(np.argmin(self._range[0] <= self._range[1]))
            raise InputError(
                f"lowest: must not be above highest, got {self._range[0][k]} and {self._range[1][k]} of axis {k}"
            )
        self._kernel = step_kernel(self.count)

    @classmethod
    def of_actuators(cls, model: Model, limits: Limits) -> OnlineMotion:
        """Motion of a robot's actuated coordinates, within the limits of its file.

        Parameters
        ----------
        model : Model
            Model of the robot.
        limits : fastest.Limits
            Limits that the robot file does not state, or that are to be kept instead: ``jerk``, ``speed`` and
            ``acceleration`` are used.

        Returns
        -------
        OnlineMotion
            Its axes are the actuators, its range the ranges of their joints.
        """
        found = limits.of(model)
        parts = []
        for name in ("speed", "acceleration", "jerk"):
            bound = found.get(name, np.full(len(model.actuators), np.inf))
            if not np.isfinite(bound).all():
                missing = [a.name for a, one in zip(model.actuators, bound, strict=True) if not np.isfinite(one)]
                state = "" if name == "jerk" else f", or max_{name} in the robot file"
                raise InputError(f"limits: no {name} of {', '.join(missing)}; give Limits({name}=...){state}")
            parts.append(bound)
        low, high = actuator_ranges(model)
        return cls(parts[0], parts[1], parts[2], low, high)

    def plan(
        self, state: tuple[ArrayLike, ArrayLike, ArrayLike], target: ArrayLike, target_velocity: ArrayLike = 0.0
    ) -> OnlinePlan:
        """The motion from a state to a target.

        Parameters
        ----------
        state : tuple of array_like, shape (n,)
            Position, speed and acceleration of the axes.
        target : array_like, shape (n,)
            Where the axes are to come to rest [m or rad].
        target_velocity : array_like, shape (n,), optional
            Speed at which the target moves: axes that have come to it move with it. Default: it rests.

        Returns
        -------
        OnlinePlan
            Duration, and states at any time.
        """
        q, qdot, qddot = (np.array(part, dtype=np.float64) for part in state)
        moves = np.broadcast_to(np.asarray(target_velocity, dtype=np.float64), (self.count,))
        return OnlinePlan(self, (q, qdot, qddot), np.array(target, dtype=np.float64), moves)

    def step(
        self,
        state: tuple[ArrayLike, ArrayLike, ArrayLike],
        target: ArrayLike,
        period: ArrayLike,
        target_velocity: ArrayLike = 0.0,
    ) -> OnlineState:
        """The state one period later, on the shortest motion to the target of this cycle.

        Parameters
        ----------
        state : tuple of array_like, shape (..., n)
            Position, speed and acceleration of the axes: an ``OnlineState[:3]``.
        target : array_like, shape (..., n)
            Where the axes are to come to rest [m or rad].
        period : array_like, shape (...)
            Time from this cycle to the next [s].
        target_velocity : array_like, shape (..., n), optional
            Speed at which the target moves. Default: it rests.

        Returns
        -------
        OnlineState
            The next state; ``duration`` counts from this one.
        """
        moves = np.broadcast_to(np.asarray(target_velocity, dtype=np.float64), np.shape(target))
        found = self.evaluate(state, target, moves, period)
        return OnlineState(*(found[name] for name in OnlineState._fields))

    def evaluate(
        self, state: tuple[ArrayLike, ...], target: ArrayLike, target_velocity: ArrayLike, time: ArrayLike
    ) -> dict[str, Array]:
        """All that a step computes, by name; leading axes are a batch.

        Parameters
        ----------
        state : tuple of array_like, shape (..., n)
            Position, speed and acceleration of the axes.
        target, target_velocity : array_like, shape (..., n)
            Where the axes are to come to, and how fast that moves.
        time : array_like, shape (...)
            Time after the state [s].

        Returns
        -------
        dict of str to ndarray
            ``q``, ``qdot``, ``qddot``, ``duration``, ``durations``, ``outside``, ``converged``.
        """
        n = (self.count,)
        names = (*STATE, *TARGET, *LIMITS, *RANGE)
        values = (*state, target, target_velocity, *self._limits, *self._range)
        arguments = [Argument(name, value, n) for name, value in zip(names, values, strict=True)]
        arguments.append(Argument("time", time, ()))
        rows = batch(arguments)
        finite = [k for k, argument in enumerate(arguments) if argument.name not in RANGE]
        check_finite(rows._replace(rows=tuple(rows.rows[k] for k in finite)), [arguments[k] for k in finite])
        moves = rows.rows[names.index("target_velocity")]
        if (np.abs(moves) >= self._limits[0]).any():
            k = int(np.argmax((np.abs(moves) >= self._limits[0]).any(axis=0)))
            raise InputError(
                f"target_velocity: the target must be slower than max_speed, {self._limits[0][k]:g}, got "
                f"{np.abs(moves).max(axis=0)[k]:g} of axis {k}"
            )
        if (rows.rows[-1] < 0).any():
            raise InputError(f"time: must not be negative, got {rows.rows[-1].min():g} s")
        results = self._kernel(*rows.rows)
        return {p.name: rows.restore(one) for p, one in zip(self._kernel.outputs, results, strict=True)}


@cache
def step_kernel(count: int) -> Kernel:
    """The compiled step of ``count`` axes."""
    return Kernel(lambda: online_step(count), CacheKey.of("online step", str(count), fingerprint("online", "symbols")))


def actuator_ranges(model: Model) -> tuple[Array, Array]:
    """Lowest and highest actuated coordinates of a robot's file; infinite where it states none.

    A range is that of an actuated coordinate where both have the same values, whatever their joints are called.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    low, high : ndarray, shape (n,)
        Lowest and highest coordinates [m or rad].
    """
    low, high = np.full(len(model.actuators), -np.inf), np.full(len(model.actuators), np.inf)
    ranges = model.robot_limits.of_kind("range")
    if not ranges:
        return low, high
    home = model.robot.home.matrix
    q = np.asarray(model.inverse_kinematics(home))
    near = q + 1e-3 * np.random.default_rng(1).uniform(-1, 1, (8, len(q))) * np.array(
        [model.size if a.unit == "m" else 1.0 for a in model.actuators]
    )
    poses = np.concatenate([home[None], model.forward_kinematics(near, home, errors="nan")])
    poses = poses[np.isfinite(poses).all(axis=(1, 2))]
    report = model.joint_ranges(poses)
    coordinates = np.asarray(model.inverse_kinematics(poses))
    for one in ranges:
        same = np.isclose(report.value[:, [one.index]], coordinates, rtol=0, atol=1e-9 * max(model.size, 1.0))
        for k in np.flatnonzero(same.all(axis=0)):
            if one.where == model.actuators[k].leg:
                low[k], high[k] = max(low[k], one.low), min(high[k], one.high)
    return low, high


def _bound(name: str, value: ArrayLike, count: int) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)) or np.isnan(array).any():
        raise InputError(f"{name}: one number, or one for each of {count} axes is needed, got {array.tolist()}")
    return np.broadcast_to(array, (count,)).copy()
