"""A flexible robot along a given motion of its platform frame: forces, and how the platform bends meanwhile.

The inverse model gives the elastic accelerations (Long, Fig. 3 with the desired state), so that the elastic coordinates
are all there is to integrate: classical RK4 with steps that the fastest mode of the robot allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError, Reason, StateError, UnstableBendingError
from ..kernels import Call, Iteration, Port, port
from ..legs.contract import SMALLEST_MARGIN
from ..model import Model
from ..model.arguments import check_wrench
from ..motion import Motion, Trajectory
from ..symbols.integration import MAX_DECAY, MAX_PHASE, MAX_STABLE, Stage, StageDerivative, runge_kutta
from ..symbols.iterations import converged
from .dynamics import Dynamics
from .elastic_spectrum import ElasticSpectrum, prescribed_motion_spectrum
from .signals import finite_numbers
from .system import System

MAX_STEPS = 5_000_000
# A shape error may grow by this factor (20) over the motion: what starts as rounding still is.
_GROWTH = 3.0
_BLOCK = 4096


class FlexiblePath(NamedTuple):
    """Motion of a flexible robot whose platform frame follows a trajectory, at n times.

    Attributes
    ----------
    motion : Motion
        Motion of the platform frame.
    elastic, elastic_rate, elastic_acceleration : ndarray, shape (n, N)
        Elastic coordinates, their rates and accelerations; finite differences of the changing shape if the platform was
        taken not to vibrate.
    force : ndarray, shape (n, actuators)
        Actuator forces [N or N m].
    step : float
        Integration step [s]; zero if the platform was taken not to vibrate.
    """

    motion: Motion
    elastic: Array
    elastic_rate: Array
    elastic_acceleration: Array
    force: Array
    step: float


def follow(
    model: Model,
    trajectory: Trajectory,
    times: ArrayLike,
    wrench: Callable[[Motion], Array] | None = None,
    friction: bool = True,
    *,
    elastic: ArrayLike | None = None,
    elastic_rate: ArrayLike | None = None,
    step: float | None = None,
    vibration: bool = True,
    progress: Callable[[float], None] = lambda time: None,
) -> FlexiblePath:
    """Forces and elastic motion of a flexible robot whose platform frame follows a trajectory (Long et al., section 6).

    The elastic coordinates are integrated by RK4.

    Parameters
    ----------
    model : Model
        Model of a robot with a flexible platform.
    trajectory : Trajectory
        Motion of the platform frame {P} in {B}.
    times : array_like, shape (n,)
        Times of the result [s].
    wrench : callable, optional
        Gives the external wrench (n, 6) for a ``Motion`` of n states. Default: zero.
    friction : bool, optional
        Whether friction in the joints is included.
    elastic : array_like, shape (N,), optional
        Initial elastic coordinates. Default: the steady shape of the first instant.
    elastic_rate : array_like, shape (N,), optional
        Initial rates of the elastic coordinates [1/s]. Default: zero.
    step : float, optional
        Longest integration step [s]. Default: what the robot's fastest mode allows.
    vibration : bool, optional
        Whether the platform vibrates. Without it, the platform has the steady shape of every instant.
    progress : callable, optional
        Called with the time reached [s].

    Returns
    -------
    FlexiblePath
        Elastic motion and actuator forces.

    Raises
    ------
    StateError
        If the shape diverges, with the time, or if the frame cannot follow exactly, however stiff the platform is.
    """
    if not isinstance(model, Model) or not model.robot.flexible:
        raise InputError(f"model: must be a polypod.Model with a flexible platform, got {model!r}")
    t = _times(times)
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory: a polypod.motion.Trajectory is needed, got {type(trajectory).__name__}")
    motion = trajectory.at(t)
    loads = _wrenches(model, motion, wrench)
    if not vibration:
        return _steady(model, motion, loads, friction)
    first = motion.pose[0], motion.twist[0], motion.acceleration[0], loads[0]
    n = model.modes.count
    steady = model.steady_shape(*first, friction).elastic if elastic is None else elastic
    shape = finite_numbers("elastic", steady, (n,))
    rate = np.zeros(n) if elastic_rate is None else finite_numbers("elastic_rate", elastic_rate, (n,))
    longest = float(np.diff(t).max())
    spectrum = prescribed_motion_spectrum(model, motion, loads, shape, friction)
    substeps = _substeps(spectrum, step, longest, float(t[-1] - t[0]))
    if substeps * (len(t) - 1) > MAX_STEPS:
        raise InputError(
            f"times: {substeps * (len(t) - 1):.3g} steps are needed, the limit is {MAX_STEPS:.0e}; leave out "
            "the fastest modes, increase friction_width of the model, or give a longer step"
        )
    parts = -(-substeps // _BLOCK)  # an interval of more steps than a block is cut into parts
    stepper = _ElasticStepper(model, trajectory, wrench, friction, -(-substeps // parts))
    fine = np.interp(np.arange((len(t) - 1) * parts + 1) / parts, np.arange(len(t)), t)
    rows = [np.concatenate([shape, rate])]
    block = max(1, _BLOCK // stepper.substeps)
    for begin in range(0, len(fine) - 1, block):
        ends = fine[begin : begin + block + 1]
        rows += stepper.through(ends, rows[-1])
        progress(float(ends[-1]))
    found = np.array(rows)[::parts]
    q, qdot = found[:, :n], found[:, n:]
    at = motion.pose, motion.twist, motion.acceleration, loads, friction
    forces = model.inverse_dynamics(*at, elastic=q, elastic_rate=qdot, errors="raise", full_output=True)
    return FlexiblePath(
        motion, q, qdot, forces.elastic_acceleration, forces.force, longest / (parts * stepper.substeps)
    )


def _steady(model: Model, motion: Motion, loads: Array, friction: bool) -> FlexiblePath:
    """The shape that each instant bends the platform to; its own inertia is neglected."""
    shape, force = model.steady_shape(motion.pose, motion.twist, motion.acceleration, loads, friction)
    rate = _derivative(motion.time, shape)
    return FlexiblePath(motion, shape, rate, _derivative(motion.time, rate), force, 0.0)


def _derivative(time: Array, values: Array) -> Array:
    """Rates of values (n, N) by differences."""
    if len(time) > 2:
        return np.asarray(np.gradient(values, time, axis=0, edge_order=2))
    return np.asarray(np.gradient(values, time, axis=0))


def _substeps(spectrum: ElasticSpectrum, step: float | None, longest: float, duration: float) -> int:
    """RK4 steps between two samples; an error where no step helps."""
    if spectrum.growth * duration > _GROWTH:
        reason = (
            f"keeping the platform's frame exactly on this motion is unstable at t = {spectrum.time:.4g} s: a "
            f"shape error grows by exp({spectrum.growth:.4g} t). A mode has too little mass left once the "
            "actuators hold the frame; a stiffer platform does not help. Neglect vibration "
            "(vibration=False), or simulate a controller"
        )
        raise UnstableBendingError(reason, np.array([0]), [reason], time=spectrum.time)
    if np.isinf(spectrum.friction):
        raise InputError(
            "friction_width: exact dry friction (width 0) cannot be integrated with a vibrating platform; "
            "give the model a width greater than 0"
        )
    if step is None:
        return max(1, int(np.ceil(longest * max(spectrum.fastest / MAX_PHASE, spectrum.friction / MAX_DECAY))))
    if not (isinstance(step, (int, float)) and np.isfinite(step) and step > 0):
        raise InputError(f"step: must be greater than 0 s, got {step!r}")
    fastest = max(spectrum.fastest, spectrum.friction)
    if step * fastest > MAX_STABLE:
        cause = "dry friction" if spectrum.friction > spectrum.fastest else "the platform's fastest mode"
        raise InputError(
            f"step: got {step:g} s, but {cause} ({fastest:.4g} 1/s) needs at most {MAX_STABLE / fastest:.3g} s; "
            "leave it out"
        )
    return max(1, int(np.ceil(longest / step - 1e-9)))


_ROWS = (("pose", (4, 4)), ("twist", (6,)), ("acceleration", (6,)), ("wrench", (6,)))


def path_step(dynamics: Dynamics) -> Iteration:
    """Elastic coordinates and rates (2N) after a step of classical RK4, the frame's motion given.

    Inputs: the motion at the step's beginning, middle and end, three rows each; coordinates and rates before; the
    step [s].
    """
    n = dynamics.modes
    rows = {name: ca.SX.sym(name, int(np.prod(shape)), 3) for name, shape in _ROWS}
    before, h = ca.SX.sym("before", 2 * n), ca.SX.sym("step")

    def derivative(stage: Stage) -> StageDerivative:
        first, late = stage.number < 0.5, stage.number > 2.5
        now = [ca.if_else(first, r[:, 0], ca.if_else(late, r[:, 2], r[:, 1])) for r in rows.values()]
        pose, twist, acceleration, wrench = now
        # of loads without friction: those that follow from none
        old = ca.if_else(stage.iterations < 0.5, 0, stage.inner) if dynamics.explicit else stage.inner
        change, quality, loads = dynamics.elastic_rates(
            pose, twist, acceleration, wrench, stage.y[:n], stage.y[n:], old
        )
        found = stage.iterations > 0.5 if dynamics.explicit else converged(old, loads)
        return StageDerivative(ca.vertcat(stage.y[n:], change), quality, loads, found)

    inputs = [Port(name, ca.vec(rows[name]), (3, *shape)) for name, shape in _ROWS]
    inputs += [Port("before", before, (2 * n,)), Port("step", h, ())]
    return runge_kutta(
        "path_step",
        tuple(inputs),
        before,
        h,
        ca.SX(1),
        derivative,
        lambda end: (port("after", end.state), port("quality", end.quality, ()), port("converged", end.converged, ())),
        inner=ca.SX.zeros(dynamics.load_count),
        parameters=dynamics.port,
    )


class _ElasticStepper:
    """Steps of the elastic coordinates y = (q, qdot) along a motion, ``substeps`` between two samples."""

    def __init__(
        self,
        model: Model,
        trajectory: Trajectory,
        wrench: Callable[[Motion], Array] | None,
        friction: bool,
        substeps: int,
    ) -> None:
        self._model, self._trajectory, self._wrench, self.substeps = model, trajectory, wrench, substeps
        self._call = Call(System(model, friction).compiled.kernel(path_step))
        self._size = float(np.mean(np.linalg.norm(model.modes.attachments, axis=1))) or 1.0

    def through(self, ends: Array, y: Array) -> list[Array]:
        """y at ``ends[1:]``; the motion at all stages between is computed at once."""
        substeps = self.substeps
        share = np.arange(2 * substeps) / (2 * substeps)
        stages = np.append((ends[:-1, None] + np.diff(ends)[:, None] * share).ravel(), ends[-1])
        motion = self._trajectory.at(stages)
        loads = _wrenches(self._model, motion, self._wrench)
        result = []
        for k, h in enumerate(np.diff(ends) / substeps):
            for i in range(2 * substeps * k, 2 * substeps * (k + 1), 2):
                at = slice(i, i + 3)
                after, quality, converged = self._call(
                    motion.pose[at], motion.twist[at], motion.acceleration[at], loads[at], y, h
                )
                if not (quality[0] > SMALLEST_MARGIN and converged[0]):
                    self._check(float(stages[i]), y)
                    raise _no_answer(stages[i], "the robot is out of reach, singular, or jammed by friction there")
                y = after.copy()
            self._check(float(ends[k + 1]), y)
            result.append(y)
        return result

    def _check(self, time: float, y: Array) -> None:
        bend = float(np.linalg.norm(self._model.modes.attachment_shapes @ y[: len(y) // 2], axis=-1).max())
        if not bend < 0.5 * self._size:
            reason = (
                f"the platform bends by {bend:.3g} m, half its own size: with its frame held to this motion the "
                "shape diverges; the platform is too flexible for its load, or buckles"
            )
            raise _no_answer(time, Reason(reason, "too_flexible"))


def _no_answer(time: float, reason: str) -> StateError:
    return StateError(f"no solution beyond t = {time:.6g} s: {reason}", np.array([0]), [reason], time=float(time))


def _wrenches(model: Model, motion: Motion, wrench: Callable[[Motion], Array] | None) -> Array:
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
    check_wrench(model.robot, loads)
    return loads


def _times(times: ArrayLike) -> Array:
    try:
        t = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"times: numbers [s] are needed, got {times!r}") from error
    if t.ndim != 1 or len(t) < 2 or not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
        raise InputError(f"times: at least two increasing times [s] are needed, got {np.array2string(t, threshold=6)}")
    return t
