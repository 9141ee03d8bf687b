"""Computed torque: one law for all measurements.

f = ID(x, a): inverse dynamics at the state x, measured or found from what is measured, with the desired acceleration
corrected by the error as a. A measurement map gives x and a; see :mod:`polypod.control.measured`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError, StateError
from .checked import checked_call
from .contract import Measurement
from .measured import MeasuredState, MeasurementMap


class ComputedTorqueLaw:
    """Forces from a measurement through a measurement map, and the map's memory for the next sample."""

    def __init__(
        self, model: Any, measured: MeasurementMap, friction: bool = True, wrench: ArrayLike | None = None
    ) -> None:
        """``friction`` says whether the model's is compensated, ``wrench`` (6,) is the external wrench expected."""
        self.measured = measured
        self._wrench: Array = np.zeros(6) if wrench is None else np.array(wrench, dtype=np.float64)
        if self._wrench.shape != (6,) or not np.isfinite(self._wrench).all():
            raise InputError(f"wrench: 6 finite numbers are needed, got {self._wrench.tolist()}")
        self._dynamics = checked_call(model, "inverse_dynamics", friction)
        given = (*MeasuredState._fields, "acceleration", "wrench")
        self._order = [given.index(p.name) for p in model.kernel("inverse_dynamics", friction).inputs]

    def step(self, memory: Any, time: float, measurement: Measurement) -> tuple[Array, Any]:
        """Actuator forces (n,) and the new memory; a :class:`~polypod.errors.StateError` where there are none."""
        try:
            state, acceleration, memory = self.measured.read(memory, time, measurement)
            given = (*state, acceleration, self._wrench)
            return self._dynamics(*[given[k] for k in self._order])[0].copy(), memory
        except StateError as error:
            error.time = time
            raise
