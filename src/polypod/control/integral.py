"""Integral action around any controller that follows a motion: constant errors, as of an unknown weight, go to zero."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from .contract import Measurement, each, gain
from .reference import Tabulated
from .wrapped import Inner


class IntegralMemory(NamedTuple):
    """What ``Integral`` remembers from sample to sample.

    Attributes
    ----------
    inner : object
        Memory of the controller inside.
    time : float
        Time of the last sample [s].
    force : ndarray, shape (n,)
        Force of the integral [N or N m].
    """

    inner: Any
    time: float
    force: Array


class Integral:
    """Integral action in the actuators: f = f_inner + ki times the integral of q_d - q. Encoders suffice for it.

    A ``polypod.control.ControllerWithMemory``.

    Parameters
    ----------
    model : Model
        Model of the robot.
    controller : controller
        A controller of ``polypod.control`` with a ``reference``, such as ``JointComputedTorque``.
    ki : array_like
        Gain [N/(m s) or N m/(rad s)], one number or (n,).
    most : array_like, optional
        Largest force of the integral [N or N m], one number or (n,), so that it does not wind up while forces saturate.
        Default: no limit.
    """

    def __init__(self, model: Any, controller: Any, ki: ArrayLike, most: ArrayLike = np.inf) -> None:
        self._inner, self.reference = Inner(controller), controller.reference
        count = len(model.actuators)
        self._ki = gain("ki", ki, count)
        limit = np.asarray(most, dtype=np.float64)
        self._most = np.full(count, np.inf) if np.isinf(limit).all() else each("most", most, count)
        self._desired = Tabulated(
            self.reference, lambda pose, *_, **place: (model.inverse_kinematics(pose, **place, errors="raise"),)
        )

    def start(self, time: float, measurement: Measurement) -> IntegralMemory:
        """Memory before the first sample.

        Parameters
        ----------
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        IntegralMemory
            The memory.
        """
        return IntegralMemory(self._inner.start(time, measurement), time, np.zeros_like(measurement.q))

    def step(self, memory: IntegralMemory, time: float, measurement: Measurement) -> tuple[Array, IntegralMemory]:
        """Actuator forces at a sample, and the memory for the next one.

        Parameters
        ----------
        memory : IntegralMemory
            Memory from ``start`` or the previous step.
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        force : ndarray, shape (n,)
            Actuator forces [N or N m].
        memory : IntegralMemory
            Memory for the next sample.
        """
        force, inner = self._inner.step(memory.inner, time, measurement)
        error = self._desired.at(time)[0] - measurement.q
        added = np.clip(memory.force + self._ki * error * (time - memory.time), -self._most, self._most)
        return force + added, IntegralMemory(inner, time, added)
