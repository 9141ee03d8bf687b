"""Results of a simulation as a labelled dataset, with its energy audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..control.reference import Reference
from ..datasets import dataset
from .chart import poses
from .events import Event
from .record import Record
from .system import System

if TYPE_CHECKING:
    import xarray as xr

LOST_ENERGY = 1e-4
"""Part of the energy exchanged that may appear from nowhere without a warning."""
MIN_ENERGY = 1e-15
"""Energy [J] below which nothing is said: a robot held by friction creeps by as much."""
_EVENT = ("event_time", "event_kind", "event_leg", "event_text")


def result_dataset(
    system: System, record: Record, force: Any, reference: Reference | None, about: dict[str, Any]
) -> xr.Dataset:
    """Everything recorded, as :func:`polypod.datasets.dataset` names it, with the energy audit and the events."""
    time, pose = record["time"], poses(record["frame"])
    values: dict[str, Any] = {"pose": pose}
    values |= {name: record[name] for name in ("twist", "q", "qdot", "command", "force", "wrench")}
    if system.modes:
        values |= {"elastic": record["elastic"], "elastic_rate": record["elastic_rate"]}
        values["deflection"] = system.deflection(record["elastic"])
    values |= _audit(system, record, pose, force)
    if reference is not None and len(time):
        wanted = reference.sampled(time)
        values |= {"reference_pose": wanted.pose, "error": pose_errors(wanted.pose, pose)}
    if record.events:
        values |= {
            name: np.array(column) for name, column in zip(_EVENT, zip(*record.events, strict=True), strict=True)
        }
    return dataset(system.model, time, values, about=about)


def _audit(system: System, record: Record, pose: Array, force: Any) -> dict[str, Array]:
    """Work done, energy stored, and what does not add up: residual = change of energy - work in + work lost."""
    energy = system.energy(pose, record["twist"], record["elastic"], record["elastic_rate"])
    by_actuators, by_wrench, lost = record["work"].T
    stored = energy.kinetic + energy.potential + energy.elastic
    named = {
        "energy_kinetic": energy.kinetic,
        "energy_potential": energy.potential,
        "energy_elastic": energy.elastic,
        "work_actuators": by_actuators,
        "work_external": by_wrench,
        "work_friction": lost,
        "energy_residual": stored - stored[:1] - (by_actuators + by_wrench - lost),
    }
    if hasattr(force, "energy"):
        named["energy_springs"] = force.energy(record["q"])
    return named


def energy_fault(result: xr.Dataset) -> str:
    """A sentence if the energy balance is off by more than LOST_ENERGY of the energy exchanged; else an empty text.

    Exchanged: the ranges of kinetic, gravity's and elastic energy, and the work done.
    """
    if not len(result.time):
        return ""
    moved = sum(float(np.ptp(result[f"energy_{name}"].values)) for name in ("kinetic", "potential", "elastic"))
    moved += sum(float(np.abs(result[f"work_{name}"].values).max()) for name in ("actuators", "external", "friction"))
    level = max(float(np.abs(result[f"energy_{name}"].values).max()) for name in ("kinetic", "potential", "elastic"))
    lost = float(np.abs(result["energy_residual"].values).max())
    if lost <= LOST_ENERGY * moved + 1e-12 * level + MIN_ENERGY:
        return ""
    return (
        f"{lost:.3g} J appear from nowhere, of {moved:.3g} J that are moved: the steps are too long for what happens "
        "in them. Do not trust the result; give a shorter step, a higher rate, or another method"
    )


def pose_errors(wanted: Array, pose: Array) -> Array:
    """[p_d - p; phi] (n, 6), phi the rotation vector of R_d R^T, base axes."""
    from ..control.feedback import feedback_kernel

    n = len(pose)
    zeros = np.zeros((n, 6))
    error: Array = feedback_kernel()(np.ascontiguousarray(pose), zeros, np.ascontiguousarray(wanted), *[zeros] * 4)[1]
    return error


def events(result: xr.Dataset) -> list[Event]:
    """The events of a result."""
    if "event_time" not in result:
        return []
    return [Event(*row) for row in zip(*(result[name].values.tolist() for name in _EVENT), strict=True)]
