"""Actuator forces and external wrenches over time: constants, functions and controllers, checked at every call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..control.contract import ControllerWithMemory, Measurement
from ..description import Drive
from ..description.drive import force_at
from ..errors import InputError, PolypodError
from ..model.actuators import ActuatorInfo
from ..motion import BaseTrajectory
from .errors import SimulationError


class Signal(ABC):
    """Numbers (n,) as a function of time and measurement; ``constant`` if they depend on neither."""

    constant: Array | None = None
    has_memory: bool = False

    @abstractmethod
    def at(self, time: float, measurement: Measurement) -> Array:
        """The value at a time."""


SignalLike = ArrayLike | Callable[[float, Measurement], ArrayLike] | ControllerWithMemory | Signal | None


class ConstantSignal(Signal):
    """A signal that does not change."""

    def __init__(self, value: Array) -> None:
        self.constant: Array = value

    def at(self, time: float, measurement: Measurement) -> Array:
        """The constant value."""
        return self.constant


class Function(Signal):
    """A function or controller of the user's, whose faults are ``SimulationError`` with the time."""

    def __init__(
        self, name: str, function: Any, labels: tuple[str, ...], check: Callable[[Array], None] = lambda rows: None
    ) -> None:
        """``check`` raises for rows (n, k) that the model cannot take."""
        self._name, self._function, self._labels, self._check = name, function, labels, check
        self.has_memory = isinstance(function, ControllerWithMemory)
        self._memory: Any = None
        self._started = False

    def at(self, time: float, measurement: Measurement) -> Array:
        """The value at a time, checked."""
        name, count = self._name, len(self._labels)
        array = self._numbers(time, measurement)
        if array.shape != (count,):
            raise SimulationError(f"{name}: shape ({count},) is needed, got {array.shape} at t = {time:.6g} s", time)
        if not all(map(isfinite, array.tolist())):  # of a few numbers faster than np.isfinite(...).all()
            raise SimulationError(self.not_finite(time, array), time)
        try:
            self._check(array[None])
        except InputError as error:
            raise SimulationError(f"{error} (at t = {time:.6g} s)", time) from error
        return array

    def _numbers(self, time: float, measurement: Measurement) -> Array:
        name, count = self._name, len(self._labels)
        try:
            value = self._answer(time, measurement)
        except Exception as error:  # whatever a user's function does, what was simulated so far must not be lost
            kind = "" if isinstance(error, PolypodError) else f"{type(error).__name__}: "
            code = error.code if isinstance(error, PolypodError) else ""
            raise SimulationError(f"{name}: failed at t = {time:.6g} s: {kind}{error}", time, code=code) from error
        try:
            return _real(value)
        except (TypeError, ValueError) as error:
            raise SimulationError(
                f"{name}: numbers ({count},) are needed, got {value!r} at t = {time:.6g} s", time
            ) from error

    def at_batch(self, time: float, measurement: Measurement) -> Array:
        """The value (..., n) at a time for a batch of measurements; rows may be not finite."""
        array, wanted = self._numbers(time, measurement), (*measurement.q.shape[:-1], len(self._labels))
        try:
            return np.broadcast_to(array, wanted)
        except ValueError as error:
            raise SimulationError(
                f"{self._name}: shape {wanted}, a row for each run, or one that broadcasts to it is needed, got "
                f"{array.shape} at t = {time:.6g} s",
                time,
            ) from error

    def not_finite(self, time: float, row: Array) -> str:
        """What to say of a row that is not finite."""
        bad = int(np.argmin(np.isfinite(row)))
        return f"{self._name}: got {row[bad]} for {self._labels[bad]} at t = {time:.6g} s; finite numbers are needed"

    def _answer(self, time: float, measurement: Measurement) -> ArrayLike:
        if not self.has_memory:
            return self._function(time, measurement)
        if not self._started:
            self._memory, self._started = self._function.start(time, measurement), True
        force: ArrayLike
        force, self._memory = self._function.step(self._memory, time, measurement)
        return force


