"""Computed torque in the joints: only encoders, with forward kinematics in the loop.

The pose is found from q (Newton from the last pose found), the twist from J u = qdot; the wanted joint accelerations
qddot_d + K_d (qdot_d - qdot) + K_p (q_d - q) = J a + Jdot u give the platform's acceleration a for inverse dynamics.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, StateError
from ..kernels import Call
from ..model import Model
from ..trajectories import Trajectory
from .contract import Measurement
from .gains import gain
from .reference import Reference, Tabulated, reference_of

Array = NDArray[np.float64]
# Forward kinematics ends at rounding; more than this part of the coordinates is no pose at all.
_CLOSED = 1e-9


class Memory(NamedTuple):
    """The last pose found (4, 4), and the coordinates and time of the last sample (None before the first)."""

    pose: Array
    q: Array | None
    time: float


class JointComputedTorque:
    """A controller with memory; see :class:`polypod.control.ControllerWithMemory`."""

    def __init__(
        self,
        model: Model,
        reference: Reference | Trajectory,
        kp: ArrayLike = 2500.0,
        kd: ArrayLike = 100.0,
        *,
        velocity: Literal["measured", "differences"] = "measured",
        friction: bool = True,
        guess: ArrayLike | None = None,
        rate: float = 1000.0,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [1/s^2], ``kd`` [1/s] numbers or (n,).

        ``velocity`` takes qdot as measured, or from differences of q (zero at the first sample). ``guess`` (4, 4) is
        where forward kinematics starts: the reference's start unless given.
        """
        if velocity not in ("measured", "differences"):
            raise InputError(f"velocity: 'measured' or 'differences', got {velocity!r}")
        self.reference = reference_of(reference, rate)
        count = len(model.legs)
        self._kp, self._kd, self._velocity = gain("kp", kp, count), gain("kd", kd, count), velocity
        start = self.reference.at(0.0).pose if guess is None else guess
        self._guess: Array = np.array(start, dtype=np.float64)
        self._forward, self._jacobian, self._accelerations = (
            Call(model.kernel(name)) for name in ("forward_kinematics", "jacobian", "accelerations")
        )
        self._dynamics = Call(model.kernel("inverse_dynamics", friction))
        self._basis: Array = model.mobility.basis

        def wanted(pose: Array, twist: Array, acceleration: Array) -> tuple[Array, ...]:
            q, qdot = model.inverse_kinematics(pose, errors="raise"), model.rates(pose, twist, errors="raise")
            return q, qdot, model.accelerations(pose, twist, acceleration, errors="raise")

        self._wanted = Tabulated(self.reference, wanted)

    def start(self, time: float, measurement: Measurement) -> Memory:
        """Nothing sampled yet; forward kinematics starts from the guess."""
        return Memory(self._guess, None, time)

    def step(self, memory: Memory, time: float, measurement: Measurement) -> tuple[Array, Memory]:
        """Actuator forces (n,) [N] and the memory for the next sample."""
        q = measurement.q
        pose, residual = (result.copy() for result in self._forward(q, memory.pose)[:2])
        if not residual[0] <= _CLOSED * (1 + np.abs(q).max()):
            raise StateError(f"forward kinematics found no pose near the last one for q = {q.tolist()} m")
        qdot = self._rates(memory, time, measurement)
        jacobian = self._jacobian(pose)[0]
        twist = self._basis @ np.linalg.solve(jacobian, qdot)
        wanted_q, wanted_qdot, wanted_qddot = self._wanted.at(time)
        command = wanted_qddot + self._kd * (wanted_qdot - qdot) + self._kp * (wanted_q - q)
        drift = self._accelerations(pose, twist, _STILL)[2]
        acceleration = self._basis @ np.linalg.solve(jacobian, command - drift)
        force = self._dynamics(pose, twist, acceleration, _STILL)[0].copy()
        return force, Memory(pose, q, time)

    def _rates(self, memory: Memory, time: float, measurement: Measurement) -> Array:
        if self._velocity == "measured":
            return measurement.qdot
        if memory.q is None:
            return np.zeros_like(measurement.q)
        return (measurement.q - memory.q) / (time - memory.time)


_STILL = np.zeros(6)
