"""Results of a simulation as a labelled dataset, with its energy audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..control.contract import Controller, Measurement
from ..control.reference import Reference
from ..datasets import QUANTITIES, dataset, joint_component_labels
from ..model import Model
from ..motion import BaseTrajectory, Motion, MovingBase, Task, Trajectory
from .chart import WORKS, Layout, Snapshot, poses
from .events import Event
from .system import System

if TYPE_CHECKING:
    import xarray as xr


LOST_ENERGY = 1e-4
"""Part of the energy exchanged by which the balance may be off without a warning."""
MIN_ENERGY = 1e-15
"""Energy [J] below which nothing is said: a robot held by friction creeps by as much."""
_EVENT = ("event_time", "event_kind", "event_leg", "event_text")


def result_dataset(
    system: System,
    record: Record,
    force: Any,
    reference: Reference | None,
    about: dict[str, Any],
    base: BaseTrajectory | None = None,
) -> xr.Dataset:
    """Everything recorded, as ``polypod.datasets.dataset`` names it, with the energy audit and the events.

    ``base`` is the motion of a base that moves.
    """
    time, pose = record["time"], poses(record["frame"])
    values: dict[str, Any] = {"pose": pose}
    values |= {name: record[name] for name in ("q", "qdot", "command", "force", "wrench")}
    values["twist"] = record["twist"][:, :6]
    inner = system.place(record["internal"])
    values |= inner | ({"internal_rate": record["twist"][:, 6:]} if inner else {})
    if system.modes:
        values |= {"elastic": record["elastic"], "elastic_rate": record["elastic_rate"]}
        values["deflection"] = system.deflection(record["elastic"])
    moving = None if base is None else base.sampled(time)
    values |= {} if moving is None else {"base_pose": moving.pose, "base_twist": moving.twist}
    values |= _audit(system, record, pose, force, moving)
    if len(time):
        bent = record["elastic"] if system.modes else None
        found = system.model.joint_positions(pose, unwrap=0, errors="nan", elastic=bent, **inner)
        values |= {"joint_position": np.concatenate(list(found.values()), axis=-1)} if found else {}
    if reference is not None and len(time):
        wanted = reference.sampled(time)
        values |= {"reference_pose": wanted.pose, "error": pose_errors(wanted.pose, pose)}
        if wanted.internal is not None:
            values["internal_error"] = wanted.internal - record["internal"]
    if record.events:
        values |= {
            name: np.array(column) for name, column in zip(_EVENT, zip(*record.events, strict=True), strict=True)
        }
    labels = joint_component_labels(system.model) if len(time) else {}
    if inner:
        labels["internal_coordinate"] = ("internal_coordinate", list(system.model.internal))
    return dataset(system.model, time, values, labels, about)


def _audit(system: System, record: Record, pose: Array, force: Any, base: MovingBase | None) -> dict[str, Array]:
    """Work done, energy stored, and what does not add up: residual = change of energy - work in + work lost."""
    twist, elastic, rate, inner = (record[name] for name in ("twist", "elastic", "elastic_rate", "internal"))
    energy = system.energy(pose, twist, elastic, rate, base, inner)
    by_actuators, by_wrench, lost, *by_base = record["work"].T
    stored = energy.kinetic + energy.potential + energy.elastic
    named = {
        "energy_kinetic": energy.kinetic,
        "energy_potential": energy.potential,
        "energy_elastic": energy.elastic,
        "work_actuators": by_actuators,
        "work_external": by_wrench,
        "work_friction": lost,
        "energy_residual": stored - stored[:1] - (by_actuators + by_wrench - lost + sum(by_base)),
    }
    if by_base:
        named["work_base"] = by_base[0]
    if hasattr(force, "energy"):
        named["energy_springs"] = force.energy(record["q"])
    return named


def energy_fault(result: xr.Dataset) -> str:
    """A sentence if the energy balance is off by more than LOST_ENERGY of the energy exchanged; else an empty text.

    Exchanged: the ranges of kinetic, gravity's and elastic energy, and the work done.
    """
    if not len(result.time):
        return ""
    energies = [_rows(result, f"energy_{name}") for name in ("kinetic", "potential", "elastic")]
    works = [_rows(result, f"work_{name}") for name in WORKS if f"work_{name}" in result]
    moved = sum(np.ptp(part, axis=1) for part in energies) + sum(np.abs(part).max(axis=1) for part in works)
    level = np.max([np.abs(part).max(axis=1) for part in energies], axis=0)
    lost = np.abs(_rows(result, "energy_residual")).max(axis=1)
    off = ~(lost <= LOST_ENERGY * moved + 1e-12 * level + MIN_ENERGY)
    if not off.any():
        return ""
    worst = int(np.argmax(np.where(off, lost, -1.0)))
    many = f" of {int(off.sum())} of {len(off)} runs" if result["energy_residual"].ndim > 1 else ""
    return (
        f"energy balance{many} off by {'up to ' if many else ''}{lost[worst]:.3g} J of {moved[worst]:.3g} J exchanged: "
        "the step is too large. Do not trust the result; use a shorter step, a higher rate, or another method"
    )


def _rows(result: xr.Dataset, name: str) -> Array:
    """A quantity (runs, times) without what follows the end of a run, where the last number is repeated."""
    values: Array = result[name].values.reshape(-1, len(result.time))
    ended = np.isnan(values)
    if not ended.any():
        return values
    last = np.maximum((~ended).sum(axis=1) - 1, 0)
    return np.nan_to_num(np.where(ended, values[np.arange(len(values)), last][:, None], values))


def pose_errors(wanted: Array, pose: Array) -> Array:
    """[p_d - p; phi] (n, 6), phi the rotation vector of R_d R^T, base axes."""
    from ..control.law import feedback_kernel

    n = len(pose)
    zeros = np.zeros((n, 6))
    error: Array = feedback_kernel()(np.ascontiguousarray(pose), zeros, np.ascontiguousarray(wanted), *[zeros] * 4)[1]
    return error


def events(result: xr.Dataset) -> list[Event]:
    """Events of a simulation.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.simulate``.

    Returns
    -------
    list of Event
        The events in the order of time.
    """
    if "event_time" not in result:
        return []
    return [Event(*row) for row in zip(*(result[name].values.tolist() for name in _EVENT), strict=True)]


# ----------------------------------------------------------------------------------------------------------------------
# What a simulation keeps as it goes: states, forces and events, in arrays that grow.

_CAPACITY = 1024
"""Rows to begin with; doubled when they are full."""


class Sample(NamedTuple):
    """One row of a simulation as it is recorded.

    Attributes
    ----------
    time : float
        Time [s].
    measurement : Measurement
        What the sensors measure at that time.
    command : ndarray, shape (n,)
        Forces that were commanded [N or N m].
    force : ndarray, shape (n,)
        Forces that act, after saturation and delay [N or N m].
    wrench : ndarray, shape (6,)
        External wrench on the platform at the origin of {P}, base axes [N, N m].
    """

    time: float
    """[s]"""
    measurement: Measurement
    """What the sensors measure at that time."""
    command: Array
    """Forces (n,) that were asked for."""
    force: Array
    """Forces (n,) that act, after saturation and delay."""
    wrench: Array
    """External wrench (6,) on the platform, base axes."""


class Record:
    """Rows of time, snapshot, commanded and applied force, wrench; and the events.

    ``observe`` is called with every row as it is added.
    """

    def __init__(self, layout: Layout, observe: Callable[[Sample], None] | None) -> None:
        # a snapshot's row as it is, then the forces
        self._parts, count = {"time": slice(0, 1)}, layout.actuators
        self._parts |= {name: slice(part.start + 1, part.stop + 1) for name, part in layout.row.items()}
        for name, width in (("command", count), ("force", count), ("wrench", 6)):
            start = max(part.stop for part in self._parts.values())
            self._parts[name] = slice(start, start + width)
        self._rows: Array = np.empty((_CAPACITY, self._parts["wrench"].stop))
        self._count = 0
        self._observe = observe
        self.events: list[Event] = []

    def add(self, time: float, snapshot: Snapshot, command: Array, force: Array, wrench: Array) -> None:
        """Append a row."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        row = self._rows[self._count]
        row[0] = time
        np.concatenate([snapshot.row, command, force, wrench], out=row[1:])
        self._count += 1
        if self._observe is not None:
            self._observe(Sample(time, snapshot.measurement(), command.copy(), force.copy(), wrench.copy()))

    @property
    def last_time(self) -> float:
        """Time of the last row."""
        return float(self._rows[self._count - 1, 0]) if self._count else -np.inf

    def __getitem__(self, name: str) -> Array:
        """All rows (n, width) of a part of the layout, or of what acted; times are (n,)."""
        rows = self._rows[: self._count, self._parts[name]].copy()
        return rows[:, 0] if name == "time" else rows


