"""A disturbance observer around any controller: forces that the model does not know are estimated and taken away."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError, StateError
from .checked import CheckedFunction, check_rigid
from .contract import Measurement
from .wrapped import Inner


class ObserverMemory(NamedTuple):
    """What ``DisturbanceObserver`` remembers from sample to sample.

    Attributes
    ----------
    inner : object
        Memory of the controller inside.
    time : float
        Time of the last sample [s].
    pose : ndarray, shape (4, 4)
        Pose at the last sample.
    twist : ndarray, shape (6,)
        Twist at the last sample [m/s, rad/s].
    force : ndarray, shape (n,), or None
        Forces commanded then [N or N m]; None before the first.
    estimate : ndarray, shape (n,)
        Disturbance as forces of the actuators [N or N m].
    """

    inner: Any
    time: float
    pose: Array
    twist: Array
    force: Array | None
    estimate: Array


class DisturbanceObserver:
    """Disturbance observer: f = f_inner - d, with d the low pass of ID(x, a) - f_last. Encoders suffice for it.

    ID are the forces that the model needs for the motion of the last period, its acceleration the difference of two
    twists; what is left over acted on the robot and was not known: a wrench, a payload, friction, wrong masses. A
    ``polypod.control.ControllerWithMemory``; the estimate is in its memory.

    Parameters
    ----------
    model : Model
        Model of the robot that the controller uses, as many actuators as degrees of freedom.
    controller : controller
        A controller of ``polypod.control`` with a ``reference``, such as ``JointComputedTorque``.
    bandwidth : float
        Cut-off of the estimate [rad/s]: below a tenth of the sampling rate, and lower the coarser the encoders.
    friction : bool, optional
        Whether the model's friction is known, or part of the disturbance.
    """

    def __init__(self, model: Any, controller: Any, bandwidth: float, friction: bool = True) -> None:
        check_rigid(model)
        model.robot.refuse_internal("DisturbanceObserver")
        if len(model.actuators) != model.mobility.count:
            raise InputError(
                "model: a disturbance observer needs as many actuators as degrees of freedom; "
                f"{model.robot.name!r} has {len(model.actuators)} and {model.mobility.count}"
            )
        if not (np.isfinite(bandwidth) and bandwidth > 0):
            raise InputError(f"bandwidth: must be greater than 0 rad/s, got {bandwidth}")
        self._inner, self.reference, self._bandwidth = Inner(controller), controller.reference, float(bandwidth)
        self._model, self._friction = model, friction
        self._twist = CheckedFunction(model, "twist")

    def start(self, time: float, measurement: Measurement) -> ObserverMemory:
        """Memory before the first sample.

        Parameters
        ----------
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        ObserverMemory
            The memory: no disturbance.
        """
        inner, pose = self._inner.start(time, measurement), self.reference.at(time).pose
        return ObserverMemory(inner, time, pose, np.zeros(6), None, np.zeros_like(measurement.q))

    def step(self, memory: ObserverMemory, time: float, measurement: Measurement) -> tuple[Array, ObserverMemory]:
        """Actuator forces at a sample, and the memory for the next one.

        Parameters
        ----------
        memory : ObserverMemory
            Memory from ``start`` or the previous step.
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        force : ndarray, shape (n,)
            Actuator forces [N or N m].
        memory : ObserverMemory
            Memory for the next sample.
        """
        wanted, inner = self._inner.step(memory.inner, time, measurement)
        try:
            pose = self._model.forward_kinematics(measurement.q, memory.pose, errors="raise")
            twist = self._twist(pose, measurement.qdot)[0].copy()
            estimate = memory.estimate
            if memory.force is not None:
                h = time - memory.time
                mean, change = (memory.twist + twist) / 2, (twist - memory.twist) / h
                needed = self._model.inverse_dynamics(pose, mean, change, friction=self._friction, errors="raise")
                estimate = estimate + (1 - np.exp(-self._bandwidth * h)) * (needed - memory.force - estimate)
        except StateError as error:
            error.time = time
            raise
        force = wanted - estimate
        return force, ObserverMemory(inner, time, pose, twist, force, estimate)
