"""Computed torque in the joints: only encoders, with forward kinematics in the loop."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from ..arrays import Array
from ..model.results import Distribution
from ..motion import Trajectory
from .contract import Measurement
from .law import ActuatorMemory, ActuatorsMeasured, Compensation, ComputedTorqueLaw
from .reference import Followed, reference_of


class JointComputedTorque:
    """Computed torque in the joints: only encoders, with forward kinematics in the loop.

    A ``polypod.control.ControllerWithMemory``: f = ID(x, a), with the state x from forward kinematics and the desired
    acceleration corrected by the error of the actuated coordinates as a.

    Parameters
    ----------
    model : Model
        Model of the robot that the controller uses.
    reference : Reference, Trajectory, MotionFile, Task, str or Path
        Desired motion, as ``polypod.simulate`` takes it: its name, its file, a trajectory.
    kp : array_like, optional
        Gain of the coordinate error [1/s^2], one number or (n,).
    kd : array_like, optional
        Gain of the rate error [1/s], one number or (n,).
    velocity : {'measured', 'differences'}, optional
        Where rates come from: measured, or differences of coordinates between samples.
    friction : bool or 'reference', optional
        Whether friction is compensated: at the measured speed, at that of the reference, which moves while a joint
        still sticks, or not.
    wrench : array_like, shape (6,), optional
        External wrench that the controller expects, at the origin of {P}, base axes [N, N m]. Default: zero.
    distribution : Distribution, optional
        How redundant actuators share the load, such as ``pp.Distribution(bounds="drives")``. Default: within
        the limits of the drives.
    guess : array_like, shape (4, 4), optional
        Pose from which the first forward kinematics starts. Default: start of the reference.
    rate : float, optional
        Sampling rate of the controller [Hz].
    base : Trajectory, optional
        Motion of the base in space that the controller knows, as from an inertial sensor. Default: it takes the base
        to stand still.
    """

    def __init__(
        self,
        model: Any,
        reference: Followed,
        kp: ArrayLike = 2500.0,
        kd: ArrayLike = 100.0,
        *,
        velocity: Literal["measured", "differences"] = "measured",
        friction: Compensation = True,
        wrench: ArrayLike | None = None,
        distribution: Distribution | None = None,
        guess: ArrayLike | None = None,
        rate: float = 1000.0,
        base: Trajectory | None = None,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [1/s^2], ``kd`` [1/s] numbers or (n,).

        ``velocity`` and ``guess`` as in ``.measured.ActuatorsMeasured``, the rest as in
        ``polypod.control.ComputedTorque``.
        """
        self.reference = reference_of(reference, rate, model)
        measured = ActuatorsMeasured(model, self.reference, kp, kd, velocity, guess)
        self._law = ComputedTorqueLaw(model, measured, friction, wrench, distribution, base, self.reference)

    def start(self, time: float, measurement: Measurement) -> ActuatorMemory:
        """Memory before the first sample.

        Parameters
        ----------
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        ActuatorMemory
            The memory.
        """
        memory: ActuatorMemory = self._law.measured.start(time, measurement)
        return memory

    def step(self, memory: ActuatorMemory, time: float, measurement: Measurement) -> tuple[Array, ActuatorMemory]:
        """Actuator forces at a sample, and the memory for the next one.

        Parameters
        ----------
        memory : ActuatorMemory
            Memory from ``start`` or the previous step.
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        force : ndarray, shape (n,)
            Actuator forces [N or N m].
        memory : ActuatorMemory
            Memory for the next sample.
        """
        return self._law.step(memory, time, measurement)


def follow(
    model: Any, trajectory: Trajectory, rate: float, friction: Compensation, base: Trajectory | None = None
) -> JointComputedTorque:
    """The controller that follows a trajectory at a rate, with its usual gains."""
    return JointComputedTorque(model, trajectory, friction=friction, rate=rate, base=base)
