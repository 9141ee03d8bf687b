"""Actuator sizing: what each drive must stand, as tables to take to a catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ..arrays import Array
from ..tables import Table, table
from .read import actuator_names, actuators_by_unit, drives, limit_report, mean, open_reactions, rms, without_rounding

_POSITIVE = {
    ("m",): "Forces are positive in the direction of increasing coordinates: a leg that pushes, a slider driven away "
    "from its start.",
    ("rad",): "Torques are positive in the direction of increasing coordinates: a motor that turns forwards.",
    ("m", "rad"): "Forces and torques are positive in the direction of increasing coordinates: a leg that pushes, "
    "a slider driven away from its start, a motor that turns forwards.",
}
_PULLING = " The force of a cable is minus its tension."


def actuators(result: xr.Dataset) -> Table:
    """Peak and rms force, speed and power of each actuator, its stroke, and when the force peaks.

    The peak force keeps its sign (positive pushes along the growing coordinate). Peak power is the largest that the
    drive delivers; braking power the largest that it absorbs, negative; mean power the average of what it delivers. The
    stroke is the highest coordinate minus the lowest. Units are those of the actuators, N and m or N m and rad; for a
    robot with both kinds, columns name those of each row.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Table
        One row for each actuator.
    """
    t, q, force, speed, change, power = (
        result[name].values for name in ("time", "q", "force", "qdot", "qddot", "power")
    )
    power = without_rounding(power, np.abs(power).max())  # a drive that never brakes brakes with 0 W
    peak = np.abs(force).argmax(axis=0)
    place, push, mixed = result.q.attrs["units"], result.force.attrs["units"], len(actuators_by_unit(result)) > 1
    columns = [
        ("actuator", ""), *([("unit", ""), ("force unit", "")] if mixed else []), ("peak force", push), ("at", "s"),
        ("rms force", push), ("peak speed", f"{place}/s"), ("rms speed", f"{place}/s"),
        ("peak acceleration", f"{place}/s^2"), ("peak power", "W"), ("braking power", "W"), ("mean driving power", "W"),
        ("stroke", place), ("lowest coordinate", place), ("highest coordinate", place),
    ]  # fmt: skip
    values = [
        force[peak, np.arange(len(peak))], t[peak], rms(t, force), np.abs(speed).max(axis=0), rms(t, speed),
        np.abs(change).max(axis=0), np.maximum(power.max(axis=0), 0.0), np.minimum(power.min(axis=0), 0.0),
        mean(t, np.maximum(power, 0.0)), np.ptp(q, axis=0), q.min(axis=0), q.max(axis=0),
    ]  # fmt: skip
    rows = []
    for k, name in enumerate(actuator_names(result)):
        units = [str(result[unit].values[k]) for unit in ("actuator_unit", "force_unit")] if mixed else []
        rows.append((name, *units, *(float(value[k]) for value in values)))
    moving = tuple(sorted({unit for unit, _ in actuators_by_unit(result)}))
    pulls = any(drive.tension_range is not None for drive in drives(result))
    return table("Actuators", columns, rows, _POSITIVE[moving] + (_PULLING if pulls else ""))


def limits(result: xr.Dataset) -> Table:
    """Limits that the motion exceeds: what is allowed, the worst value and when, and the share of time outside.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Table
        One row for each quantity that leaves its range at any sample; the share is of the duration, from 0 to 1.
    """
    columns = [
        ("leg", ""), ("limit", ""), ("allowed low", ""), ("allowed high", ""), ("worst value", ""), ("unit", ""),
        ("at", "s"), ("share of time outside", "1"),
    ]  # fmt: skip
    report, time = limit_report(result), result.time.values
    over = np.fmax(report.low - report.value, report.value - report.high)
    over = np.where(np.isnan(report.value), np.inf, over)
    share = mean(time, (~report.inside).astype(float))
    rows = []
    for k, (leg, name) in enumerate(report.names):
        worst = int(over[:, k].argmax())
        if over[worst, k] > 0:
            numbers = map(float, (report.low[k], report.high[k], report.value[worst, k]))
            rows.append((leg, name, *numbers, report.units[k], float(time[worst]), float(share[k])))
    return table("Limits exceeded by the motion", columns, rows)


def foundation(result: xr.Dataset) -> Table:
    """What the base carries: least and greatest of every component, and the largest that shakes it.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Table
        A row for each component of the wrench at the origin of {B}, base axes: force on the base, then moment. The
        shaking part is what the motion adds to the wrench at rest in the same pose.
    """
    columns = [("component", ""), ("unit", ""), ("least", ""), ("greatest", ""), ("shaking", ""), ("at", "s")]
    if "base_wrench" not in result:
        return table("Foundation loads", columns, [])
    wrench, time = result.base_wrench.values, result.time.values
    shaking = np.abs(result.shaking.values) if "shaking" in result else np.full_like(wrench, np.nan)
    rows = []
    for k, name in enumerate(("force x", "force y", "force z", "moment x", "moment y", "moment z")):
        worst = int(np.nan_to_num(shaking[:, k] if "shaking" in result else np.abs(wrench[:, k])).argmax())
        numbers = float(wrench[:, k].min()), float(wrench[:, k].max()), float(shaking[worst, k]), float(time[worst])
        rows.append((name, "N" if k < 3 else "N m", *numbers))
    return table("Foundation loads", columns, rows, "of the robot on its base, at the base origin, base axes")


def bending(result: xr.Dataset) -> str | None:
    """A flexible platform in a sentence: its modes, and where and when it bends most; None if it is rigid."""
    if "deflection" not in result:
        return None
    frequency, size = result["frequency"].values / (2 * np.pi), np.linalg.norm(result["deflection"].values, axis=-1)
    when, leg = np.unravel_index(int(size.argmax()), size.shape)
    count = "1 mode" if len(frequency) == 1 else f"{len(frequency)} modes"
    return (
        f"flexible, {count} of {frequency.min():.4g} to {frequency.max():.4g} Hz; bends by up to "
        f"{1e3 * size.max():.4g} mm ({result.leg.values[leg]} at {result.time.values[when]:.4g} s)"
    )


def by_unit(name: str, result: xr.Dataset, values: Array) -> dict[str, dict[str, float]]:
    """A number of each actuator (n,) by the actuators' names, under ``name`` with the unit of their force."""
    listed = actuator_names(result)
    return {
        f"{name}_{unit.replace(' ', '_')}": {listed[k]: float(values[k]) for k in numbers}
        for (_, unit), numbers in actuators_by_unit(result).items()
    }


