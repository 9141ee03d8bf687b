"""Legs rotated about an axis or mirrored in a plane.

An isometry maps a point p to A p + t; A is a rotation, or a reflection (det A = -1). Directions (of slides, rails,
cones) map by A. Axes of rotation map by det(A) A: the mirror image of a turn by a positive angle about a is one by the
same angle about -A a. Tensors map by A I A^T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, SerializeAsAny

from ...arrays import Array
from ...couplings import Coupling, Screw, parse_coupling
from ...description import poses
from ...description.body import Body
from ...description.leg import LegData
from ...description.quantities import Data, unit_of
from ...description.shapes import mapped
from ...errors import InputError, UnknownNameError
from ...legs.chain import Chain, ChainJoint
from ...legs.chain.data import Bodies, joint_coordinate

_ROUNDING = 1e-15


@dataclass(frozen=True)
class Isometry:
    """A map x -> A x + t that keeps lengths: ``axes`` A (3, 3) and ``shift`` t (3) [m]."""

    axes: Array
    shift: Array

    @property
    def identity(self) -> bool:
        """Whether it changes nothing."""
        return bool(np.array_equal(self.axes, np.eye(3)) and not self.shift.any())

    @property
    def determinant(self) -> float:
        """1 for a rotation, -1 for a reflection."""
        return float(np.sign(np.linalg.det(self.axes)))

    def point(self, value: Any) -> list[float]:
        """Where a point goes."""
        return floats(self.axes @ np.array(value) + self.shift)

    def direction(self, value: Any) -> list[float]:
        """Where a direction goes."""
        return floats(self.axes @ np.array(value))

    def axis(self, value: Any) -> list[float]:
        """Where an axis of rotation goes: det(A) A a, as turns about it change their sense in a mirror."""
        return floats(self.determinant * self.axes @ np.array(value))

    def after(self, first: Isometry) -> Isometry:
        """This isometry after a first one."""
        return Isometry(self.axes @ first.axes, self.axes @ first.shift + self.shift)


def rotation_about(about: Sequence[float], angle: float, through: Sequence[float]) -> Isometry:
    """Rotation by an angle about an axis of any length through a point."""
    return _about(_snapped(poses.rodrigues(np.array(about) / np.linalg.norm(about), angle)), through)


def reflection(plane: Sequence[float], through: Sequence[float]) -> Isometry:
    """Reflection in the plane through a point with a normal of any length: A = 1 - 2 n n^T."""
    n = np.array(plane) / np.linalg.norm(plane)
    return _about(_snapped(np.eye(3) - 2 * np.outer(n, n)), through)


class Part(Data):
    """Bodies and joints of a general leg that also holds bodies of others."""

    kind: str
    name: str = ""
    closing: str = "auto"
    bodies: Bodies
    joints: tuple[ChainJoint, ...]
    couplings: tuple[Annotated[SerializeAsAny[Coupling], BeforeValidator(parse_coupling)], ...] = ()


def composed(isometries: Sequence[Isometry]) -> Isometry:
    """Some isometries in turn as one."""
    whole = Isometry(np.eye(3), np.zeros(3))
    for isometry in isometries:
        whole = isometry.after(whole)
    return whole


def transformed_leg(leg: LegData | Part, home: Array, isometries: Sequence[Isometry]) -> dict[str, Any]:
    """A leg's data after some isometries in turn; ``home`` (4, 4) is the robot's home pose."""
    whole = composed(isometries)
    data = {"kind": leg.kind, **leg.model_dump(mode="json", exclude_defaults=True)}
    if isinstance(leg, (Chain, Part)):
        bodies = {name: transformed_body(body, whole) for name, body in leg.bodies.items()}
        joints = [transformed_joint(joint, whole) for joint in leg.joints]
        coupled = transformed_couplings(leg.couplings, leg.joints, whole)
        return {**data, "bodies": bodies, "joints": joints, **({"couplings": coupled} if coupled else {})}
    return data | _fields(leg, whole, home)


def transformed_body(body: Body, isometry: Isometry) -> dict[str, Any]:
    """The data of a body that is stated in base axes at home, after an isometry."""
    tensor = isometry.axes @ body.central_inertia @ isometry.axes.T
    extra: dict[str, Any] = {"check": body.check} if body.check != "physical" else {}
    if body.radius is not None:
        extra["radius"] = body.radius
    if body.shapes is not None:
        extra["shapes"] = [
            mapped(one, lambda points: points @ isometry.axes.T + isometry.shift).model_dump(mode="json")
            for one in body.shapes
        ]
    return {
        "mass": body.mass,
        "com": isometry.point(body.com),
        "inertia": (0.5 * (tensor + tensor.T)).tolist(),
        **extra,
    }


def transformed_joint(joint: ChainJoint, isometry: Isometry) -> dict[str, Any]:
    """A joint's data after an isometry."""
    data = joint.model_dump(mode="json", exclude_defaults=True) | {"at": isometry.point(joint.at)}
    slides = joint.kind == "prismatic" or joint.actuated == "translation"
    if joint.lead is not None:
        data["lead"] = isometry.determinant * joint.lead
    if joint.axis is not None:
        data["axis"] = isometry.direction(joint.axis) if slides else isometry.axis(joint.axis)
    if joint.axes is not None:
        data["axes"] = [isometry.axis(axis) for axis in joint.axes]
    if joint.guide_normal is not None:
        data["guide_normal"] = isometry.direction(joint.guide_normal)
    if joint.cone is not None:
        data["cone"]["axis"] = isometry.direction(joint.cone.axis)
        if joint.cone.direction is not None:
            data["cone"]["direction"] = isometry.direction(joint.cone.direction)
    # a mirror reverses turns about a direction, and translations along an axis of rotation
    for name in ("twist", "rotation" if slides else "translation") if isometry.determinant < 0 and joint.ranges else ():
        if name in data["ranges"]:
            low, high = data["ranges"][name]
            data["ranges"][name] = [-high, -low]
    return data


