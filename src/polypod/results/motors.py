"""What the motors behind screws and gears must do."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ..tables import Table, table
from .read import actuator_names, drives
from .time_means import rms

_RPM = 30 / np.pi


def motors(result: xr.Dataset) -> Table:
    """Torque, speed and current of the motors whose screw or gear the robot file gives; no row for the others.

    A motor turns by n = 2 pi gear/lead (or gear) for a unit of the coordinate: its speed is n qdot, its torque F/n.
    The force F includes what accelerates the rotor. The current is the torque by the torque constant.
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
    return table("Motors", columns, rows, "Without losses in screw and gear, which friction of the joint may hold.")


def rotor_notes(result: xr.Dataset) -> list[str]:
    """A sentence if motors have no inertia because the robot file says nothing of it."""
    text = str(result.attrs.get("without_rotor", ""))
    names = text.split("; ") if text else []
    if not names:
        return []
    which = "any actuator" if len(names) == len(actuator_names(result)) else ", ".join(names)
    return [
        f"The robot file gives no motor inertia for {which}, so forces leave out what accelerates the motors: with a "
        "screw of 5 mm lead, 1e-4 kg m^2 count as 158 kg. Give rotor_inertia with lead or gear, or 0 if there is none."
    ]