def summary(result: xr.Dataset) -> dict[str, Any]:
    """Key figures of a study: duration, peaks over all actuators, conditioning.

    The peak force has its unit in its name, ``peak_force_N`` or ``peak_force_N_m``; the bound of the rounding error of
    forces has their unit (None for a flexible platform, whose motion is integrated). The total power is that of all
    actuators at once: the largest that they deliver, and the largest that they absorb, negative; 0 if they never do.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    dict of str to value
        The figures, with units in their names.
    """
    total = without_rounding(result.power.values.sum(axis=1), np.abs(result.power.values).sum(axis=1).max())
    peaks = by_unit("peak_force", result, np.abs(result.force.values).max(axis=0))
    return {
        "duration_s": float(result.time[-1]),
        "samples": float(len(result.time)),
        **{name: max(values.values()) for name, values in peaks.items()},
        "force_error_bound": float(result.force_bound.max()) if "force_bound" in result else None,
        "peak_total_power_W": float(max(total.max(), 0.0)),
        "peak_total_braking_power_W": float(min(total.min(), 0.0)),
        "worst_condition_number": float(result.condition.max()),
        "smallest_distance_to_singularity": float(result.distance.min()),
        "indeterminate_reactions": open_reactions(result),
        "largest_deflection_m": _largest(result.deflection.values) if "deflection" in result else None,
    }


def _largest(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max())


# ----------------------------------------------------------------------------------------------------------------------
# What the motors behind screws and gears must do.

_RPM = 30 / np.pi


def motors(result: xr.Dataset) -> Table:
    """Torque, speed and current of the motors whose screw or gear the robot file gives.

    A motor turns by n = 2 pi gear/lead (or gear) for a unit of the coordinate: its speed is n qdot, its torque F/n. The
    force F includes what accelerates the rotor. The current is the torque divided by the torque constant.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Table
        One row for each such motor.
    """
    given = drives(result)
    with_current = any(drive.geared and drive.torque_constant is not None for drive in given)
    columns = [("motor of", ""), ("peak torque", "N m"), ("rms torque", "N m"), ("peak speed", "rpm")]
    columns += [("peak current", "A"), ("rms current", "A")] if with_current else []
    rows = []
    for k, (name, drive) in enumerate(zip(actuator_names(result), given, strict=True)):
        if not drive.geared:
            continue
        torque = result.force.values[:, k] / drive.motor_ratio
        speed = result.qdot.values[:, k] * drive.motor_ratio * _RPM
        peak, mean = float(np.abs(torque).max()), float(rms(result.time.values, torque[:, None])[0])
        row = (name, peak, mean, float(np.abs(speed).max()))
        constant = drive.torque_constant
        rows.append((*row, *((np.nan if constant is None else x / constant) for x in (peak, mean)[: 2 * with_current])))
    return table("Motors", columns, rows, "Screw and gear losses are not included; add them as joint friction.")


def rotor_notes(result: xr.Dataset) -> list[str]:
    """A note if motors have no inertia because the robot file gives none.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    text = str(result.attrs.get("without_rotor", ""))
    names = text.split("; ") if text else []
    if not names:
        return []
    which = "any actuator" if len(names) == len(actuator_names(result)) else ", ".join(names)
    return [
        f"The robot file gives no motor inertia for {which}, so forces do not include the acceleration of the "
        "motors: with a screw of 5 mm lead, 1e-4 kg m^2 corresponds to 158 kg. Give rotor_inertia with lead or "
        "gear, or 0 if there is none."
    ]
