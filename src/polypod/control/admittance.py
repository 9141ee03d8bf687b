"""Admittance control: the desired motion yields to a measured wrench as a mass with damper and spring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from .contract import Measurement, gain
from .law import ComputedTorqueLaw, PlatformMeasured
from .reference import Followed, Reference, Target, reference_of


class AdmittanceMemory(NamedTuple):
    """What ``Admittance`` remembers from sample to sample.

    Attributes
    ----------
    displacement, rate : ndarray, shape (6,)
        Displacement from the desired motion and its rate [m, rad, and per second].
    """

    displacement: Array
    rate: Array


class Admittance:
    """Computed torque along a motion that yields to a measured wrench: M x'' + D x' + K x = w.

    x is the displacement of the platform from its desired motion: of its origin, and a rotation vector, which has to be
    small, in base axes. A ``polypod.control.ControllerWithMemory`` of one robot.

    Parameters
    ----------
    model : Model
        Model of the robot that the controller uses.
    reference : Reference, Trajectory, MotionFile, Task, str or Path
        Desired motion, as ``polypod.simulate`` takes it.
    sensor : callable
        Force sensor: ``(time, measurement) -> (6,)``, the wrench on the platform at the origin of {P}, base axes.
    mass, damping, stiffness : array_like
        M [kg, kg m^2], greater than 0, D [N s/m, N m s/rad] and K [N/m, N m/rad], one number or (6,).
    kp, kd : array_like, optional
        Gains of the computed torque, as of ``ComputedTorque``.
    friction : bool, optional
        Whether friction is compensated.
    rate : float, optional
        Sampling rate of the controller [Hz].
    """

    def __init__(
        self,
        model: Any,
        reference: Followed,
        sensor: Callable[[float, Measurement], ArrayLike],
        mass: ArrayLike,
        damping: ArrayLike,
        stiffness: ArrayLike = 0.0,
        kp: ArrayLike = 2500.0,
        kd: ArrayLike = 100.0,
        *,
        friction: bool = True,
        rate: float = 1000.0,
    ) -> None:
        model.robot.refuse_internal("Admittance")
        self.reference = reference_of(reference, rate, model)
        m, d, k = gain("mass", mass, 6), gain("damping", damping, 6), gain("stiffness", stiffness, 6)
        if not (m > 0).all():
            raise InputError(f"mass: must be greater than 0, got {m.tolist()}")
        self._mass, self._damping, self._stiffness, self._sensor = m, d, k, sensor
        # exact for a wrench that is held over a period: [x, x', w] of each component
        self._period = [
            scipy.linalg.expm(
                np.array([[0, 1, 0], [-k[i] / m[i], -d[i] / m[i], 1 / m[i]], [0, 0, 0]]) / self.reference.rate
            )
            for i in range(6)
        ]
        self._displaced = _Displaced(self.reference)
        self._law = ComputedTorqueLaw(
            model,
            PlatformMeasured(model, self._displaced, kp, kd),
            friction,
        )

    def start(self, time: float, measurement: Measurement) -> AdmittanceMemory:
        """Memory before the first sample.

        Parameters
        ----------
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        AdmittanceMemory
            The memory: no displacement.
        """
        return AdmittanceMemory(np.zeros(6), np.zeros(6))

    def step(self, memory: AdmittanceMemory, time: float, measurement: Measurement) -> tuple[Array, AdmittanceMemory]:
        """Actuator forces at a sample, and the memory for the next one.

        Parameters
        ----------
        memory : AdmittanceMemory
            Memory from ``start`` or the previous step.
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        force : ndarray, shape (n,)
            Actuator forces [N or N m].
        memory : AdmittanceMemory
            Memory for the next sample.
        """
        wrench = np.asarray(self._sensor(time, measurement), dtype=np.float64)
        x, rate = memory
        change = (wrench - self._damping * rate - self._stiffness * x) / self._mass
        self._displaced.by = (x, rate, change)
        force = self._law.step(None, time, measurement)[0]
        moved = np.array([one @ (x[i], rate[i], wrench[i]) for i, one in enumerate(self._period)])
        return force, AdmittanceMemory(moved[:, 0], moved[:, 1])


class _Displaced(Reference):
    """A reference displaced by x with x' and x''."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self.by = (np.zeros(6), np.zeros(6), np.zeros(6))

    def at(self, time: float) -> Target:
        """The displaced motion at a time."""
        pose, twist, acceleration, _ = self._reference.at(time)
        x, rate, change = self.by
        moved = np.array(pose)
        moved[:3, 3] += x[:3]
        moved[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(x[3:]).as_matrix() @ moved[:3, :3]
        return Target(moved, twist + rate, acceleration + change)
