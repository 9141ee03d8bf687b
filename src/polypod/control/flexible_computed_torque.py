"""Computed torque of a robot with a flexible platform, with its elastic state measured (Long, section 5.1).

f = ID(pose, twist, q_e, qdot_e, a_d + K_d (u_d - u) + K_p e): the floating frame follows exactly, whatever bends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..flexible.model import FlexibleModel
from ..kernels import Call
from ..trajectories import Trajectory
from .contract import Measurement
from .feedback import feedback_kernel
from .gains import gain
from .reference import Reference, reference_of

Array = NDArray[np.float64]


class FlexibleComputedTorque:
    """A step function (time, measurement) -> forces; it needs pose, twist and the elastic state."""

    def __init__(
        self,
        model: FlexibleModel,
        reference: Reference | Trajectory,
        kp: ArrayLike = 2500.0,
        kd: ArrayLike = 100.0,
        *,
        friction: bool = True,
        rate: float = 1000.0,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [1/s^2], ``kd`` [1/s] numbers or (6,)."""
        self.reference = reference_of(reference, rate)
        self._gains = gain("kp", kp, 6), gain("kd", kd, 6)
        self._feedback = Call(feedback_kernel())
        self._dynamics = Call(model.kernel("inverse_dynamics", friction))

    def __call__(self, time: float, measurement: Measurement) -> Array:
        """Actuator forces (n,) [N]."""
        pose, twist = measurement.pose, measurement.twist
        acceleration = self._feedback(pose, twist, *self.reference.at(time), *self._gains)[0]
        state = pose, twist, measurement.elastic, measurement.elastic_rate
        return self._dynamics(*state, acceleration, np.zeros(6))[0].copy()
