"""Parameters of a robot: path, value, unit, source, whether the file gives it; what all legs share is one entry."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from pydantic import AfterValidator, BaseModel

if TYPE_CHECKING:
    from ..description import Robot


# Friction's units by the joint it is in: of a slide, and of a joint that turns.
_FRICTION_UNITS = {
    "viscous": ("N s/m", "N m s/rad"),
    "coulomb": ("1", "m"),  # a coefficient; an arm, since a moment is an arm times the reaction
    "drag": ("N", "N m"),
    "static": ("1", "1"),  # times the friction in motion
    "stribeck_speed": ("m/s", "rad/s"),
}


class Parameter(NamedTuple):
    """One number, vector or tensor of a robot; ``given`` if its file gives it, else it is the schema's default."""

    path: str
    value: Any
    unit: str
    source: str
    given: bool
    is_range: bool = False


def parameters(robot: Robot) -> list[Parameter]:
    """All parameters of a robot; ``legs.*`` stands for a value that every leg has."""
    from ..legs import Leg

    friction_joints = [leg.friction_joints() if isinstance(leg, Leg) else {} for leg in robot.legs]
    alike: dict[str, list[Parameter]] = defaultdict(list)
    for path in robot.numbers():
        one = _parameter(robot, path, friction_joints)
        alike[re.sub(r"^legs\.\d+\.", "legs.*.", path)].append(one)
    listed = []
    for pattern, same in alike.items():
        every = pattern.startswith("legs.*.") and len(same) == len(robot.legs)
        shared = every and len({str(p[1:]) for p in same}) == 1
        listed += [same[0]._replace(path=pattern)] if shared else same
    return listed


def mobility(robot: Robot) -> dict[str, Any]:
    """Degrees of freedom, joints and bodies, and the Gruebler-Kutzbach count 6 (bodies - joints) + sum of joint degrees
    of freedom.

    The count is below the true mobility where a robot has more constraints than it needs (parallel hinges).
    """
    from ..legs.chain.data import JOINT_DOF
    from ..mechanism import Mechanism

    legs = [leg.placement.joints for leg in Mechanism(robot).legs]
    joints = [joint for leg in legs for joint in leg]
    bodies = 1 + sum(len({name for j in leg for name in (j.parent, j.child)} - {"base", "platform"}) for leg in legs)
    free = sum(JOINT_DOF[joint.kind] for joint in joints)
    return {
        "dof": [f.name for f in robot.dof] or ["x", "y", "z", "rx", "ry", "rz"],
        "moving_bodies": bodies,
        "joints": len(joints),
        "joint_dof": free,
        "gruebler_kutzbach": 6 * (bodies - len(joints)) + free,
    }


def _parameter(robot: Robot, path: str, friction_joints: list[dict[str, set[str]]]) -> Parameter:
    """Value, unit and source at a dotted path, and whether the file gives it or anything around it does not."""
    from ..description import Friction
    from ..description.quantities import Range, unit_of

    ordered = next(part for part in get_args(Range) if isinstance(part, AfterValidator))
    value: Any = robot
    unit, given, is_range = "", True, False
    parts = path.split(".")
    for part in parts:
        if isinstance(value, BaseModel):
            field = type(value).model_fields[part]
            unit, is_range = unit_of(field), ordered in (*field.metadata, *_annotation_metadata(field.annotation))
            given = given and part in value.model_fields_set
            if isinstance(value, Friction) and parts[0] == "legs":
                kinds = friction_joints[int(parts[1])].get(parts[2], set())
                both = "prismatic" in kinds and len(kinds) > 1
                unit = _FRICTION_UNITS[part]["prismatic" not in kinds] if kinds and not both else unit
            value = getattr(value, part)
        else:
            value = value[int(part)] if isinstance(value, tuple) else value[part]
    return Parameter(path, value, "" if unit == "1" else unit, robot.source_of(path) or "", given, is_range)


def _annotation_metadata(annotation: Any) -> list[Any]:
    """Everything an annotation is marked with."""
    inside = [mark for part in get_args(annotation) for mark in _annotation_metadata(part)]
    return [*getattr(annotation, "__metadata__", ()), *inside]
