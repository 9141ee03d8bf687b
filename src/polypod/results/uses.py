"""Uses of limits: what a motion asks of drives, joints and bearings, by what the robot file allows.

The use of a limit is 1 at the limit. Within a range (a length, a coordinate) it is the distance from the middle by half
the range; in a cone it is the angle by the half angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ..description import Drive
from ..description.curve import curve_use
from ..tables import called
from .bearings import lives, statics
from .read import actuators, limit_report
from .time_means import rms

OF_DRIVES = {
    "force": "max_force", "continuous force": "rms_force", "force at speed": "force_speed", "speed": "max_speed",
    "acceleration": "max_acceleration", "power": "max_power", "stroke": "max_stroke",
}  # fmt: skip
"""What drives are judged by, in the order of the verdict, and the field of a robot file that limits it."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Use:
    """One limit at its worst: what is asked where and when (None: over the whole motion), and what is allowed.

    ``use`` is a share of what is allowed, 1 at the limit; ``kept`` says whether the limit holds; ``least`` that it is
    the low end of a range. SI units.
    """

    quantity: str
    where: str
    value: float
    allowed: float
    unit: str
    time: float | None
    use: float
    kept: bool
    least: bool = False


def of_drives(result: xr.Dataset, given: list[Drive], name: str) -> list[Use]:
    """Uses of one of :data:`OF_DRIVES` by all drives that limit it."""
    found = []
    for k, (where, drive) in enumerate(zip(actuators(result), given, strict=True)):
        if getattr(drive, OF_DRIVES[name]) is not None:
            found.append(_of_drive(result, k, where, drive, name))
    return found


def _of_drive(result: xr.Dataset, k: int, where: str, drive: Drive, name: str) -> Use:
    time, force, speed = result.time.values, result.force.values[:, k], result.qdot.values[:, k]
    unit, push = str(result.actuator_unit.values[k]), str(result.force_unit.values[k])
    allowed, label = getattr(drive, OF_DRIVES[name]), called(name, push)
    if name == "continuous force":
        return _use(label, where, float(rms(time, force[:, None])[0]), allowed, push)
    if name == "stroke":
        return _use(name, where, float(np.ptp(result.q.values[:, k])), allowed, unit)
    if name == "force at speed":
        share = curve_use(np.array(allowed), speed, force)
        at = int(share.argmax())
        value, most = float(abs(force[at])), float(share[at])
        # the force where the envelope is met by growing force and speed alike
        met = value / most if most and value else float(np.interp(abs(speed[at]), *np.array(allowed).T))
        return Use(label, where, value, met, push, float(time[at]), most, _holds(most))
    values, unit = {
        "force": (force, push),
        "speed": (speed, f"{unit}/s"),
        "acceleration": (result.qddot.values[:, k], f"{unit}/s^2"),
        "power": (result.power.values[:, k], "W"),
    }[name]
    at = int(np.abs(values).argmax())
    return _use(label, where, float(abs(values[at])), allowed, unit, float(time[at]))


def _use(name: str, where: str, value: float, allowed: float, unit: str, time: float | None = None) -> Use:
    return Use(name, where, value, allowed, unit, time, value / allowed, _holds(value / allowed))


def _holds(share: float) -> bool:
    return share <= 1 + _ROUNDING


def of_limits(result: xr.Dataset) -> list[Use]:
    """Uses of lengths, coordinates and cones that the robot file limits."""
    report, time = limit_report(result), result.time.values
    middle, half = 0.5 * (report.low + report.high), 0.5 * (report.high - report.low)
    cones = np.array([name.endswith("cone") for _, name in report.names], dtype=bool)
    share = np.where(cones, report.value / report.high, np.abs(report.value - middle) / half)
    found = []
    for k, (leg, name) in enumerate(report.names):
        at = int(share[:, k].argmax())
        value = float(report.value[at, k])
        low = not cones[k] and value < middle[k]
        allowed = float(report.low[k] if low else report.high[k])
        kept, label = bool(report.inside[:, k].all()), name if cones[k] else f"{name} range"
        use = float(share[at, k])
        found.append(Use(label, leg, value, allowed, report.units[k], float(time[at]), use, kept, bool(low)))
    return found


def of_bearings(result: xr.Dataset) -> list[Use]:
    """Mean and largest loads of bearings by their dynamic and static ratings; what statics leaves open is left out."""
    moving = [_use("bearing", f"{one.leg} {one.joint}", one.load, one.rating, "N") for one in lives(result)]
    still = [
        _use("bearing, static", f"{one.leg} {one.joint}", one.load, one.rating, "N", one.time)
        for one in statics(result)
    ]
    return [one for one in (*moving, *still) if not math.isnan(one.value)]
