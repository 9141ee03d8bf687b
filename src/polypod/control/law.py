"""Computed torque: one law for all measurements.

f = ID(x, a): inverse dynamics at the state x, measured or found from what is measured, with the desired acceleration
corrected by the error as a. A measurement map gives x and a; see ``polypod.control.law``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError, Reason, StateError
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Call, Expression, Kernel, Port, port
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.forward_kinematics import largest_residual
from ..model.arguments import default_value
from ..model.results import Distribution
from ..motion import BaseTrajectory, Trajectory
from ..platforms import DegreesOfFreedom
from ..platforms.motion import frame_of
from ..symbols.vectors import axial
from .checked import CheckedFunction, batch_results, check_rigid
from .contract import Measurement, gain
from .reference import Reference, Tabulated

Compensation = bool | Literal["reference"]
"""Whether friction is compensated: at the measured speed (True), at that of the reference, or not."""


class ComputedTorqueLaw:
    """Forces from a measurement through a measurement map, and the map's memory for the next sample."""

    def __init__(
        self,
        model: Any,
        measured: MeasurementMap,
        friction: Compensation = True,
        wrench: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base: Trajectory | None = None,
        reference: Reference | None = None,
    ) -> None:
        """``friction`` says whether the model's is compensated, at the measured speed or at that of the ``reference``
        (a joint that sticks has no speed by which to compensate), ``wrench`` (6,) is the external wrench expected,
        ``distribution`` how redundant actuators share their work (within the limits of their drives unless given),
        ``base`` how the base moves in space."""
        self.measured = measured
        self._along = _friction_along(model, friction, reference)
        friction = friction is True
        self._wrench: Array = np.zeros(6) if wrench is None else np.array(wrench, dtype=np.float64)
        if self._wrench.shape != (6,) or not np.isfinite(self._wrench).all():
            raise InputError(f"wrench: 6 finite numbers are needed, got {self._wrench.tolist()}")
        share = {} if distribution is None else model.distribution_inputs(distribution)
        bounded, moving = "low" in share, base is not None
        self._dynamics = CheckedFunction(model, "inverse_dynamics", friction, bounded, moving)
        inputs = model.kernels.get("inverse_dynamics", friction, bounded=bounded, moving_base=moving).inputs
        self._base = None if base is None else BaseTrajectory(base, model.robot)
        carried = ("base_twist", "base_acceleration") if moving else ()
        given = (*MeasuredState._fields, "acceleration", "wrench", *carried)
        self._shares = tuple(
            default_value(p.name, p.shape) if share.get(p.name) is None else _one_state(p, share[p.name])
            for p in inputs
            if p.name not in given
        )
        known = (*given, *(p.name for p in inputs if p.name not in given))
        self._order = [known.index(p.name) for p in inputs]

    def step(self, memory: Any, time: float, measurement: Measurement) -> tuple[Array, Any]:
        """Actuator forces (n,) and the new memory; a ``polypod.errors.StateError`` where there are none.

        Of a batch of measurements forces (..., n), NaN where there are none.
        """
        try:
            state, acceleration, memory = self.measured.read(memory, time, measurement)
            carried = () if self._base is None else self._base.at(time)
            given = (*state, acceleration, self._wrench, *carried, *self._shares)
            force = self._dynamics(*[given[k] for k in self._order])[0].copy()
            return force if self._along is None else force + self._along.at(time)[0], memory
        except StateError as error:
            error.time = time
            raise


def _friction_along(model: Any, friction: Compensation, reference: Reference | None) -> Tabulated | None:
    """Forces of friction along the reference; None where friction is compensated otherwise, or not."""
    if friction not in (True, False, "reference"):
        raise InputError(f"friction: must be True, False or 'reference', got {friction!r}")
    if friction != "reference" or reference is None:
        return None

    def forces(pose: Array, twist: Array, acceleration: Array, **place: Array) -> tuple[Array, ...]:
        state = {"pose": pose, "twist": twist, "acceleration": acceleration, "errors": "raise", **place}
        return (model.inverse_dynamics(**state) - model.inverse_dynamics(**state, friction=False),)

    return Tabulated(reference, forces)


def _one_state(port: Port, value: ArrayLike) -> Array:
    """Weights, preload or bounds (n,) of a controller."""
    found = np.asarray(value, dtype=np.float64)
    if found.ndim > 1 or not np.isfinite(found).all():
        raise InputError(f"distribution: a controller needs one {port.name} for each actuator, got shape {found.shape}")
    return np.broadcast_to(found, port.shape).copy()


# ----------------------------------------------------------------------------------------------------------------------
# Measurement maps of computed torque: the platform's state and its corrected acceleration from what is measured.
#
# A map has two methods: ``start`` gives its memory before the first sample, ``read`` a state, an acceleration and the
# memory for the next sample.

_NONE, _STILL = np.zeros(0), np.zeros(6)


