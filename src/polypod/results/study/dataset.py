"""A study as a labelled dataset (xarray), with units, written as netCDF that any reader of the format opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...files import dumps
from .study import Study

_AXES = ("x", "y", "z")
_SIX = ("x", "y", "z", "rx", "ry", "rz")


def dataset(study: Study) -> xr.Dataset:
    """All arrays of a study over ``time``, by ``leg``, ``part``, ``joint`` and component; units as attributes."""
    motion, robot = study.task.motion, study.robot
    per_leg = ("time", "leg")
    variables: dict[str, Any] = {
        "pose": (("time", "row", "column"), motion.pose, _about("pose of the platform in the base", "1, m")),
        "twist": (("time", "component"), motion.twist, _about("twist of the platform", "m/s, rad/s")),
        "acceleration": (("time", "component"), motion.acceleration, _about("its acceleration", "m/s^2, rad/s^2")),
        "q": (per_leg, study.q, _about("actuated coordinate", "m")),
        "qdot": (per_leg, study.qdot, _about("actuator speed", "m/s")),
        "qddot": (per_leg, study.qddot, _about("actuator acceleration", "m/s^2")),
        "force": (per_leg, study.force, _about("actuator force", "N")),
        "power": (per_leg, study.power, _about("actuator power", "W")),
        "force_part": (
            ("part", *per_leg),
            np.stack(list(study.parts.values())),
            _about("share of the actuator force", "N"),
        ),
        "condition": ("time", study.conditioning.condition, _about("condition number of the scaled Jacobian", "1")),
        "distance": ("time", study.conditioning.distance, _about("its smallest singular value", "1")),
    }
    if study.task.wrench is not None:
        variables["wrench"] = (("time", "component"), study.task.wrench, _about("external wrench", "N, N m"))
    coordinates: dict[str, Any] = {
        "time": ("time", study.time, _about("time", "s")),
        "leg": list(study.model.legs),
        "part": list(study.parts),
        "component": list(_SIX),
    }
    if study.limits.names:
        variables["limited"] = (("time", "limit"), study.limits.value, _about("limited quantity", "m or rad"))
        variables["limit_low"] = ("limit", study.limits.low, _about("its least value", "m or rad"))
        variables["limit_high"] = ("limit", study.limits.high, _about("its greatest value", "m or rad"))
        coordinates["limit"] = [f"{leg} {name}" for leg, name in study.limits.names]
    if study.reactions:
        forces, moments = (np.stack([r[k] for r in study.reactions.values()], axis=1) for k in (0, 1))
        where = ("time", "joint", "axis")
        variables["reaction_force"] = (where, forces, _about("reaction on the joint's child, base axes", "N"))
        variables["reaction_moment"] = (where, moments, _about("its moment about the joint's centre", "N m"))
        coordinates |= {"joint": [f"{leg}.{joint}" for leg, joint in study.reactions], "axis": list(_AXES)}
    if study.bending is not None:
        bent, about = study.bending, "displacement of a leg's attachment point on the platform, platform axes"
        variables["elastic"] = (("time", "mode"), bent.elastic, _about("elastic coordinate", "generalized"))
        variables["elastic_rate"] = (("time", "mode"), bent.elastic_rate, _about("its rate", "generalized, 1/s"))
        variables["deflection"] = (("time", "leg", "axis"), bent.deflection, _about(about, "m"))
        coordinates |= {"mode": np.arange(1, bent.elastic.shape[1] + 1), "axis": list(_AXES)}
        if bent.origin is not None:
            about = "displacement of the platform's point at its origin, platform axes"
            variables["origin_deflection"] = (("time", "axis"), bent.origin, _about(about, "m"))
    attributes = {
        "title": f"{robot.name}: {study.task.name}",
        "robot": robot.name,
        "motion": study.task.name,
        "friction": "yes" if study.friction else "no",
        "conventions": "SI units, radians; base axes; twist and wrench at the platform origin, linear part first",
        "robot_file": dumps(robot),
        "polypod_version": _version(),
    }
    return xr.Dataset(variables, coordinates, attributes)


def write_netcdf(study: Study, path: Path) -> None:
    """Write ``results.nc``: netCDF 3 through SciPy, which needs no further library here or at the reader's."""
    dataset(study).to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _about(name: str, unit: str) -> dict[str, str]:
    return {"long_name": name, "units": unit}


def _version() -> str:
    from ... import __version__

    return __version__
