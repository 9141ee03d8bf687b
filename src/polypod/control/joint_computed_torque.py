"""Computed torque in the joints: only encoders, with forward kinematics in the loop."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from ..arrays import Array
from ..motion import Trajectory
from .contract import Measurement
from .law import ActuatorMemory, ActuatorsMeasured, ComputedTorqueLaw
from .reference import Reference, reference_of


class JointComputedTorque:
    """The law with ``.measured.ActuatorsMeasured``: a ``polypod.control.ControllerWithMemory``."""

    def __init__(
        self,
        model: Any,
        reference: Reference | Trajectory,
        kp: ArrayLike = 2500.0,
        kd: ArrayLike = 100.0,
        *,
        velocity: Literal["measured", "differences"] = "measured",
        friction: bool = True,
        wrench: ArrayLike | None = None,
        guess: ArrayLike | None = None,
        rate: float = 1000.0,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [1/s^2], ``kd`` [1/s] numbers or (n,).

        ``velocity`` and ``guess`` as in ``.measured.ActuatorsMeasured``, the rest as in
        ``polypod.control.ComputedTorque``.
        """
        self.reference = reference_of(reference, rate)
        measured = ActuatorsMeasured(model, self.reference, kp, kd, velocity, guess)
        self._law = ComputedTorqueLaw(model, measured, friction, wrench)

    def start(self, time: float, measurement: Measurement) -> ActuatorMemory:
        """The memory before the first sample."""
        memory: ActuatorMemory = self._law.measured.start(time, measurement)
        return memory

    def step(self, memory: ActuatorMemory, time: float, measurement: Measurement) -> tuple[Array, ActuatorMemory]:
        """Actuator forces (n,) and the memory for the next sample."""
        return self._law.step(memory, time, measurement)


def follow(model: Any, trajectory: Trajectory, rate: float, friction: bool) -> JointComputedTorque:
    """The controller that follows a trajectory at a rate, with its usual gains."""
    return JointComputedTorque(model, trajectory, friction=friction, rate=rate)