class MeasuredState(NamedTuple):
    """Pose (4, 4) and twist (6,) of the platform, elastic coordinates and rates (N,) of a flexible one, internal ones
    (k,) of a robot that has such."""

    pose: Array
    twist: Array
    elastic: Array = _NONE
    elastic_rate: Array = _NONE
    internal: Array = _NONE


class MeasurementMap(Protocol):
    """How a controller comes by the platform's state, and the acceleration it asks for there."""

    def start(self, time: float, measurement: Measurement) -> Any:
        """The memory before the first sample; None if there is none."""

    def read(self, memory: Any, time: float, measurement: Measurement) -> tuple[MeasuredState, Array, Any]:
        """State, acceleration (6,) of the platform and the memory for the next sample."""


class PlatformMeasured:
    """Pose and twist are measured, and the elastic state too if the model has one: a = a_d + K_d (u_d - u) + K_p e.

    With an exact model the error e = [p_d - p; phi], exp(phi~) = R_d R^T, obeys e'' + K_d e' + K_p e = 0. Internal
    coordinates s add s_d - s to it.
    """

    def __init__(self, model: Any, reference: Reference, kp: ArrayLike, kd: ArrayLike) -> None:
        count = 6 + len(model.internal)
        self._reference, self._gains = reference, (gain("kp", kp, count), gain("kd", kd, count))
        self._feedback = Call(feedback_kernel())
        dof, follows = DegreesOfFreedom(model.robot), model.kernels.mechanism.platform.is_constrained
        fixed = not (dof.full or follows)
        self._allowed: Array | None = dof.basis @ dof.inverse if fixed else None
        self._follow = CheckedFunction(model, "follow") if follows else None

    def start(self, time: float, measurement: Measurement) -> None:
        """No state is kept between steps."""

    def read(self, memory: None, time: float, measurement: Measurement) -> tuple[MeasuredState, Array, None]:
        """The state as measured; the part of the acceleration that the robot can make."""
        state = MeasuredState(*measurement[2:])
        target, (kp, kd) = self._reference.at(time), self._gains
        moving = (part[..., :6] for part in (target.twist, target.acceleration, kp, kd))
        given = (state.pose, state.twist[..., :6], target.pose, *moving)
        acceleration = (self._feedback(*given) if state.pose.ndim == 2 else batch_results(feedback_kernel(), *given))[0]
        if self._allowed is not None:
            # sums row by row, the same for one state and in a batch
            acceleration = (self._allowed * acceleration[..., None, :]).sum(axis=-1)
        if target.internal.size:
            inner = target.acceleration[6:] + kd[6:] * (target.twist[6:] - state.twist[6:])
            acceleration = np.concatenate([acceleration, inner + kp[6:] * (target.internal - state.internal)])
        if self._follow is not None:
            place = (state.internal,) if target.internal.size else ()
            acceleration = self._follow(state.pose, state.twist, *place, acceleration)[1].copy()
        return state, acceleration, None


class ActuatorMemory(NamedTuple):
    """What ``JointComputedTorque`` remembers from sample to sample.

    Attributes
    ----------
    pose : ndarray, shape (4, 4)
        Last pose found.
    q : ndarray, shape (n,), or None
        Coordinates of the last sample; None before the first.
    time : float
        Time of the last sample [s].
    internal : ndarray, shape (k,)
        Internal coordinates found with the pose.
    """

    pose: Array
    q: Array | None
    time: float
    internal: Array = _NONE


