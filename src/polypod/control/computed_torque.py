"""Computed torque in the task space: inverse dynamics of the wanted acceleration, corrected by the pose's error.

f = ID(pose, twist, a_d + K_d (u_d - u) + K_p e); with an exact model the error obeys e'' + K_d e' + K_p e = 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import Call
from ..model import Model
from ..trajectories import Trajectory
from .contract import Measurement
from .feedback import feedback_kernel
from .gains import gain
from .reference import Reference, reference_of

Array = NDArray[np.float64]


class ComputedTorque:
    """A step function (time, measurement) -> forces; it needs the measured pose and twist of the platform."""

    def __init__(
        self,
        model: Model,
        reference: Reference | Trajectory,
        kp: ArrayLike = 2500.0,
        kd: ArrayLike = 100.0,
        *,
        friction: bool = True,
        wrench: ArrayLike | None = None,
        rate: float = 1000.0,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [1/s^2], ``kd`` [1/s] numbers or (6,).

        ``friction`` says whether the model's friction is compensated, ``wrench`` (6,) is the external wrench it
        expects, ``rate`` the rate of control (see :class:`Reference`).
        """
        self.reference = reference_of(reference, rate)
        self._gains = gain("kp", kp, 6), gain("kd", kd, 6)
        self._wrench: Array = np.zeros(6) if wrench is None else np.asarray(wrench, dtype=np.float64)
        self._feedback = Call(feedback_kernel())
        self._dynamics = Call(model.kernel("inverse_dynamics", friction))
        self._project: Array | None = None if model.robot.freedoms == () else projector(model)

    def __call__(self, time: float, measurement: Measurement) -> Array:
        """Actuator forces (n,) [N]."""
        pose, twist = measurement.pose, measurement.twist
        acceleration = self._feedback(pose, twist, *self.reference.at(time), *self._gains)[0]
        if self._project is not None:
            acceleration = self._project @ acceleration
        return self._dynamics(pose, twist, acceleration, self._wrench)[0].copy()


def projector(model: Model) -> Array:
    """The part (6, 6) of an acceleration that a robot of fewer than six freedoms can make."""
    columns = []
    for freedom in model.robot.freedoms:
        column = np.zeros(6)
        column[slice(0, 3) if freedom.motion == "translation" else slice(3, 6)] = freedom.axis
        columns.append(column)
    basis = np.array(columns).T
    result: Array = basis @ np.linalg.pinv(basis)
    return result
