"""A controller inside another one: with memory or without, one contract."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .contract import ControllerWithMemory, Measurement


class Inner:
    """A controller that another one asks first; it has a ``reference``."""

    def __init__(self, controller: Any) -> None:
        if not hasattr(controller, "reference"):
            raise InputError(
                f"controller: one that follows a motion is needed, with a reference, got {type(controller).__name__}"
            )
        self._controller = controller
        self._remembers = isinstance(controller, ControllerWithMemory)

    def start(self, time: float, measurement: Measurement) -> Any:
        """Its memory before the first sample; None if it has none."""
        return self._controller.start(time, measurement) if self._remembers else None

    def step(self, memory: Any, time: float, measurement: Measurement) -> tuple[Array, Any]:
        """Its forces (n,), and its memory for the next sample."""
        if self._remembers:
            force, memory = self._controller.step(memory, time, measurement)
            return np.asarray(force, dtype=np.float64), memory
        return np.asarray(self._controller(time, measurement), dtype=np.float64), None
