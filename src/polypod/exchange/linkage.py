"""A whole robot as bodies and joints where they are at home, base frame: what every other program's file comes down to.

Readers make a :class:`Linkage` of a file, a robot is made of it, and writers start from the one of a robot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from ..arrays import Array
from ..description import Body
from ..description.body import parallel_axis
from ..errors import InputError
from ..legs.chain import ChainJoint

BASE = "base"


class Mark(NamedTuple):
    """A frame fixed to a body: its pose (4, 4) at home in the base frame; ``only`` if it marks a place and is no body's
    own frame."""

    body: str
    pose: Array
    only: bool = False


@dataclass(frozen=True)
class Linkage:
    """Bodies (``com`` and ``inertia`` about it in base axes) and joints of a robot at home, base frame.

    ``seats`` gives, for joints whose two halves do not meet or whose axes are not the same at home, the frame (4, 4)
    of each half there: axis first, or for a universal joint the axis of that half. ``marks`` are named frames, the
    bodies' own among them. ``platform`` is the body or mark that the file itself calls so, if it does. ``origin`` is
    what the numbers come from, ``remarks`` say what a reader left out or found odd.
    """

    name: str
    bodies: Mapping[str, Body]
    joints: tuple[ChainJoint, ...]
    marks: Mapping[str, Mark] = field(default_factory=dict)
    seats: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    platform: str | None = None
    origin: str = ""
    remarks: tuple[str, ...] = ()

    def joint(self, name: str) -> ChainJoint:
        """A joint by its name."""
        return next(joint for joint in self.joints if joint.name == name)

    def with_remarks(self, *texts: str) -> Linkage:
        """The linkage with further remarks."""
        return replace(self, remarks=(*self.remarks, *texts))

    def with_joints(self, joints: Iterable[ChainJoint]) -> Linkage:
        """The linkage with other joints."""
        return replace(self, joints=tuple(joints))


def checked_joint(data: Mapping[str, Any]) -> ChainJoint:
    """A joint from its fields; :class:`InputError` with its name and what is wrong if there is no such joint."""
    try:
        return ChainJoint.model_validate(data)
    except ValidationError as error:
        fault = error.errors()[0]
        field = "".join(f"{part}: " for part in [".".join(map(str, fault["loc"]))] if part)
        raise InputError(f"joint {data['name']}: {field}{fault['msg'].removeprefix('Value error, ')}") from error


def changed(joint: ChainJoint, **fields: object) -> ChainJoint:
    """A joint with some fields changed, checked again."""
    data = {name: getattr(joint, name) for name in joint.model_fields_set | {"name", "kind", "between", "at"}}
    data |= fields
    return checked_joint({name: value for name, value in data.items() if value is not None})


def axes_about(axis: Iterable[float]) -> Array:
    """Right-handed axes (3, 3) as columns, the first along an axis."""
    x = np.array(list(axis), dtype=float)
    x = x / np.linalg.norm(x)
    y = np.cross(np.eye(3)[np.argmin(np.abs(x))], x)
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def pose_of(axes: Array, origin: Iterable[float]) -> Array:
    """Homogeneous matrix (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, list(origin)
    return pose


def seats_of(joint: ChainJoint) -> tuple[Array, Array]:
    """Frames (4, 4) of both halves of a joint that closes at home."""
    if joint.axes is not None:
        return pose_of(axes_about(joint.axes[0]), joint.at), pose_of(axes_about(joint.axes[1]), joint.at)
    seat = pose_of(np.eye(3) if joint.axis is None else axes_about(joint.axis), joint.at)
    return seat, seat


def _triple(values: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def body(mass: float, com: Array, tensor: Array) -> Body:
    """A body from its mass [kg], centre (3) [m] and tensor (3, 3) about it [kg m^2]; judged later, with its name."""
    even = 0.5 * (tensor + tensor.T)
    return Body(mass=float(mass), com=_triple(com), inertia=tuple(_triple(row) for row in even), check="none")  # type: ignore[arg-type]


EMPTY_BODY = body(0.0, np.zeros(3), np.zeros((3, 3)))
"""A body without mass and inertia, such as the base."""


def moved(one: Body, displacement: Array) -> Body:
    """A body after a displacement (4, 4) of the base frame."""
    turn = displacement[:3, :3]
    return body(one.mass, turn @ np.array(one.com) + displacement[:3, 3], turn @ one.central_inertia @ turn.T)


def combined(parts: Iterable[Body]) -> Body:
    """One body of several that are fixed to each other."""
    listed = list(parts)
    mass = sum(part.mass for part in listed)
    if mass == 0.0:
        return body(0.0, np.array(listed[0].com), np.sum([part.central_inertia for part in listed], axis=0))
    com = np.sum([part.first_moment for part in listed], axis=0) / mass
    about = [part.central_inertia + parallel_axis(part.mass, np.array(part.com) - com) for part in listed]
    return body(mass, com, np.sum(about, axis=0))


def massless(one: Body) -> bool:
    """Whether a body is only there to join two joints."""
    return one.mass == 0.0 and not np.any(one.central_inertia)


def extent(points: Iterable[Iterable[float]]) -> float:
    """Diagonal [m] of the bounding box of points (n, 3); 1 if they are all one point, or none."""
    array = np.array(list(points), dtype=float).reshape(-1, 3)
    return float(np.linalg.norm(np.ptp(array, axis=0))) or 1.0 if len(array) else 1.0


def axes_of(joint: ChainJoint) -> list[Array]:
    """The axes (3,) of a joint at home, base frame: two of a universal joint, none of a spherical or fixed one."""
    return [np.array(axis) for axis in joint.axes or ((joint.axis,) if joint.axis is not None else ())]
