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

    ``q``, ``qdot`` (n,) are what encoders on the actuators give. The rest a machine has only with more sensors:
    ``pose`` (4, 4) and ``twist`` (6,) of the platform frame, ``elastic`` and ``elastic_rate`` (N,) of a flexible one.
    """

    q: Array
    qdot: Array
    pose: Array
    twist: Array
    elastic: Array
    elastic_rate: Array


Controller = Callable[[float, Measurement], ArrayLike]
"""A controller without memory: (time [s], measurement) -> actuator forces (n,) [N]."""


@runtime_checkable
class ControllerWithMemory(Protocol):
    """A controller whose step also takes and gives back its memory, so that the step itself stays pure."""

    def start(self, time: float, measurement: Measurement) -> Any:
        """The memory before the first step."""

    def step(self, memory: Any, time: float, measurement: Measurement) -> tuple[ArrayLike, Any]:
        """Actuator forces (n,) [N] and the memory for the next step."""


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