class Saturated(Signal):
    """A force as actuators give it."""

    def __init__(self, command: Signal, actuators: Actuators) -> None:
        self._command, self._actuators = command, actuators
        self.constant = None
        if command.constant is not None and not actuators.depend_on_speed:
            self.constant = actuators.saturated(command.constant, np.zeros_like(command.constant))

    def at(self, time: float, measurement: Measurement) -> Array:
        """The saturated value at a time."""
        return self._actuators.saturated(self._command.at(time, measurement), measurement.qdot)


class AppliedForces(NamedTuple):
    """Actuator forces and external wrench that act on the robot, asked for times within ``span`` only; and the motion
    of a base that moves."""

    force: Signal
    wrench: Signal
    span: tuple[float, float] = (-np.inf, np.inf)
    base: BaseTrajectory | None = None

    @property
    def held(self) -> tuple[Array, Array] | None:
        """Force and wrench, if neither depends on time or state."""
        force, wrench = self.force.constant, self.wrench.constant
        return None if force is None or wrench is None else (force, wrench)

    def over(self, start: float, end: float) -> tuple[Array, ...] | None:
        """What acts in a step of a period, if force and wrench are held."""
        held = self.held
        return held if held is None or self.base is None else (*held, self.base.nodes(start, end))

    def at(self, time: float, seen: Callable[[], Measurement]) -> tuple[Array, ...]:
        """What acts at a time; ``seen`` is asked for a measurement if force or wrench depend on it."""
        inside, acting = min(max(time, self.span[0]), self.span[1]), self.held
        if acting is None:
            measurement = seen()
            acting = self.force.at(inside, measurement), self.wrench.at(inside, measurement)
        return acting if self.base is None else (*acting, np.concatenate(self.base.at(inside)))


def finite_numbers(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """A copy of finite real numbers of a shape; anything else is an InputError."""
    try:
        array = _real(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: an array of numbers is needed, got {type(value).__name__}") from error
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"{name}: finite numbers of shape {shape} are needed, got {array.tolist()}")
    return array


def _real(value: Any) -> Array:
    """A copy as real numbers; NumPy would drop imaginary parts."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers")
    return array.astype(np.float64)


def signal(
    name: str, given: SignalLike, labels: tuple[str, ...], check: Callable[[Array], None] = lambda rows: None
) -> Signal:
    """A signal from numbers (None is zero), a function (time, measurement) or a controller; a signal is one already."""
    if isinstance(given, Signal):
        return given
    if callable(given) or isinstance(given, ControllerWithMemory):
        return Function(name, given, labels, check)
    try:
        array = np.zeros(len(labels)) if given is None else _real(given)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: numbers ({len(labels)},), a function (time, measurement) or a controller is needed, got "
            f"{type(given).__name__}"
        ) from error
    if array.shape != (len(labels),) or not np.isfinite(array).all():
        raise InputError(f"{name}: {len(labels)} finite numbers are needed, got {array.tolist()}")
    check(array[None])
    return ConstantSignal(array)


# ----------------------------------------------------------------------------------------------------------------------
# Actuators between controller and robot: forces saturate, commands arrive late.

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
        """The force (..., n) that actuators give for a command, at rates (..., n) of their coordinates."""
        if self._unbounded:
            return force
        if self._drives is None:
            return np.clip(force, self.low, self.high)
        most = np.stack([force_at(drive, rate[..., k]) for k, drive in enumerate(self._drives)], axis=-1)
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
            f"saturation: must be a number, or 'drives' for the limits of the robot file, got {saturation!r}"
        )
    drives = tuple(actuator.drive for actuator in actuators)
    if all(drive.max_force is None and drive.force_speed is None and drive.max_power is None for drive in drives):
        raise InputError(
            "saturation: no drive of the robot has max_force, force_speed or max_power; add them to the "
            "file, or give a number"
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
        raise InputError(
            f"saturation: must be a number or an array ({count},) or ({count}, 2) with low and high, got "
            f"shape {value.shape}"
        )
    bad = ~(low < high)
    if bad.any():
        k = int(np.argmax(bad))
        a = actuators[k]
        raise InputError(f"saturation: low must be below high, got {low[k]} to {high[k]} {a.force_unit} for {a.name}")
    return low.copy(), high.copy()
