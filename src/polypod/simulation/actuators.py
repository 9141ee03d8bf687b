"""Actuators between controller and robot: forces saturate, commands arrive late."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..model.actuators import ActuatorInfo

Array = NDArray[np.float64]
# Times closer than this part of a period are the same.
_SAME = 1e-9


class Actuators:
    """Saturation [N or N m] and delay [s] of actuators that hold each command until the next arrives."""

    def __init__(self, actuators: Sequence[ActuatorInfo], saturation: ArrayLike | None, delay: float) -> None:
        self.low, self.high = _range(actuators, saturation)
        self._unbounded = saturation is None
        if not (np.isfinite(delay) and delay >= 0):
            raise InputError(f"delay: at least 0 s is needed, got {delay}")
        self.delay = float(delay)
        self._waiting: deque[tuple[float, Array]] = deque()
        self._applied: Array | None = None

    def saturated(self, force: Array) -> Array:
        """The force that actuators give for a command."""
        return force if self._unbounded else np.clip(force, self.low, self.high)

    def hold(self, force: Array) -> None:
        """What acts until the first command arrives."""
        self._applied = self.saturated(force)

    def command(self, time: float, force: Array) -> None:
        """A command given at a time; it arrives after the delay."""
        self._waiting.append((time + self.delay, self.saturated(force)))

    def pieces(self, start: float, end: float) -> list[tuple[float, float, Array]]:
        """Pieces (from, to, force) of a period in which the force is constant."""
        slack = _SAME * (end - start)
        changes: list[tuple[float, Array]] = []
        while self._waiting and self._waiting[0][0] < end - slack:
            time, force = self._waiting.popleft()
            if time <= start + slack:
                self._applied = force
            else:
                changes.append((time, force))
        assert self._applied is not None
        steps = [(start, self._applied), *changes]
        if changes:
            self._applied = changes[-1][1]
        ends = [time for time, _ in steps] + [end]
        return [(a, b, force) for (a, b), (_, force) in zip(pairwise(ends), steps, strict=True)]


def _range(actuators: Sequence[ActuatorInfo], saturation: ArrayLike | None) -> tuple[Array, Array]:
    count = len(actuators)
    if saturation is None:
        return np.full(count, -np.inf), np.full(count, np.inf)
    value = np.asarray(saturation, dtype=np.float64)
    if value.shape in ((), (count,)):
        low, high = -np.broadcast_to(value, (count,)), np.broadcast_to(value, (count,))
    elif value.shape == (count, 2):
        low, high = value[:, 0], value[:, 1]
    else:
        raise InputError(f"saturation: a number, ({count},) or ({count}, 2) low and high is needed, got {value.shape}")
    bad = ~(low < high)
    if bad.any():
        k = int(np.argmax(bad))
        a = actuators[k]
        raise InputError(f"saturation: low must be below high, got {low[k]} to {high[k]} {a.force_unit} for {a.name}")
    return low.copy(), high.copy()
