"""Time laws: progress s(t) from 0 to 1, the scalar paths that drive lines and motions through points.

Each takes its duration alone (``trapezoid`` its own numbers), so a law is an argument like any other.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BPoly  # type: ignore[import-untyped, unused-ignore]

from ..errors import InputError
from .checks import ROUNDING, positive
from .contract import Path
from .elementary import HarmonicPath, PolynomialPath, constant_accelerations, polynomial


def constant_speed(duration: float) -> Path:
    """s = t/T: no ramps, the motion starts and ends at speed."""
    return polynomial([0.0, 1.0 / positive("duration", duration, "s")], duration)


def quintic(duration: float) -> Path:
    """s = 10 u^3 - 15 u^4 + 6 u^5, u = t/T: at rest, without acceleration, at both ends."""
    end = positive("duration", duration, "s")
    # in Bernstein form velocity and acceleration vanish at both ends exactly, not to rounding
    return PolynomialPath(end, (), BPoly([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], [0.0, end]))


def cosine(duration: float) -> Path:
    """s = (1 - cos(pi t/T))/2: at rest at both ends; there and back in turn, smooth for ever."""
    end = positive("duration", duration, "s")
    half = np.asarray(0.5)
    return HarmonicPath(end, (), half, -half, np.asarray(0.0), np.asarray(np.pi / end))


def trapezoid(
    *, duration: float | None = None, ramp: float | None = None, speed: float | None = None, distance: float = 1.0
) -> Path:
    """Constant acceleration for ``ramp`` s, constant ``speed``, constant deceleration for ``ramp`` s.

    Two of ``duration``, ``ramp`` and ``speed`` are given, the third follows from
    distance = speed (duration - ramp). ``distance`` only gives ``speed`` its unit: s still goes from 0 to 1.
    """
    way = positive("distance", distance, "m or rad")
    if duration is not None and ramp is not None and speed is None:
        total, rise = positive("duration", duration, "s"), positive("ramp", ramp, "s")
    elif duration is not None and ramp is None and speed is not None:
        total = positive("duration", duration, "s")
        rise = total - way / positive("speed", speed, "m/s or rad/s")
    elif duration is None and ramp is not None and speed is not None:
        rise = positive("ramp", ramp, "s")
        total = rise + way / positive("speed", speed, "m/s or rad/s")
    else:
        got = f"duration={duration}, ramp={ramp}, speed={speed}"
        raise InputError(f"trapezoid: give exactly two of duration, ramp and speed, got {got}")
    if not 0.0 < rise <= total * (0.5 + ROUNDING):
        raise InputError(_no_trapezoid(total, rise, duration, speed, way))
    rise = min(rise, total / 2)
    top = 1.0 / (rise * (total - rise))
    if total - 2 * rise <= ROUNDING * total:
        return constant_accelerations(0.0, [top, -top], [0.0, total / 2, total])
    return constant_accelerations(0.0, [top, 0.0, -top], [0.0, rise, total - rise, total])


def _no_trapezoid(total: float, rise: float, duration: float | None, speed: float | None, way: float) -> str:
    """Why no such trapezoid exists, and what the numbers may be."""
    if speed is None:
        return f"ramp: must be at most half the duration {total:.12g} s, got {rise:.12g} s"
    if duration is None:
        limit = way / speed
        return f"ramp: at speed {speed:.12g} over {way:.12g} must be at most {limit:.12g} s, got {rise:.12g} s"
    low, high = way / total, 2 * way / total
    return (
        f"speed: for {way:.12g} in {total:.12g} s must be greater than {low:.12g} (constant speed)"
        f" and at most {high:.12g} (no cruise), got {speed:.12g}"
    )
