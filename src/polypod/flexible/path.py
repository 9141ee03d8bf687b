"""A flexible robot along a given motion of its platform frame: forces, and how the platform bends meanwhile.

The inverse model gives the elastic accelerations (Long, Fig. 3 with the desired state), so that the elastic coordinates
are all there is to integrate: classical RK4 with steps that the fastest mode of the robot allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, StateError, UnstableBendingError
from ..kernels import Call
from ..legs.contract import SMALLEST_MARGIN
from ..steps import DECAY, PHASE, STABLE
from ..trajectories import Motion, Trajectory
from .linear import Rates, led_rates

if TYPE_CHECKING:
    from .model import FlexibleModel

Array = NDArray[np.float64]
MOST_STEPS = 5_000_000
# A shape error may grow by this factor (20) over the motion: what starts as rounding still is.
_GROWTH = 3.0
_BLOCK = 4096


class FlexiblePath(NamedTuple):
    """Along a motion: elastic coordinates, rates and accelerations (n, N), actuator forces (n, legs), step [s].

    The step is zero, and rates and accelerations are those of the changing shape by differences, if the platform was
    taken not to vibrate.
    """

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
    wrench: Callable[[Motion], Array] | None,
    friction: bool,
    start: tuple[ArrayLike | None, ArrayLike | None],
    step: float | None,
    vibration: bool,
    progress: Callable[[float], None],
) -> FlexiblePath:
    """What :meth:`polypod.FlexibleModel.follow` does; ``start`` are its elastic coordinates and rates."""
    t = _times(times)
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory: a polypod.trajectories.Trajectory is needed, got {type(trajectory).__name__}")
    motion = trajectory.at(t)
    loads = _wrenches(model, motion, wrench)
    if not vibration:
        return _steady(model, motion, loads, friction)
    first = motion.pose[0], motion.twist[0], motion.acceleration[0], loads[0]
    elastic, elastic_rate = start
    bent = model.steady_shape(*first, friction).elastic if elastic is None else _row("elastic", elastic, model)
    rate = np.zeros_like(bent) if elastic_rate is None else _row("elastic_rate", elastic_rate, model)
    longest = float(np.diff(t).max())
    most = _steps(led_rates(model, motion, loads, bent, friction), model, step, longest, float(t[-1] - t[0]))
    if most * (len(t) - 1) > MOST_STEPS:
        raise InputError(
            f"times: {most * (len(t) - 1):.3g} steps are needed, at most {MOST_STEPS:.0e} are taken; leave out the "
            "fastest modes, widen friction_width of the model, or give a longer step"
        )
    parts = -(-most // _BLOCK)  # an interval of more steps than a block is cut into parts
    stepper = _Stepper(model, trajectory, wrench, friction, -(-most // parts))
    fine = np.interp(np.arange((len(t) - 1) * parts + 1) / parts, np.arange(len(t)), t)
    rows = [np.concatenate([bent, rate])]
    block = max(1, _BLOCK // stepper.most)
    for begin in range(0, len(fine) - 1, block):
        ends = fine[begin : begin + block + 1]
        rows += stepper.through(ends, rows[-1])
        progress(float(ends[-1]))
    found, n = np.array(rows)[::parts], len(bent)
    q, qdot = found[:, :n], found[:, n:]
    at = motion.pose, motion.twist, q, qdot, motion.acceleration
    forces = model.inverse_dynamics(*at, loads, friction, errors="raise")
    return FlexiblePath(motion, q, qdot, forces.elastic_acceleration, forces.force, longest / (parts * stepper.most))


def _steady(model: FlexibleModel, motion: Motion, loads: Array, friction: bool) -> FlexiblePath:
    """The shape that each instant bends the platform to; its own inertia is neglected."""
    bent, force = model.steady_shape(motion.pose, motion.twist, motion.acceleration, loads, friction)
    rate = _slope(motion.time, bent)
    return FlexiblePath(motion, bent, rate, _slope(motion.time, rate), force, 0.0)


def _slope(time: Array, values: Array) -> Array:
    """Rates of values (n, N) by differences."""
    if len(time) > 2:
        return np.asarray(np.gradient(values, time, axis=0, edge_order=2))
    return np.asarray(np.gradient(values, time, axis=0))


def _steps(rates: Rates, model: FlexibleModel, step: float | None, longest: float, duration: float) -> int:
    """RK4 steps between two samples; an error where no step helps."""
    if rates.growth * duration > _GROWTH:
        reason = (
            f"leading the platform's frame exactly along this motion is unstable by itself at t = {rates.time:.4g} s: "
            f"a shape error grows by exp({rates.growth:.4g} t). The actuators that hold the frame leave a mode too "
            "little mass of its own; a stiffer platform does not cure it. Take it not to vibrate (vibration=False), or "
            "simulate a controller"
        )
        raise UnstableBendingError(reason, np.array([0]), [reason], time=rates.time)
    if np.isinf(rates.rubbing):
        raise InputError(
            "friction_width: the exact sign of dry friction (0) cannot be integrated with a platform that vibrates; "
            "give the model a width greater than 0"
        )
    if step is None:
        return max(1, int(np.ceil(longest * max(rates.fastest / PHASE, rates.rubbing / DECAY))))
    if not (isinstance(step, (int, float)) and np.isfinite(step) and step > 0):
        raise InputError(f"step: a time greater than 0 s is needed, got {step!r}")
    fastest = max(rates.fastest, rates.rubbing)
    if step * fastest > STABLE:
        cause = "dry friction" if rates.rubbing > rates.fastest else "the platform's fastest mode"
        raise InputError(
            f"step: got {step:g} s, but {cause} ({fastest:.4g} 1/s) needs at most {STABLE / fastest:.3g} s; leave it "
            "out"
        )
    return max(1, int(np.ceil(longest / step - 1e-9)))


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
        self._model, self._trajectory, self._wrench, self.most = model, trajectory, wrench, most
        self._call = Call(model.kernel("path_step", friction))
        self._size = float(np.mean(np.linalg.norm(model.modes.attachments, axis=1))) or 1.0

    def through(self, ends: Array, y: Array) -> list[Array]:
        """y at ``ends[1:]``; the motion at all stages between is computed at once."""
        most = self.most
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
                    self._check(float(stages[i]), y)
                    raise _lost(stages[i], "the robot is out of reach, singular, or jammed by friction there")
                y = after.copy()
            self._check(float(ends[k + 1]), y)
            result.append(y)
        return result

    def _check(self, time: float, y: Array) -> None:
        bend = float(np.linalg.norm(self._model.modes.attachment_shapes @ y[: len(y) // 2], axis=-1).max())
        if not bend < 0.5 * self._size:
            raise _lost(
                time,
                f"the platform bends by {bend:.3g} m, half its own size: with its frame led along this motion the "
                "shape runs away; the platform is too soft for its load, or buckles",
            )


def _lost(time: float, reason: str) -> StateError:
    return StateError(f"no answer beyond t = {time:.6g} s: {reason}", np.array([0]), [reason], time=float(time))


def _wrenches(model: FlexibleModel, motion: Motion, wrench: Callable[[Motion], Array] | None) -> Array:
    if wrench is None:
        return np.zeros((len(motion.time), 6))
    if not callable(wrench):
        raise InputError(f"wrench: a function of a motion is needed, got {type(wrench).__name__}")
    loads = np.ascontiguousarray(wrench(motion), dtype=np.float64)
    if loads.shape != (len(motion.time), 6) or not np.isfinite(loads).all():
        raise InputError(
            f"wrench: finite numbers of shape ({len(motion.time)}, 6) are needed for a motion of {len(motion.time)} "
            f"states, got shape {loads.shape}"
        )
    model.check_wrench(loads)
    return loads


def _times(times: ArrayLike) -> Array:
    try:
        t = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"times: numbers [s] are needed, got {times!r}") from error
    if t.ndim != 1 or len(t) < 2 or not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
        raise InputError(f"times: at least two growing times [s] are needed, got {np.array2string(t, threshold=6)}")
    return t


def _row(name: str, value: ArrayLike, model: FlexibleModel) -> Array:
    row, count = np.array(value, dtype=np.float64), model.modes.count
    if row.shape != (count,) or not np.isfinite(row).all():
        raise InputError(f"{name}: {count} finite numbers are needed, got shape {row.shape}")
    return row
