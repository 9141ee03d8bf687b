"""What controllers are given and what they are: step functions from a measurement to actuator forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from ..arrays import Array


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
