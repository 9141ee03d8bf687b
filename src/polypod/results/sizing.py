"""Actuator sizing: what each drive and each joint bearing must stand, as tables to take to a catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .study import Study
from .tables import Table, table

Array = NDArray[np.float64]
FORCES = (
    "Forces are positive along the growing coordinate: a UPS leg that pushes, a slider driven away from the start of "
    "its rail."
)
REACTIONS = (
    "What a joint puts on its child (the body farther from the base; the opposite acts on its parent), in base axes. "
    "The row of an actuated slide contains the actuator's force along its axis."
)


def mean(time: Array, values: Array) -> Array:
    """Average over time (k,) of values (n, k), straight lines between samples."""
    result: Array = np.trapezoid(values, time, axis=0) / (time[-1] - time[0])
    return result


def rms(time: Array, values: Array) -> Array:
    """Root of the average square over time (k,).

    >>> t = np.linspace(0.0, 1.0, 1001)
    >>> rms(t, np.sin(2 * np.pi * t)[:, None]).round(6)
    array([0.707107])
    """
    result: Array = np.sqrt(mean(time, values**2))
    return result


def actuators(study: Study) -> Table:
    """Peak and rms force, speed and power of each actuator, its travel, and when the force peaks.

    The peak force keeps its sign (positive pushes along the growing coordinate). Peak power is the largest that the
    drive gives; braking power is the largest that it takes up, negative; mean power is the average of what it gives.
    The stroke is the highest coordinate less the lowest.
    """
    t, force, speed, power = study.time, study.force, study.qdot, study.power
    peak = np.abs(force).argmax(axis=0)
    columns = [
        ("leg", ""), ("peak force", "N"), ("at", "s"), ("rms force", "N"), ("peak speed", "m/s"), ("rms speed", "m/s"),
        ("peak acceleration", "m/s^2"), ("peak power", "W"), ("braking power", "W"), ("mean driving power", "W"),
        ("stroke", "m"), ("lowest coordinate", "m"), ("highest coordinate", "m"),
    ]  # fmt: skip
    values = [
        force[peak, np.arange(len(peak))], t[peak], rms(t, force), np.abs(speed).max(axis=0), rms(t, speed),
        np.abs(study.qddot).max(axis=0), np.maximum(power.max(axis=0), 0.0), np.minimum(power.min(axis=0), 0.0),
        mean(t, np.maximum(power, 0.0)), np.ptp(study.q, axis=0), study.q.min(axis=0), study.q.max(axis=0),
    ]  # fmt: skip
    rows = [(leg, *(float(value[k]) for value in values)) for k, leg in enumerate(study.model.legs)]
    return table("Actuators", columns, rows, FORCES)


def bearings(study: Study) -> Table:
    """Load cases of every joint's bearing: largest reaction force and moment, when, and the force's components then.

    The cubic mean force (average of |F|^3 over time, cube root) is what life ratings of rolling bearings ask for at
    constant speed. Components are those on the joint's child, base axes. What inner stresses of an overconstrained
    robot leave open is NaN; the instants are then those of the largest part that is determined.
    """
    columns = [
        ("leg", ""), ("joint", ""), ("peak force", "N"), ("at", "s"), ("fx", "N"), ("fy", "N"), ("fz", "N"),
        ("cubic mean force", "N"), ("peak moment", "N m"), ("moment peak at", "s"),
    ]  # fmt: skip
    rows = []
    for (leg, joint), (force, moment) in study.reactions.items():
        size, turn = np.linalg.norm(force, axis=-1), np.linalg.norm(moment, axis=-1)
        top, twist = (int(np.linalg.norm(np.nan_to_num(a), axis=-1).argmax()) for a in (force, moment))
        cubic = float(np.cbrt(mean(study.time, size[:, None] ** 3)[0]))
        numbers = (size[top], study.time[top], *force[top], cubic, turn[twist], study.time[twist])
        rows.append((leg, joint, *map(float, numbers)))
    return table("Joint bearings", columns, rows, REACTIONS)


def limits(study: Study) -> Table:
    """The limits that the motion leaves: what is allowed, the worst value and when, and the share of time outside.

    One row for each limited quantity that leaves its range at any sample; no row if all are kept. The share is of the
    duration, from 0 to 1.
    """
    columns = [
        ("leg", ""), ("limit", ""), ("allowed low", ""), ("allowed high", ""), ("worst value", ""), ("unit", ""),
        ("at", "s"), ("share of time outside", "1"),
    ]  # fmt: skip
    found = study.limits
    over = np.fmax(found.low - found.value, found.value - found.high)
    over = np.where(np.isnan(found.value), np.inf, over)
    share = mean(study.time, (~found.inside).astype(float))
    rows = []
    for k, (leg, name) in enumerate(found.names):
        worst = int(over[:, k].argmax())
        if over[worst, k] > 0:
            numbers = (found.low[k], found.high[k], found.value[worst, k])
            told = (*map(float, numbers), found.units[k], float(study.time[worst]), float(share[k]))
            rows.append((leg, name, *told))
    return table("Limits that the motion leaves", columns, rows)


def bending(study: Study) -> str | None:
    """A flexible platform in a sentence: its modes, and where and when it bends most; None if it is rigid."""
    if study.bending is None:
        return None
    modes, size = study.bending.model.modes, np.linalg.norm(study.bending.deflection, axis=-1)
    when, leg = np.unravel_index(int(size.argmax()), size.shape)
    slowest, fastest = modes.frequencies.min() / (2 * np.pi), modes.frequencies.max() / (2 * np.pi)
    count = "1 mode" if modes.count == 1 else f"{modes.count} modes"
    return (
        f"flexible, {count} of {slowest:.4g} to {fastest:.4g} Hz; bends by up to {1e3 * size.max():.4g} mm "
        f"({study.model.legs[leg]} at {study.time[when]:.4g} s)"
    )


def summary(study: Study) -> dict[str, Any]:
    """What else a designer looks at first: duration, peaks over all actuators, conditioning.

    The total power is that of all actuators at once: the largest that they give, and the largest that they take up,
    negative; 0 if they never do.
    """
    total = study.power.sum(axis=1)
    return {
        "duration_s": float(study.time[-1]),
        "samples": float(len(study.time)),
        "peak_force_N": float(np.abs(study.force).max()),
        "peak_total_power_W": float(max(total.max(), 0.0)),
        "peak_total_braking_power_W": float(min(total.min(), 0.0)),
        "worst_condition_number": float(study.conditioning.condition.max()),
        "smallest_distance_to_singularity": float(study.conditioning.distance.min()),
        "indeterminate_reactions": list(study.indeterminate),
        "largest_deflection_m": None if study.bending is None else _largest(study.bending.deflection),
    }


def _largest(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max())
