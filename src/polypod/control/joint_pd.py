"""Proportional and derivative control of each actuator, with gravity compensated at the desired pose.

f = g(pose_d) + k_p (q_d - q) + k_d (qdot_d - qdot), g the forces that hold the robot at rest. Encoders suffice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..model import Model
from ..motion import Trajectory
from .checked import check_rigid
from .contract import Measurement, gain
from .reference import Followed, Tabulated, reference_of


def sampled_gains(model: Model, pose: ArrayLike, rate: float, internal: ArrayLike | None = None) -> tuple[float, float]:
    """Gains of ``JointPD`` that suit a sampling rate at a pose: kp = 0.05 m rate^2, kd = 0.3 m rate.

    m is the least mass that an actuator sees with all others free, 1/(largest eigenvalue of J M^-1 J^T): the fastest
    mode then advances by 0.22 rad per sample, with a damping ratio of 0.67. A robot near a singularity may need larger
    gains.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like, shape (4, 4)
        Pose of {P} in {B}.
    rate : float
        Sampling rate [Hz].
    internal : array_like, shape (k,), optional
        Internal coordinates of a robot that has such [m, rad].

    Returns
    -------
    kp : float
        Proportional gain [N/m].
    kd : float
        Derivative gain [N s/m].
    """
    jacobian = model.jacobian(pose, internal=internal)
    inverse_mass = jacobian @ np.linalg.solve(model.mass_matrix(pose, internal=internal), jacobian.T)
    least = 1.0 / float(np.linalg.eigvalsh(0.5 * (inverse_mass + inverse_mass.T))[-1])
    return 0.05 * least * rate**2, 0.3 * least * rate


class JointPD:
    """PD control of each actuator with gravity compensation: f = g(pose_d) + kp (q_d - q) + kd (qdot_d - qdot).

    g(pose_d) are the forces that hold the robot at rest at the desired pose. Encoders suffice. Call it as
    ``controller(time, measurement)``, which gives the actuator forces (n,).

    Parameters
    ----------
    model : Model
        Model of the robot that the controller uses.
    reference : Reference, Trajectory, MotionFile, Task, str or Path
        Desired motion, as ``polypod.simulate`` takes it: its name, its file, a trajectory.
    kp : array_like
        Proportional gain [N/m or N m/rad], one number or (n,).
    kd : array_like
        Derivative gain [N s/m or N m s/rad], one number or (n,).
    gravity : bool, optional
        Whether gravity is compensated.
    rate : float, optional
        Sampling rate of the controller [Hz].
    """

    def __init__(
        self,
        model: Model,
        reference: Followed,
        kp: ArrayLike,
        kd: ArrayLike,
        *,
        gravity: bool = True,
        rate: float = 1000.0,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [N/m] and ``kd`` [N s/m] are numbers or (n,)."""
        check_rigid(model)
        self.reference = reference_of(reference, rate, model)
        count = len(model.actuators)
        self._kp, self._kd = gain("kp", kp, count), gain("kd", kd, count)
        still = np.zeros(6 + len(model.internal))

        def desired(pose: Array, twist: Array, acceleration: Array, **place: Any) -> tuple[Array, ...]:
            q = model.inverse_kinematics(pose, errors="raise", **place)
            qdot = model.rates(pose, twist, errors="raise", **place)
            if not gravity:
                return q, qdot, np.zeros_like(q)
            return q, qdot, model.inverse_dynamics(pose, still, still, friction=False, errors="raise", **place)

        self._desired = Tabulated(self.reference, desired)

    def __call__(self, time: float, measurement: Measurement) -> Array:
        """Actuator forces (n,) [N]."""
        q, qdot, weight = self._desired.at(time)
        return weight + self._kp * (q - measurement.q) + self._kd * (qdot - measurement.qdot)


def follow(model: Model, trajectory: Trajectory, rate: float, friction: bool) -> JointPD:
    """The controller that follows a trajectory at a rate, with gains that suit its start; they bear friction."""
    start = trajectory.at(0.0)
    kp, kd = sampled_gains(model, start.pose, rate, start.internal)
    return JointPD(model, trajectory, kp=kp, kd=kd, rate=rate)
