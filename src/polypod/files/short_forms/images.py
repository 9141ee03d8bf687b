"""Legs turned about an axis or mirrored in a plane.

The image of a point p is A p + t; A is a rotation, or a reflection (det A = -1). Directions (of slides, rails, cones)
map by A. Axes of rotation map by det(A) A: the mirror image of a turn by a positive angle about a is one by the same
angle about -A a. Tensors map by A I A^T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...description import poses
from ...description.body import Body
from ...description.leg import LegData
from ...description.quantities import Data, unit_of
from ...legs.chain import Chain, ChainJoint

_NEAT = np.array([0.0, 0.5, 1.0])
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Image:
    """``axes`` A (3, 3) and ``shift`` t (3) of x -> A x + t."""

    axes: Array
    shift: Array

    @property
    def identity(self) -> bool:
        """Whether it changes nothing."""
        return bool(np.array_equal(self.axes, np.eye(3)) and not self.shift.any())

    @property
    def sense(self) -> float:
        """1 for a rotation, -1 for a reflection."""
        return float(np.sign(np.linalg.det(self.axes)))

    def point(self, value: Any) -> list[float]:
        """Image of a point."""
        return listed(self.axes @ np.array(value) + self.shift)

    def direction(self, value: Any) -> list[float]:
        """Image of a direction."""
        return listed(self.axes @ np.array(value))

    def axis(self, value: Any) -> list[float]:
        """Image of an axis of rotation, whose sense is that of a screw."""
        return listed(self.sense * self.axes @ np.array(value))

    def after(self, first: Image) -> Image:
        """This image of a first one."""
        return Image(self.axes @ first.axes, self.axes @ first.shift + self.shift)


def turn(about: Sequence[float], angle: float, through: Sequence[float]) -> Image:
    """Turned by an angle about an axis of any length through a point."""
    return _about(_neat(poses.turn(np.array(about) / np.linalg.norm(about), angle)), through)


def reflection(plane: Sequence[float], through: Sequence[float]) -> Image:
    """Mirrored in the plane with a normal of any length through a point: A = 1 - 2 n n^T."""
    n = np.array(plane) / np.linalg.norm(plane)
    return _about(_neat(np.eye(3) - 2 * np.outer(n, n)), through)


def image_of(leg: LegData, home: Array, images: Sequence[Image]) -> dict[str, Any]:
    """A leg's data after some images in turn; ``home`` (4, 4) is the robot's home pose."""
    whole = Image(np.eye(3), np.zeros(3))
    for image in images:
        whole = image.after(whole)
    data = {"kind": leg.kind, **leg.model_dump(mode="json", exclude_defaults=True)}
    if isinstance(leg, Chain):
        bodies = {name: _body(body, whole) for name, body in leg.bodies.items()}
        joints = [image_of_joint(joint, whole) for joint in leg.joints]
        return {**data, "bodies": bodies, "joints": joints}
    return data | _fields(leg, whole, home)


def _body(body: Body, image: Image) -> dict[str, Any]:
    """A body that is stated in base axes at home."""
    tensor = image.axes @ body.central_inertia @ image.axes.T
    extra = {"check": body.check} if body.check != "physical" else {}
    return {"mass": body.mass, "com": image.point(body.com), "inertia": (0.5 * (tensor + tensor.T)).tolist(), **extra}


def image_of_joint(joint: ChainJoint, image: Image) -> dict[str, Any]:
    """A joint of a chain in its image."""
    data = joint.model_dump(mode="json", exclude_defaults=True) | {"at": image.point(joint.at)}
    slides = joint.kind == "prismatic" or joint.actuated == "translation"
    if joint.axis is not None:
        data["axis"] = image.direction(joint.axis) if slides else image.axis(joint.axis)
    if joint.axes is not None:
        data["axes"] = [image.axis(axis) for axis in joint.axes]
    if joint.cone is not None:
        data["cone"]["axis"] = image.direction(joint.cone.axis)
        if joint.cone.direction is not None:
            data["cone"]["direction"] = image.direction(joint.cone.direction)
    # in a mirror turns about a direction, and ways along an axis that turns are counted by, are the other way round
    for name in ("twist", "rotation" if slides else "translation") if image.sense < 0 and joint.ranges else ():
        if name in data["ranges"]:
            low, high = data["ranges"][name]
            data["ranges"][name] = [-high, -low]
    return data


def _fields(leg: LegData, image: Image, home: Array) -> dict[str, Any]:
    """Points and directions of a leg of another kind, turned: those of a platform field are in the platform frame,
    the others in the base frame; bodies are stated in frames of the leg and stay as they are."""
    axes, origin = home[:3, :3], home[:3, 3]
    turned = axes.T @ image.axes @ axes
    on_platform = Image(_neat(turned), axes.T @ (image.axes @ origin + image.shift - origin))
    found: dict[str, Any] = {}
    for name, field in type(leg).model_fields.items():
        value, own = getattr(leg, name), on_platform if name.startswith("platform") else image
        if isinstance(value, Data) and "axis" in type(value).model_fields:
            cone = value.model_dump(mode="json", exclude_defaults=True)
            found[name] = {**cone, "axis": own.direction(value.axis)}  # type: ignore[attr-defined]
        elif isinstance(value, tuple) and len(value) == 3 and unit_of(field) in ("m", "1"):
            found[name] = own.point(value) if unit_of(field) == "m" else own.direction(value)
    return found


def _about(axes: Array, through: Sequence[float]) -> Image:
    point = np.array(through)
    return Image(axes, point - axes @ point)


def _neat(matrix: Array) -> Array:
    """A matrix without the rounding of entries that are 0, 1/2 or 1: zeros of a leg stay zeros in its copies."""
    size, sign = np.abs(matrix), np.where(matrix < 0, -1.0, 1.0)
    for value in _NEAT:
        size = np.where(np.abs(size - value) < _ROUNDING, value, size)
    return np.where(size == 0.0, 0.0, sign * size)


def listed(value: Array) -> list[float]:
    """Numbers of a file; no minus zero."""
    return [float(x) + 0.0 for x in value]
