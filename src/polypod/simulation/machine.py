"""What lies between a controller and a robot on a machine: encoders, the controller's clock, current loops, motors.

With a time constant T of the drives a force f follows its command c by f' = (c - f)/T. Over an interval h of constant
command it is replaced by its mean, c + (f_0 - c) (1 - exp(-h/T)) T/h, which has its impulse; a period has as many
intervals as make h at most T/4, eight at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..control.contract import Measurement
from ..errors import InputError

_PARTS, _MOST_PARTS = 4.0, 8
_MOST_JITTER = 0.4
"""Largest part of a period by which samples may be off."""


@dataclass(frozen=True)
class Machine:
    """Encoders, clock and drives of a machine, for ``polypod.simulate(..., machine=)`` at a rate.

    Attributes
    ----------
    encoder : array_like, optional
        Step of the encoders [m or rad], one number or (n,): coordinates are rounded to it, and rates are differences
        of such coordinates from sample to sample, zero at the first. Zero: exact coordinates and rates.
    lag : array_like, optional
        Time constant of drives and current loops [s], one number or (n,): a force follows its command by a first-order
        lag. At the start it is the force that holds the robot.
    ripple : array_like, optional
        Amplitude of the force ripple (cogging) [N or N m], one number or (n,), of the sine of ``ripple_pitch``.
    ripple_pitch : array_like, optional
        Way of the coordinate in which the ripple repeats [m or rad], one number or (n,); required with ``ripple``.
    jitter : float, optional
        Standard deviation of the instants of samples [s]; the controller takes them to be even. Each is at most 0.4 of
        a period off.
    seed : int, optional
        Random seed of the jitter.
    """

    encoder: ArrayLike = 0.0
    lag: ArrayLike = 0.0
    ripple: ArrayLike = 0.0
    ripple_pitch: ArrayLike | None = None
    jitter: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("encoder", "lag", "ripple", "jitter"):
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if not (np.isfinite(value) & (value >= 0)).all():
                raise InputError(f"{name}: must be finite and at least 0, got {value.tolist()}")
        if np.any(self.ripple):
            pitch = np.asarray(0.0 if self.ripple_pitch is None else self.ripple_pitch, dtype=np.float64)
            if not (np.isfinite(pitch) & (pitch > 0)).all():
                raise InputError("ripple_pitch: the way in which a ripple repeats is needed, greater than 0")


class MachineRun:
    """A machine in a simulation of ``count`` actuators at a rate: its clock, and what it remembers."""

    def __init__(self, machine: Machine, count: int, rate: float) -> None:
        self._encoder, self._lag, self._ripple = (
            _each(name, getattr(machine, name), count) for name in ("encoder", "lag", "ripple")
        )
        pitch = 1.0 if machine.ripple_pitch is None else machine.ripple_pitch
        self._pitch = _each("ripple_pitch", pitch, count)
        self._jitter, self._rate = float(machine.jitter), rate
        self._random = np.random.default_rng(machine.seed)
        self._q: Array | None = None
        self._force: Array | None = None

    def instants(self, count: int, duration: float) -> Array:
        """When samples are taken (count + 1,), the last the end."""
        even = np.minimum(np.arange(count + 1) / self._rate, duration)
        if self._jitter:
            most = _MOST_JITTER / self._rate
            even[1:-1] += np.clip(self._random.normal(scale=self._jitter, size=count - 1), -most, most)
        return even

    def measured(self, measurement: Measurement) -> Measurement:
        """What encoders show of a measurement."""
        if not self._encoder.any():
            return measurement
        some = self._encoder > 0
        steps = np.where(some, self._encoder, 1.0)
        q = np.where(some, steps * np.round(measurement.q / steps), measurement.q)
        before = q if self._q is None else self._q
        qdot = np.where(some, (q - before) * self._rate, measurement.qdot)
        self._q = q
        return measurement._replace(q=q, qdot=qdot)

    def start_from(self, force: Array) -> None:
        """The force of the drives at the start."""
        self._force = force.copy()

    def applied(self, pieces: Sequence[tuple[float, float, Array]]) -> Iterator[tuple[float, float, Array]]:
        """Pieces of time with the mean forces of drives whose commands are those."""
        assert self._force is not None
        lag = np.where(self._lag > 0, self._lag, 1.0)
        slow = self._lag > 0
        for start, end, command in pieces:
            least = float(lag[slow].min()) if slow.any() else np.inf
            parts = int(np.clip(np.ceil(_PARTS * (end - start) / least), 1, _MOST_PARTS))
            times = np.linspace(start, end, parts + 1)
            for low, high in pairwise(times.tolist()):
                h = high - low
                left = np.exp(-h / lag)
                mean = command + (self._force - command) * (1 - left) * lag / h
                self._force = np.where(slow, command + (self._force - command) * left, command)
                yield low, high, np.where(slow, mean, command)

    def ripples(self, q: Array) -> Array:
        """Forces (n,) of the ripple at coordinates."""
        found: Array = self._ripple * np.sin(2 * np.pi * q / self._pitch)
        return found


def _each(name: str, value: ArrayLike, count: int) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"machine: {name} must be one number or {count}, one per actuator, got shape {array.shape}")
    return np.broadcast_to(array, (count,)).copy()
