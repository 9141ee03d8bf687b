"""Whether a simulation went as wanted: how far it came, and its errors and forces against what its motion needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..control.contract import Controller, Measurement
from ..datasets import QUANTITIES
from ..model import Model
from ..motion import Motion, Task, Trajectory
from .result import energy_fault

if TYPE_CHECKING:
    import xarray as xr

COMPLETE = "duration reached"
LARGE_ERROR = 0.01
"""Part of the platform's size (mean distance of its joints from the origin) that it may be off without a remark."""
LARGE_FORCE = 10.0
"""Times the force that the motion needs that actuators may give without a remark."""
_MIN_FORCE = 1e-3  # N or N m; less is no sign of trouble, however little a motion needs
_RATE = 200.0  # samples per second of the inverse dynamics


def completed(result: xr.Dataset) -> bool:
    """Whether a simulation reached its end."""
    return bool(result.attrs["ended"] == COMPLETE)


def external_wrench(task: Task) -> Controller | None:
    """A task's external wrench on the platform, (time, measurement) -> (6,), base axes; None if it has none.

    What the motion file gives along the platform's axes, or at a point of it, turns with the platform as simulated.
    """
    load = task.load
    if load is None:
        return None
    return lambda time, seen: load(Motion(np.asarray(time), seen.pose, seen.twist, np.zeros(6)))


def needed_force(
    model: Model, trajectory: Trajectory, wrench: Controller | None, until: float, friction: bool = True
) -> Array:
    """Largest force of each actuator (n,) [N] that the inverse dynamics gives along a motion until a time [s].

    A flexible platform counts as rigid: how it bends depends on the controller. Samples without an answer (at a
    singularity, or where a leg does not close) do not count.
    """
    end = min(until, trajectory.duration)
    motion = trajectory.at(np.linspace(0.0, end, int(end * _RATE) + 2))
    load = None
    if wrench is not None:
        none = np.zeros(0)
        rows = zip(motion.time.tolist(), motion.pose, motion.twist, strict=True)
        load = np.stack([wrench(time, Measurement(none, none, pose, twist, none, none)) for time, pose, twist in rows])
    force = model.rigid.inverse_dynamics(motion.pose, motion.twist, motion.acceleration, load, friction, errors="nan")
    return np.nan_to_num(np.abs(force)).max(axis=0)


def annotate(result: xr.Dataset, model: Model, needed: Array, about: dict[str, Any]) -> xr.Dataset:
    """A result with what :func:`remarks` asks for: the ``needed`` forces (n,) and the platform's size."""
    unit = result["force"].attrs["units"]
    known = QUANTITIES["needed_force"]
    annotated = result.assign(needed_force=(known.dims, needed, {"long_name": known.text, "units": unit}))
    return annotated.assign_attrs({"platform_size": model.robot.platform_size, **about})


def excessive_force(result: xr.Dataset) -> bool:
    """Whether forces are many times what the motion needs."""
    peak, needed = _forces(result)
    return peak > max(LARGE_FORCE * needed, _MIN_FORCE)


def _forces(result: xr.Dataset) -> tuple[float, float]:
    """Largest force of all actuators, and largest that the motion needs."""
    peak, needed = (float(np.abs(result[name].values).max(initial=0.0)) for name in ("force", "needed_force"))
    return peak, needed


def remarks(result: xr.Dataset) -> list[str]:
    """Sentences on a tracking error, on forces that a good controller does not leave, on energy from nowhere.

    An error of rotation counts as what it moves the platform's joints by.
    """
    found, size = [], float(result.attrs["platform_size"])
    if "error" in result and len(result.time):
        error = result["error"].values
        far, turned = (float(np.linalg.norm(part, axis=1).max()) for part in (error[:, :3], error[:, 3:]))
        if max(far, turned * size) > LARGE_ERROR * size:
            found.append(
                f"The robot does not follow the motion: it is off by up to {far:.3g} m and {turned:.3g} rad, "
                f"{100 * max(far / size, turned):.2g} % of the platform's size ({size:.3g} m)."
            )
    if excessive_force(result):
        unit, (peak, needed) = result["force"].attrs["units"], _forces(result)
        found.append(
            f"The controller shakes the robot: forces of up to {peak:.4g} {unit}, where the motion needs at most "
            f"{needed:.4g} {unit}."
        )
    fault = energy_fault(result)
    if fault:
        found.append(f"{fault[0].upper()}{fault[1:]}.")
    return found
