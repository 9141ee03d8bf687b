"""Parameters of a robot as a table: path, value, unit, source; what all legs share is told once."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..description import Robot
from ..mechanism import Mechanism


class Parameter(NamedTuple):
    """One number, vector or tensor of a robot file."""

    path: str
    value: Any
    unit: str
    source: str


def parameters(robot: Robot) -> list[Parameter]:
    """All parameters of a robot; ``legs.*`` stands for a value that every leg has."""
    alike: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for path in robot.numbers():
        alike[re.sub(r"^legs\.\d+\.", "legs.*.", path)].append((path, _walk(robot, path)[0]))
    found = []
    for pattern, same in alike.items():
        shared = pattern.startswith("legs.*.") and len(same) == len(robot.legs) and len({str(v) for _, v in same}) == 1
        for path, value in same[:1] if shared else same:
            unit = _walk(robot, path)[1]
            found.append(Parameter(pattern if shared else path, value, unit, robot.source_of(path) or ""))
    return found


def mobility(robot: Robot) -> dict[str, Any]:
    """Freedoms, joints and bodies, and the Gruebler-Kutzbach count 6 (bodies - joints) + sum of joint freedoms.

    The count is below the true mobility where a robot has more constraints than it needs (parallel hinges).
    """
    freedom_of = {"prismatic": 1, "revolute": 1, "universal": 2, "spherical": 3}
    joints = [joint for leg in Mechanism(robot).legs for joint in leg.placement.joints]
    bodies = 1 + sum(
        len({name for j in leg.placement.joints for name in (j.parent, j.child)} - {"base", "platform"})
        for leg in Mechanism(robot).legs
    )
    free = sum(freedom_of[joint.kind] for joint in joints)
    return {
        "freedoms": [f.name for f in robot.freedoms] or ["x", "y", "z", "rx", "ry", "rz"],
        "moving_bodies": bodies,
        "joints": len(joints),
        "joint_freedoms": free,
        "gruebler_kutzbach": 6 * (bodies - len(joints)) + free,
    }


def unit_of(field: FieldInfo) -> str:
    """Unit that the schema states for a field; empty if it states none."""
    extra = field.json_schema_extra
    if isinstance(extra, dict) and "unit" in extra:
        return str(extra["unit"])
    return _unit_in(field.annotation)


def _unit_in(annotation: Any) -> str:
    for part in getattr(annotation, "__metadata__", ()):
        if isinstance(part, FieldInfo) and unit_of(part):
            return unit_of(part)
    return next((unit for part in get_args(annotation) if (unit := _unit_in(part))), "")


def _walk(robot: Robot, path: str) -> tuple[Any, str]:
    """Value and unit at a dotted path."""
    value: Any = robot
    unit = ""
    for part in path.split("."):
        if isinstance(value, BaseModel):
            unit = unit_of(type(value).model_fields[part])
            value = getattr(value, part)
        else:
            value = value[int(part)] if isinstance(value, tuple) else value[part]
    return value, "" if unit == "1" else unit
