"""Which forces the drives of a redundant robot give at a state: from their ratings, as numbers of its functions.

Each limit of a drive's force is an interval of it at given speed and acceleration; the range is what they have in
common. It is the inverse of the uses that ``polypod.limits`` computes: a force at an end of it uses a limit wholly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca

from ..description import Drive
from ..symbols.bounded import UNLIMITED
from .leg_at_state import LegAtState

PATH = "drives"
"""What the numbers of the port are called that ratings of drives are."""
_SLOW = 1e-300


def limits_force(drive: Drive) -> bool:
    """Whether a drive states a limit of its force at an instant."""
    stated = drive.max_force, drive.max_power, drive.force_speed, drive.max_motor_torque, drive.tension_range
    return any(one is not None for one in stated)


class ForceRange(NamedTuple):
    """Lowest and highest forces (n) of the actuators, and half of the range at rest, by which an excess counts."""

    low: ca.SX
    high: ca.SX
    size: ca.SX


class _Ratings(NamedTuple):
    """What one drive states, in symbols; None for what it does not."""

    max_force: Any
    max_power: Any
    curve: Sequence[tuple[Any, Any]] | None
    motor_torque: Any
    efficiency: Any
    tension: tuple[Any, Any] | None
    ratio: Any
    reflected: Any


class DriveBounds:
    """The ratings of all drives of a robot as symbols of its parameter vector."""

    def __init__(self, numbers: Any, drives: Sequence[Drive], twins: Sequence[Drive]) -> None:
        self._drives = [self._ratings(numbers, k, *pair) for k, pair in enumerate(zip(drives, twins, strict=True))]

    @staticmethod
    def _ratings(numbers: Any, k: int, drive: Drive, twin: Drive) -> _Ratings:
        place = iter(range(1000))

        def symbol(value: float | None) -> Any:
            numbers._note("none" if value is None else "rating")
            return None if value is None else numbers.scalar(PATH, value, (k, next(place)))

        curve = None if drive.force_speed is None else [(symbol(v), symbol(f)) for v, f in drive.force_speed]
        tension = None if drive.tension_range is None else tuple(symbol(end) for end in drive.tension_range)
        torque = symbol(drive.max_motor_torque)
        efficiency = None if torque is None else symbol(1.0 if drive.efficiency is None else drive.efficiency)
        return _Ratings(
            symbol(drive.max_force), symbol(drive.max_power), curve, torque, efficiency, tension,
            ca.SX(twin.motor_ratio), ca.SX(twin.reflected),
        )  # fmt: skip

    def at(self, legs: Sequence[LegAtState]) -> ForceRange:
        """The ranges at the motion of the legs."""
        rates = [rate for leg in legs for rate in leg.rates]
        changes = ca.vertcat(*[leg.accelerations for leg in legs])
        ends = [_range(one, rate, changes[k]) for k, (one, rate) in enumerate(zip(self._drives, rates, strict=True))]
        still = [_range(one, ca.SX(0), ca.SX(0)) for one in self._drives]
        size = ca.vertcat(*[0.5 * (high - low) for low, high in still])
        low, high = (ca.vertcat(*parts) for parts in zip(*ends, strict=True))
        return ForceRange(ca.fmin(low, high), ca.fmax(low, high), size)


def _range(one: _Ratings, speed: ca.SX, change: ca.SX) -> tuple[ca.SX, ca.SX]:
    most = ca.SX(UNLIMITED)
    if one.max_force is not None:
        most = ca.fmin(most, one.max_force)
    if one.max_power is not None:
        most = ca.fmin(most, one.max_power / ca.fmax(ca.fabs(speed), _SLOW))
    if one.curve is not None:
        most = ca.fmin(most, _on_curve(one.curve, ca.fabs(speed)))
    low, high = -most, most
    if one.motor_torque is not None:
        turned = one.reflected * change
        ends = []
        for torque in (-one.motor_torque, one.motor_torque):
            left = torque - turned / one.ratio  # what is left for screw and gear
            through = ca.if_else(left * speed >= 0, left * one.efficiency, left / one.efficiency)
            ends.append(turned + one.ratio * through)
        low, high = ca.fmax(low, ca.fmin(*ends)), ca.fmin(high, ca.fmax(*ends))
    if one.tension is not None:
        low, high = ca.fmax(low, -one.tension[1]), ca.fmin(high, -one.tension[0])
    return low, high


def _on_curve(points: Sequence[tuple[Any, Any]], speed: ca.SX) -> ca.SX:
    """The force on a curve of straight pieces at a speed; none beyond its last one."""
    found = ca.SX(0)
    for (v0, f0), (v1, f1) in zip(points[-2::-1], points[:0:-1], strict=True):
        found = ca.if_else(speed <= v1, f0 + (f1 - f0) * (speed - v0) / (v1 - v0), found)
    return found
