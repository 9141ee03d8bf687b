"""Computed torque in the task space: the pose and twist of the platform are measured."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..arrays import Array
from ..model.results import Distribution
from ..motion import Trajectory
from .contract import Measurement
from .law import Compensation, ComputedTorqueLaw, PlatformMeasured
from .reference import Followed, reference_of


class ComputedTorque:
    """Computed torque in task space: f = ID(x, a), with the desired acceleration corrected by the pose error as a.

    It needs the measured pose and twist of the platform and, if its model is flexible, the elastic state (Long et al.,
    section 5.1: the floating frame follows exactly, whatever bends). Call it as ``controller(time, measurement)``,
    which gives the actuator forces (n,).

    Parameters
    ----------
    model : Model
        Model of the robot that the controller uses.
    reference : Reference, Trajectory, MotionFile, Task, str or Path
        Desired motion, as ``polypod.simulate`` takes it: its name, its file, a trajectory.
    kp : array_like, optional
        Gain of the pose error [1/s^2], one number or (6,).
    kd : array_like, optional
        Gain of the twist error [1/s], one number or (6,).
    friction : bool or 'reference', optional
        Whether friction is compensated: at the measured speed, at that of the reference, which moves while a joint
        still sticks, or not.
    wrench : array_like, shape (6,), optional
        External wrench that the controller expects, at the origin of {P}, base axes [N, N m]. Default: zero.
    distribution : Distribution, optional
        How redundant actuators share the load, such as ``pp.Distribution(bounds="drives")``. Default: within
        the limits of the drives.
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
        friction: Compensation = True,
        wrench: ArrayLike | None = None,
        distribution: Distribution | None = None,
        rate: float = 1000.0,
        base: Trajectory | None = None,
    ) -> None:
        """``model`` is what the controller believes; ``kp`` [1/s^2], ``kd`` [1/s] numbers or (6,).

        ``friction`` says whether the model's friction is compensated, ``wrench`` (6,) is the external wrench it
        expects, ``rate`` the rate of control (see ``Reference``).
        """
        self.reference = reference_of(reference, rate, model)
        self._law = ComputedTorqueLaw(
            model, PlatformMeasured(model, self.reference, kp, kd), friction, wrench, distribution, base, self.reference
        )

    def __call__(self, time: float, measurement: Measurement) -> Array:
        """Actuator forces (n,); a ``polypod.errors.StateError`` where the model has none."""
        return self._law.step(None, time, measurement)[0]


def follow(
    model: Any, trajectory: Trajectory, rate: float, friction: Compensation, base: Trajectory | None = None
) -> ComputedTorque:
    """The controller that follows a trajectory at a rate, with its usual gains."""
    return ComputedTorque(model, trajectory, friction=friction, rate=rate, base=base)
