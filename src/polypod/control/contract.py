"""What controllers are given and what they are: step functions from a measurement to actuator forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError


class Measurement(NamedTuple):
    """What a controller may know at a sample.

    Attributes
    ----------
    q, qdot : ndarray, shape (n,)
        Coordinates and rates of the actuators, from encoders [m or rad, and per second].
    pose : ndarray, shape (4, 4)
        Pose of {P} in {B}; like all that follow, a machine knows it only with more sensors.
    twist : ndarray, shape (6,)
        Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
    elastic, elastic_rate : ndarray, shape (N,)
        Elastic coordinates of a flexible platform and their rates.
    internal : ndarray, shape (k,)
        Internal coordinates of a robot that has such [m or rad]; their rates end the twist, (6 + k,).
    """

    q: Array
    qdot: Array
    pose: Array
    twist: Array
    elastic: Array
    elastic_rate: Array
    internal: Array = np.zeros(0)


Controller = Callable[[float, Measurement], ArrayLike]
"""A controller without memory: (time [s], measurement) -> actuator forces (n,) [N]."""


@runtime_checkable
class ControllerWithMemory(Protocol):
    """A controller whose step takes and returns its memory, so that the step itself is a pure function."""

    def start(self, time: float, measurement: Measurement) -> Any:
        """Memory before the first step.

        Parameters
        ----------
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        object
            The memory.
        """

    def step(self, memory: Any, time: float, measurement: Measurement) -> tuple[ArrayLike, Any]:
        """Actuator forces at a sample, and the memory for the next one.

        Parameters
        ----------
        memory : object
            Memory from ``start`` or the previous step.
        time : float
            Time [s].
        measurement : Measurement
            What the sensors measure at that time.

        Returns
        -------
        force : array_like, shape (n,)
            Actuator forces [N or N m].
        memory : object
            Memory for the next step.
        """


# ----------------------------------------------------------------------------------------------------------------------
# Gains of controllers: numbers, or one for each component, checked.


def gain(name: str, value: ArrayLike, count: int) -> Array:
    """A gain for each of ``count`` components, not negative."""
    array = each(name, value, count)
    if not (array >= 0).all():
        raise InputError(f"{name}: must be finite and at least 0, got {np.asarray(value).tolist()}")
    return array


def each(name: str, value: ArrayLike, count: int) -> Array:
    """A finite number for each of ``count`` components, from one for all or an array of them."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name}: must be a number or an array of {count}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: must be finite, got {array.tolist()}")
    return np.broadcast_to(array, (count,)).copy()
