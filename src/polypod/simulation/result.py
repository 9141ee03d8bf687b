"""Results of a simulation as a labelled dataset with units, its energy audit, and netCDF files of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..control.reference import Reference
from .chart import poses
from .events import Event
from .record import Record
from .system import System

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
AXES = ("x", "y", "z", "rx", "ry", "rz")


def dataset(
    system: System, record: Record, force: Any, reference: Reference | None, about: dict[str, Any]
) -> xr.Dataset:
    """Everything recorded over ``time``, by ``leg``, ``axis`` (of a twist) and ``mode``, with the energy audit.

    A flexible platform has its elastic coordinates, and displacements of the attachment points by ``direction``.
    """
    import xarray as xr

    time, x, modes = record["time"], record["state"], system.modes
    pose, twist = poses(x), x[:, 12:18]
    elastic, elastic_rate, work = x[:, 18 : 18 + modes], x[:, 18 + modes : 18 + 2 * modes], x[:, 18 + 2 * modes :]
    by_leg, by_axis = ("time", "leg"), ("time", "axis")
    place, push = system.units
    variables: dict[str, Any] = {
        "pose": (("time", "row", "column"), pose, _about("pose of the platform in the base", "1, m")),
        "twist": (by_axis, twist, _about("twist of the platform", "m/s, rad/s")),
        "q": (by_leg, record["q"], _about("actuated coordinate", place)),
        "qdot": (by_leg, record["qdot"], _about("actuator speed", f"{place}/s")),
        "command": (by_leg, record["command"], _about("force asked of the actuator", push)),
        "force": (by_leg, record["force"], _about("force the actuator applies from then on", push)),
        "wrench": (by_axis, record["wrench"], _about("external wrench on the platform", "N, N m")),
    }
    coordinates: dict[str, Any] = {
        "time": ("time", time, _about("time", "s")),
        "leg": list(system.legs),
        "axis": list(AXES),
    }
    if modes:
        variables["elastic"] = (("time", "mode"), elastic, _about("elastic coordinate", "generalized"))
        variables["elastic_rate"] = (("time", "mode"), elastic_rate, _about("its rate", "generalized, 1/s"))
        coordinates["mode"] = np.arange(1, modes + 1)
    if system.parts.deflection is not None:
        moved = _about("displacement of a leg's attachment point on the platform, platform axes", "m")
        variables["deflection"] = (("time", "leg", "direction"), system.parts.deflection(elastic), moved)
        coordinates["direction"] = list(AXES[:3])
    variables |= _audit(system, pose, twist, elastic, elastic_rate, work, record["q"], force)
    if reference is not None and len(time):
        wanted = reference.sampled(time)
        variables["reference_pose"] = (("time", "row", "column"), wanted.pose, _about("pose wanted", "1, m"))
        error = pose_errors(wanted.pose, pose)
        variables["error"] = (by_axis, error, _about("wanted less actual pose (rotation vector)", "m, rad"))
    if record.events:
        columns = list(zip(*record.events, strict=True))
        variables["event_time"] = ("event", np.array(columns[0]), _about("when it happened", "s"))
        for name, texts in zip(("event_kind", "event_leg", "event_text"), columns[1:], strict=True):
            variables[name] = ("event", np.array(texts))
    attributes = {"robot": system.robot.name, **about, "robot_file": system.robot_file, "polypod_version": _version()}
    return xr.Dataset(variables, coordinates, attributes)


def _audit(
    system: System, pose: Array, twist: Array, elastic: Array, elastic_rate: Array, work: Array, q: Array, force: Any
) -> dict[str, Any]:
    """Work done, energy stored, and what does not add up: residual = change of energy - work in + work lost."""
    energy = system.parts.energy(pose, twist, elastic, elastic_rate)
    stored = energy.kinetic + energy.potential + energy.elastic
    change = stored - stored[:1]
    residual = change - (work[:, 0] + work[:, 1] - work[:, 2])
    named = {
        "energy_kinetic": (energy.kinetic, "kinetic energy"),
        "energy_potential": (energy.potential, "potential energy of gravity"),
        "energy_elastic": (energy.elastic, "elastic energy of the platform"),
        "work_actuators": (work[:, 0], "work of the actuators"),
        "work_external": (work[:, 1], "work of the external wrench"),
        "work_friction": (work[:, 2], "energy lost in friction and damping"),
        "energy_residual": (residual, "energy that appears from nowhere"),
    }
    if hasattr(force, "energy"):
        named["energy_springs"] = (force.energy(q), "energy of springs in place of actuators")
    return {name: ("time", values, _about(text, "J")) for name, (values, text) in named.items()}


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
    columns = [result[f"event_{name}"].values.tolist() for name in ("time", "kind", "leg", "text")]
    return [Event(*row) for row in zip(*columns, strict=True)]


def save_result(result: xr.Dataset, path: str | Path, force: bool = False) -> Path:
    """Write a result as netCDF 3 (any reader of the format opens it); an existing file needs ``force``."""
    from ..results.report.folder import write_whole

    content = result.to_netcdf(engine="scipy", format="NETCDF3_64BIT")
    write_whole(Path(path), bytes(content), force)
    return Path(path)


def load_result(path: str | Path) -> xr.Dataset:
    """Read a result back."""
    import xarray as xr

    with xr.open_dataset(path, engine="scipy", decode_times=False) as opened:
        result = opened.load()
    for name in [name for name in result.variables if result[name].dtype.kind in "SO"]:
        result[name] = result[name].astype(str)
    return result


def _about(name: str, unit: str) -> dict[str, str]:
    return {"long_name": name, "units": unit}


def _version() -> str:
    from .. import __version__

    return __version__