class ActuatorsMeasured:
    """Only encoders: the pose is found from q (Newton from the last one), the twist from J u = qdot.

    J a + Jdot u = qddot_d + K_d (qdot_d - qdot) + K_p (q_d - q) gives the acceleration a of the platform.
    """

    def __init__(
        self,
        model: Any,
        reference: Reference,
        kp: ArrayLike,
        kd: ArrayLike,
        velocity: Literal["measured", "differences"] = "measured",
        guess: ArrayLike | None = None,
    ) -> None:
        """``velocity`` takes qdot as measured, or from differences of q (zero at the first sample).

        ``guess`` (4, 4) is where forward kinematics starts: the reference's start unless given.
        """
        if velocity not in ("measured", "differences"):
            raise InputError(f"velocity: must be 'measured' or 'differences', got {velocity!r}")
        check_rigid(model)
        count = len(model.actuators)
        self._kp, self._kd, self._velocity = gain("kp", kp, count), gain("kd", kd, count), velocity
        first = reference.at(0.0)
        self._guess: Array = np.array(first.pose if guess is None else guess, dtype=np.float64)
        self._inner, self._first = bool(model.internal), first.internal
        self._forward_kernel = model.kernel("forward_kinematics")
        self._outputs = [p.name for p in self._forward_kernel.outputs]
        self._forward = Call(self._forward_kernel)
        self._largest_residual = largest_residual(model.size, model.robot)
        self._twist, self._acceleration = CheckedFunction(model, "twist"), CheckedFunction(model, "acceleration")

        def desired(pose: Array, twist: Array, acceleration: Array, **place: Array) -> tuple[Array, ...]:
            q = model.inverse_kinematics(pose, errors="raise", **place)
            qdot = model.rates(pose, twist, errors="raise", **place)
            return q, qdot, model.accelerations(pose, twist, acceleration, errors="raise", **place)

        self._desired = Tabulated(reference, desired)

    def start(self, time: float, measurement: Measurement) -> ActuatorMemory:
        """Nothing sampled yet; forward kinematics starts from the guess."""
        return ActuatorMemory(self._guess, None, time, self._first)

    def read(
        self, memory: ActuatorMemory, time: float, measurement: Measurement
    ) -> tuple[MeasuredState, Array, ActuatorMemory]:
        """The state found from q and qdot."""
        q, qdot = measurement.q, self._speed(memory, time, measurement)
        pose, internal = self._place(q, memory.pose, memory.internal)
        place = (internal,) if self._inner else ()
        twist = self._twist(pose, *place, qdot)[0].copy()
        desired_q, desired_qdot, desired_qddot = self._desired.at(time)
        command = desired_qddot + self._kd * (desired_qdot - qdot) + self._kp * (desired_q - q)
        acceleration = self._acceleration(pose, twist, *place, command)[0].copy()
        state = MeasuredState(pose, twist, internal=internal)
        return state, acceleration, ActuatorMemory(pose, q, time, internal)

    def _place(self, q: Array, guess: Array, internal: Array) -> tuple[Array, Array]:
        """The pose (4, 4), and internal coordinates (k,), near the last ones with coordinates q."""
        near = (guess, internal) if self._inner else (guess,)
        if q.ndim > 1:
            found = dict(zip(self._outputs, batch_results(self._forward_kernel, q, *near), strict=True))
            good = found["residual"] <= self._largest_residual
            return np.where(good[..., None, None], found["pose"], np.nan), found.get("internal", _NONE)
        found = dict(zip(self._outputs, self._forward(q, *near), strict=True))
        if not (found["residual"][0] <= self._largest_residual and found["quality"][0] > SMALLEST_MARGIN):
            reason = Reason(f"forward kinematics found no pose near the last one for q = {q.tolist()}", "not_converged")
            raise StateError(reason, np.array([0]), [reason])
        return found["pose"].copy(), found["internal"].copy() if self._inner else _NONE

    def _speed(self, memory: ActuatorMemory, time: float, measurement: Measurement) -> Array:
        if self._velocity == "measured":
            return measurement.qdot
        if memory.q is None:
            return np.zeros_like(measurement.q)
        return (measurement.q - memory.q) / (time - memory.time)


# ----------------------------------------------------------------------------------------------------------------------
# Commanded accelerations from errors of pose and twist: one compiled kernel for all robots.


@cache
def feedback_kernel() -> Kernel:
    """The compiled ``feedback``."""
    return Kernel(feedback, CacheKey.of("feedback", fingerprint("control/law.py", "symbols")))


def feedback() -> Expression:
    """a = a_d + K_d (u_d - u) + K_p e with e = [p_d - p; phi], exp(phi~) = R_d R^T, base axes (6)."""
    pose, desired = ca.SX.sym("pose", 16), ca.SX.sym("desired_pose", 16)
    twist, desired_twist, desired_acceleration, kp, kd = (
        ca.SX.sym(name, 6) for name in ("twist", "desired_twist", "desired_acceleration", "kp", "kd")
    )
    error = pose_error(desired, pose)
    command = desired_acceleration + kd * (desired_twist - twist) + kp * error
    inputs = (
        Port("pose", pose, (4, 4)),
        Port("twist", twist, (6,)),
        Port("desired_pose", desired, (4, 4)),
        Port("desired_twist", desired_twist, (6,)),
        Port("desired_acceleration", desired_acceleration, (6,)),
        Port("kp", kp, (6,)),
        Port("kd", kd, (6,)),
    )
    return Expression("feedback", inputs, (port("acceleration", command), port("error", error)))


def pose_error(desired: ca.SX, pose: ca.SX) -> ca.SX:
    """[p_d - p; phi] of row-major poses (16), phi the rotation vector of R_d R^T."""
    difference = frame_of(desired).axes @ frame_of(pose).axes.T
    twice_sine = axial(difference)
    sine, cosine = 0.5 * ca.norm_2(twice_sine), 0.5 * (ca.trace(difference) - 1)
    # angle over sine; the tiny bound only keeps 0/0 away, where the vector it multiplies is zero
    stretch = ca.atan2(sine, cosine) / ca.fmax(sine, 1e-150)
    position = ca.vertcat(*[desired[k] - pose[k] for k in (3, 7, 11)])
    return ca.vertcat(position, 0.5 * stretch * twice_sine)
