"""Uses of limits: what a motion asks of drives, joints and bearings, by what the robot file allows.

The use of a limit is 1 at the limit. Within a range (a length, a coordinate) it is the distance from the middle by half
the range; in a cone it is the angle by the half angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from ..description import Drive
from ..description.curve import curve_use
from ..tables import called
from .bearings import basic_lives, static_loads
from .read import actuator_names, limit_report
from .time_means import rms

DRIVE_LIMITS = {
    "force": "max_force", "continuous force": "rms_force", "force at speed": "force_speed", "speed": "max_speed",
    "acceleration": "max_acceleration", "power": "max_power", "stroke": "max_stroke",
}  # fmt: skip
"""What drives are judged by, in the order of the verdict, and the field of a robot file that limits it."""
_ROUNDING = 1e-12
PROOF_TOLERANCE = 1e-9
"""Relative rounding with which a limit that is proven to be reached at most counts as kept."""


@dataclass(frozen=True)
class LimitUse:
    """One limit at its worst: what is asked where and when (None: over the whole motion), and what is allowed.

    ``use`` is a share of what is allowed, 1 at the limit; ``kept`` says whether the limit holds at the samples;
    ``least`` that it is the low end of a range; ``proven`` that it holds at every instant. SI units.
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
    proven: bool = False


def drive_uses(result: xr.Dataset, given: list[Drive], name: str) -> list[LimitUse]:
    """Uses of one of :data:`DRIVE_LIMITS` by all drives that limit it."""
    found = []
    for k, (where, drive) in enumerate(zip(actuator_names(result), given, strict=True)):
        allowed = drive_limit(drive, name)
        if allowed is not None:
            use = _drive_use(result, k, where, drive, name)
            proven = use.kept and _at_most(result, k, name) <= allowed * (1 + PROOF_TOLERANCE)
            found.append(replace(use, proven=proven))
    return found


def drive_limit(drive: Drive, name: str) -> float | None:
    """What a drive allows of one of :data:`DRIVE_LIMITS`; of a curve of force over speed a use of 1; None: anything."""
    value = getattr(drive, DRIVE_LIMITS[name])
    return value if value is None else 1.0 if name == "force at speed" else float(value)


def _at_most(result: xr.Dataset, k: int, name: str) -> float:
    """What is asked of an actuator at every instant at most, as far as it is proven."""
    return float(result.upper_bound.sel(drive_limit=name)[k]) if "upper_bound" in result else math.inf


def _drive_use(result: xr.Dataset, k: int, where: str, drive: Drive, name: str) -> LimitUse:
    time, force, speed = result.time.values, result.force.values[:, k], result.qdot.values[:, k]
    unit, push = str(result.actuator_unit.values[k]), str(result.force_unit.values[k])
    allowed, label = getattr(drive, DRIVE_LIMITS[name]), called(name, push)
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
        return LimitUse(label, where, value, met, push, float(time[at]), most, _holds(most))
    values, unit = {
        "force": (force, push),
        "speed": (speed, f"{unit}/s"),
        "acceleration": (result.qddot.values[:, k], f"{unit}/s^2"),
        "power": (result.power.values[:, k], "W"),
    }[name]
    at = int(np.abs(values).argmax())
    return _use(label, where, float(abs(values[at])), allowed, unit, float(time[at]))


def _use(name: str, where: str, value: float, allowed: float, unit: str, time: float | None = None) -> LimitUse:
    return LimitUse(name, where, value, allowed, unit, time, value / allowed, _holds(value / allowed))


def _holds(share: float) -> bool:
    return share <= 1 + _ROUNDING


def limit_uses(result: xr.Dataset) -> list[LimitUse]:
    """Uses of lengths, coordinates and cones that the robot file limits."""
    report, time = limit_report(result), result.time.values
    proven = result.attrs.get("certified") == "yes"
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
        unit = report.units[k]
        found.append(LimitUse(label, leg, value, allowed, unit, float(time[at]), use, kept, bool(low), kept and proven))
    return found


def bearing_uses(result: xr.Dataset) -> list[LimitUse]:
    """Mean and largest loads of bearings by their dynamic and static ratings; open loads are left out."""
    moving = [_use("bearing", f"{one.leg} {one.joint}", one.load, one.rating, "N") for one in basic_lives(result)]
    still = [
        _use("bearing, static", f"{one.leg} {one.joint}", one.load, one.rating, "N", one.time)
        for one in static_loads(result)
    ]
    return [one for one in (*moving, *still) if not math.isnan(one.value)]
