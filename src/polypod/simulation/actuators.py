"""Actuators between controller and robot: forces saturate, commands arrive late."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description import Drive
from ..description.curve import force_at
from ..errors import InputError
from ..model.actuators import ActuatorInfo

# Times closer than this part of a period are the same.
_SAME = 1e-9


class Actuators:
    """Saturation [N or N m] and delay [s] of actuators that hold each command until the next arrives.

    With a saturation of ``"drives"`` forces are what the drives of the robot file give at the speed they have: within
    max_force, the force-speed curve and max_power.
    """

    def __init__(self, actuators: Sequence[ActuatorInfo], saturation: ArrayLike | str | None, delay: float) -> None:
        self._drives = _drives(actuators, saturation) if isinstance(saturation, str) else None
        self.low, self.high = _range(actuators, None if isinstance(saturation, str) else saturation)
        self._unbounded = saturation is None
        if not (np.isfinite(delay) and delay >= 0):
            raise InputError(f"delay: at least 0 s is needed, got {delay}")
        self.delay = float(delay)
        self._waiting: deque[tuple[float, Array]] = deque()
        self._applied: Array | None = None

    @property
    def depend_on_speed(self) -> bool:
        """Whether the largest force depends on the speed."""
        return self._drives is not None

    def saturated(self, force: Array, rate: Array) -> Array:
        """The force that actuators give for a command, at rates (n,) of their coordinates."""
        if self._unbounded:
            return force
        if self._drives is None:
            return np.clip(force, self.low, self.high)
        most = np.array([force_at(drive, speed) for drive, speed in zip(self._drives, rate, strict=True)])
        return np.clip(force, -most, most)

    def start_from(self, force: Array) -> None:
        """Set the force that acts, at rest, until the first command arrives."""
        self._applied = self.saturated(force, np.zeros_like(force))

    def command(self, time: float, force: Array, rate: Array) -> None:
        """A command given at a time and at rates of the coordinates; it arrives after the delay."""
        self._waiting.append((time + self.delay, self.saturated(force, rate)))

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
        if not changes:
            return [(start, end, self._applied)]
        steps = [(start, self._applied), *changes]
        self._applied = changes[-1][1]
        ends = [time for time, _ in steps] + [end]
        return [(a, b, force) for (a, b), (_, force) in zip(pairwise(ends), steps, strict=True)]


def _drives(actuators: Sequence[ActuatorInfo], saturation: str) -> tuple[Drive, ...]:
    if saturation != "drives":
        raise InputError(
            f"saturation: a number, or 'drives' for those of the robot file, is needed, got {saturation!r}"
        )
    drives = tuple(actuator.drive for actuator in actuators)
    if all(drive.max_force is None and drive.force_speed is None and drive.max_power is None for drive in drives):
        raise InputError(
            "saturation: no drive of the robot states max_force, force_speed or max_power; state them, or give a number"
        )
    return drives


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