def transformed_couplings(
    couplings: Sequence[Coupling], joints: Sequence[ChainJoint], isometry: Isometry
) -> list[dict[str, Any]]:
    """Couplings of some joints after an isometry: a mirror makes a left-hand thread of a right-hand one."""
    found: list[dict[str, Any]] = []
    for coupling in couplings:
        mirrored = [term.joint for relation in coupling.relations() for term in relation.terms
                    if isometry.determinant < 0 and _reversed(joints, term.joint)]  # fmt: skip
        data = coupling.model_dump(mode="json", exclude_defaults=True) | {"kind": coupling.kind}
        if isinstance(coupling, Screw):
            found.append({**data, "lead": coupling.lead * (-1) ** len(mirrored)})
        elif not mirrored:
            found.append(data)
        else:
            for relation in coupling.relations():
                factors = [-term.factor if term.joint in mirrored else term.factor for term in relation.terms]
                linear = {"kind": "linear", "joints": [term.joint for term in relation.terms], "factors": factors}
                called = " ".join(one for one in (coupling.name, relation.part) if one)
                found.append({**linear, "name": called} if coupling.name else linear)
    return found


def _reversed(joints: Sequence[ChainJoint], path: str) -> bool:
    """Whether a mirror image of a joint counts a displacement the other way round, as ``transformed_joint`` has it."""
    try:
        number, motion = joint_coordinate(tuple(joints), path)
    except (InputError, UnknownNameError):
        return False  # the check of the whole file says what is wrong
    joint = joints[number]
    if joint.kind not in ("cylindrical", "helical"):
        return False
    return motion == ("rotation" if joint.actuated == "translation" else "translation")


def _fields(leg: LegData, isometry: Isometry, home: Array) -> dict[str, Any]:
    """Points and directions of a leg of another kind after an isometry: those of a platform field are in the platform
    frame, the others in the base frame; bodies are stated in frames of the leg and stay as they are."""
    axes, origin = home[:3, :3], home[:3, 3]
    turned = axes.T @ isometry.axes @ axes
    on_platform = Isometry(_snapped(turned), axes.T @ (isometry.axes @ origin + isometry.shift - origin))
    found: dict[str, Any] = {}
    for name, field in type(leg).model_fields.items():
        value, own = getattr(leg, name), on_platform if name.startswith("platform") else isometry
        if isinstance(value, Data) and "axis" in type(value).model_fields:
            cone = value.model_dump(mode="json", exclude_defaults=True)
            found[name] = {**cone, "axis": own.direction(value.axis)}  # type: ignore[attr-defined]
        elif isinstance(value, tuple) and len(value) == 3 and unit_of(field) in ("m", "1"):
            found[name] = own.point(value) if unit_of(field) == "m" else own.direction(value)
    return found


def _about(axes: Array, through: Sequence[float]) -> Isometry:
    point = np.array(through)
    return Isometry(axes, point - axes @ point)


def _snapped(matrix: Array) -> Array:
    """A matrix with entries that are 0, 1/2 or 1 to rounding made so: zeros of a leg stay zeros in its copies."""
    size, sign = np.abs(matrix), np.where(matrix < 0, -1.0, 1.0)
    for value in (0.0, 0.5, 1.0):
        size = np.where(np.abs(size - value) < _ROUNDING, value, size)
    return np.where(size == 0.0, 0.0, sign * size)


def floats(value: Array) -> list[float]:
    """Numbers as a file has them; no minus zero."""
    return [float(x) + 0.0 for x in value]
