"""A flexible robot along a given motion of its platform frame: forces, and how the platform bends meanwhile.

The inverse model gives the elastic accelerations (Long, Fig. 3 with the desired state), so that the elastic coordinates
are all there is to integrate: classical RK4 with steps that the fastest mode of the robot allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, StateError
from ..kernels import Call
from ..legs.contract import SMALLEST_MARGIN
from ..trajectories import Motion, Trajectory

if TYPE_CHECKING:
    from .model import FlexibleModel

Array = NDArray[np.float64]
# RK4 is stable to 2.8 and off by (omega h)^5/120 of a mode's amplitude a step.
_PHASE = 0.4
MOST_STEPS = 5_000_000
_BLOCK = 4096


class FlexiblePath(NamedTuple):
    """Along a motion: elastic coordinates, rates and accelerations (n, N), actuator forces (n, legs), step [s]."""

    motion: Motion
    elastic: Array
    elastic_rate: Array
    elastic_acceleration: Array
    force: Array
    step: float


def follow(
    model: FlexibleModel,
    trajectory: Trajectory,
    times: ArrayLike,
    wrench: Callable[[Motion], Array] | None = None,
    friction: bool = True,
    elastic: ArrayLike | None = None,
    elastic_rate: ArrayLike | None = None,
    step: float | None = None,
    progress: Callable[[float], None] = lambda time: None,
) -> FlexiblePath:
    """See :meth:`polypod.FlexibleModel.follow`."""
    t = np.asarray(times, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        raise InputError(f"times: at least two growing times [s] are needed, got shape {t.shape}")
    motion = trajectory.at(t)
    loads = _wrenches(model, motion, wrench)
    bent = _start(model, motion, loads, elastic)
    rate = np.zeros_like(bent) if elastic_rate is None else _row("elastic_rate", elastic_rate, len(bent))
    longest = float(np.diff(t).max())
    most = _steps_between(model, motion, loads, bent, friction, longest) if step is None else _given(step, longest)
    if most * (len(t) - 1) > MOST_STEPS:
        raise InputError(
            f"times: the platform's fastest mode asks for {most * (len(t) - 1):.3g} steps, at most {MOST_STEPS:.0e}; "
            "leave out the fastest modes, or give a longer step"
        )
    stepper = _Stepper(model, trajectory, wrench, friction, most)
    rows = [np.concatenate([bent, rate])]
    block = max(1, _BLOCK // most)
    for begin in range(0, len(t) - 1, block):
        ends = t[begin : begin + block + 1]
        rows += stepper.through(ends, rows[-1])
        progress(float(ends[-1]))
    found, n = np.array(rows), len(bent)
    q, qdot = found[:, :n], found[:, n:]
    at = motion.pose, motion.twist, q, qdot, motion.acceleration
    forces = model.inverse_dynamics(*at, loads, friction, errors="raise")
    return FlexiblePath(motion, q, qdot, forces.elastic_acceleration, forces.force, longest / most)


class _Stepper:
    """Steps of the elastic coordinates y = (q, qdot) along a motion, ``most`` between two samples."""

    def __init__(
        self,
        model: FlexibleModel,
        trajectory: Trajectory,
        wrench: Callable[[Motion], Array] | None,
        friction: bool,
        most: int,
    ) -> None:
        self._model, self._trajectory, self._wrench, self._most = model, trajectory, wrench, most
        self._call = Call(model.kernel("path_step", friction))
        self._size = float(np.mean(np.linalg.norm(model.modes.attachments, axis=1))) or 1.0

    def through(self, ends: Array, y: Array) -> list[Array]:
        """y at ``ends[1:]``; the motion at all stages between is computed at once."""
        most = self._most
        share = np.arange(2 * most) / (2 * most)
        stages = np.append((ends[:-1, None] + np.diff(ends)[:, None] * share).ravel(), ends[-1])
        motion = self._trajectory.at(stages)
        loads = _wrenches(self._model, motion, self._wrench)
        result = []
        for k, h in enumerate(np.diff(ends) / most):
            for i in range(2 * most * k, 2 * most * (k + 1), 2):
                at = slice(i, i + 3)
                after, quality = self._call(motion.pose[at], motion.twist[at], motion.acceleration[at], loads[at], y, h)
                if not quality[0] > SMALLEST_MARGIN:
                    raise _lost(stages[i], "the robot is out of reach, singular, or jammed by friction there")
                y = after.copy()
            self._check(float(ends[k + 1]), y)
            result.append(y)
        return result

    def _check(self, time: float, y: Array) -> None:
        bend = float(np.linalg.norm(self._model.modes.attachment_shapes @ y[: len(y) // 2], axis=-1).max())
        if not bend < self._size:
            raise _lost(
                time,
                f"the platform bends by {bend:.3g} m, more than its own size: with its frame led along this motion the "
                "shape runs away; the platform is too soft for its load, or buckles",
            )


def _lost(time: float, reason: str) -> StateError:
    return StateError(f"no answer beyond t = {time:.6g} s: {reason}", np.array([0]), [reason], time=float(time))


def _wrenches(model: FlexibleModel, motion: Motion, wrench: Callable[[Motion], Array] | None) -> Array:
    if wrench is None:
        return np.zeros((len(motion.time), 6))
    loads = np.ascontiguousarray(wrench(motion), dtype=np.float64)
    model.check_wrench(loads)
    return loads


def _start(model: FlexibleModel, motion: Motion, loads: Array, elastic: ArrayLike | None) -> Array:
    if elastic is not None:
        return _row("elastic", elastic, model.modes.count)
    return model.steady_shape(motion.pose[0], motion.twist[0], motion.acceleration[0], loads[0]).elastic


def _row(name: str, value: ArrayLike, count: int) -> Array:
    row = np.array(value, dtype=np.float64)
    if row.shape != (count,) or not np.isfinite(row).all():
        raise InputError(f"{name}: {count} finite numbers are needed, got shape {row.shape}")
    return row


def _given(step: float, longest: float) -> int:
    if not (np.isfinite(step) and step > 0):
        raise InputError(f"step: a time greater than 0 s is needed, got {step}")
    return max(1, int(np.ceil(longest / step - 1e-9)))


def _steps_between(
    model: FlexibleModel, motion: Motion, loads: Array, bent: Array, friction: bool, longest: float
) -> int:
    """RK4 steps between two samples, from the elastic equations linearised at a few states of the motion.

    d(q'')/dq and d(q'')/dqdot by central differences; the spectral radius of the first-order system sets the step.
    """
    n = len(bent)
    chosen = np.unique(np.linspace(0, len(motion.time) - 1, 5).astype(int))
    reach = 1e-6 * max(1.0, float(np.abs(bent).max()))
    offsets = reach * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    fastest = 0.0
    for k in chosen.tolist():
        states = np.concatenate([bent, np.zeros(n)]) + offsets
        found = model.inverse_dynamics(
            motion.pose[k], motion.twist[k], states[:, :n], states[:, n:], motion.acceleration[k], loads[k], False,
            errors="raise",
        ).elastic_acceleration  # fmt: skip
        slopes = (found[: 2 * n] - found[2 * n :]).T / (2 * reach)
        system = np.block([[np.zeros((n, n)), np.eye(n)], [slopes]])
        fastest = max(fastest, float(np.abs(np.linalg.eigvals(system)).max()))
    return max(1, int(np.ceil(longest * fastest / _PHASE)))
