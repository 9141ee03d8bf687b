"""Where actuator forces and external wrenches come from: constants, functions, controllers; checked at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..control.contract import ControllerWithMemory, Measurement
from ..errors import InputError, PolypodError
from .chart import WORKS
from .errors import SimulationError
from .system import Place

Array = NDArray[np.float64]
_CORNER = np.eye(4)
Signal = ArrayLike | Callable[[float, Measurement], ArrayLike] | ControllerWithMemory | None


def measured(place: Place, modes: int) -> Measurement:
    """What sensors see of a state: copies, so that no controller can touch the state."""
    pose = _CORNER.copy()
    row = place.row.copy()
    pose[:3] = row[:12].reshape(3, 4)
    end = 18 + 2 * modes + len(WORKS)
    n = (len(row) - end - 3) // 2
    return Measurement(
        row[end : end + n], row[end + n : -3], pose, row[12:18], row[18 : 18 + modes], row[18 + modes : 18 + 2 * modes]
    )


class Source:
    """A constant (n,), or a function or controller of time and measurement whose answers are checked."""

    def __init__(
        self, name: str, signal: Signal, labels: tuple[str, ...], check: Callable[[Array], None] | None = None
    ) -> None:
        """``check`` raises for rows (n, k) that the model cannot take."""
        self.name, self._labels, self._check = name, labels, check
        self.remembers = isinstance(signal, ControllerWithMemory)
        self.constant: Array | None = None
        self._function: Any = signal
        self._memory: Any = None
        self._started = False
        if not callable(signal) and not self.remembers:
            self.constant = self._constant(np.zeros(len(labels)) if signal is None else signal)
            if check is not None:
                check(self.constant[None])

    def _constant(self, value: Any) -> Array:
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: numbers ({len(self._labels)},), a function (time, measurement) or a controller is "
                f"needed, got {type(value).__name__}"
            ) from error
        if array.shape != (len(self._labels),) or not np.isfinite(array).all():
            raise InputError(f"{self.name}: {len(self._labels)} finite numbers are needed, got {array.tolist()}")
        return array

    def at(self, time: float, measurement: Measurement) -> Array:
        """The value at a time; a function's fault is a :class:`SimulationError` with the time."""
        if self.constant is not None:
            return self.constant
        try:
            value = self._answer(time, measurement)
        except Exception as error:  # whatever a user's function does, what was simulated so far must not be lost
            kind = "" if isinstance(error, PolypodError) else f"{type(error).__name__}: "
            raise SimulationError(f"{self.name}: failed at t = {time:.6g} s: {kind}{error}", time) from error
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SimulationError(
                f"{self.name}: numbers ({len(self._labels)},) are needed, got {value!r} at t = {time:.6g} s", time
            ) from error
        if array.shape != (len(self._labels),):
            raise SimulationError(
                f"{self.name}: shape ({len(self._labels)},) is needed, got {array.shape} at t = {time:.6g} s", time
            )
        if not np.isfinite(array).all():
            bad = int(np.argmin(np.isfinite(array)))
            raise SimulationError(
                f"{self.name}: got {array[bad]} for {self._labels[bad]} at t = {time:.6g} s; finite numbers are needed",
                time,
            )
        if self._check is not None:
            try:
                self._check(array[None])
            except InputError as error:
                raise SimulationError(f"{error} (at t = {time:.6g} s)", time) from error
        return array

    def _answer(self, time: float, measurement: Measurement) -> ArrayLike:
        if not self.remembers:
            return self._function(time, measurement)  # type: ignore[no-any-return]
        if not self._started:
            self._memory, self._started = self._function.start(time, measurement), True
        force, self._memory = self._function.step(self._memory, time, measurement)
        return force  # type: ignore[no-any-return]