# ----------------------------------------------------------------------------------------------------------------------
# Whether a simulation went as wanted: how far it came, and its errors and forces against what its motion needs.

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
    model: Model,
    trajectory: Trajectory,
    wrench: Controller | None,
    until: float,
    friction: bool = True,
    base: BaseTrajectory | None = None,
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
    moving: dict[str, Any] = {}
    if base is not None:
        carried = base.sampled(motion.time)
        moving = {"base_twist": carried.twist, "base_acceleration": carried.acceleration}
    force = model.rigid.inverse_dynamics(
        motion.pose, motion.twist, motion.acceleration, load, friction, errors="nan", **moving, **motion.place
    )
    return np.nan_to_num(np.abs(force)).max(axis=0)


def annotate(result: xr.Dataset, model: Model, needed: Array, about: dict[str, Any]) -> xr.Dataset:
    """A result with what ``remarks`` asks for: the ``needed`` forces (n,) and the platform's size."""
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
                f"The robot does not follow the motion: errors reach {far:.3g} m and {turned:.3g} rad, "
                f"{100 * max(far / size, turned):.2g} % of the platform's size ({size:.3g} m)."
            )
    if excessive_force(result):
        unit, (peak, needed) = result["force"].attrs["units"], _forces(result)
        found.append(
            f"Control forces are excessive: up to {peak:.4g} {unit}, while the motion needs at most "
            f"{needed:.4g} {unit}."
        )
    fault = energy_fault(result)
    if fault:
        found.append(f"{fault[0].upper()}{fault[1:]}.")
    return found
