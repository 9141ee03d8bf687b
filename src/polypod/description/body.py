"""A rigid body: mass, centre of mass, inertia tensor, and whether such a body can exist."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from ..arrays import Array
from ..errors import short_repr
from .quantities import Data, Frozen, Length, Mass, Position, Rotation, Tensor
from .shapes import Shapes, check_one_of_both

_ZERO: Tensor = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Body(Data):
    """Inertia of one rigid body, in its body frame (each leg kind says which frame that is).

    ``inertia`` is taken about the point named by ``about`` (``com``, ``origin`` or a key of ``points``)
    and in the axes named by ``frame`` (``body`` or a key of ``frames``, whose columns are its axes in the
    body frame). ``check: none`` opts out of the physical check: no real body has such a tensor, but a
    published robot may.

    ``radius`` and ``shapes`` say what the body looks like, for drawings, exports and clearances; no model function
    depends on them. ``radius`` [m] is that of the capsules between the body's joints, or half the thickness of the
    plate through them; ``shapes`` lists spheres, capsules and plates in the frame of ``com`` instead, none if empty.
    """

    mass: Mass
    com: Position = (0.0, 0.0, 0.0)
    inertia: Tensor = _ZERO
    about: str = "com"
    frame: str = "body"
    points: Annotated[dict[str, Position], Frozen] = Field(default={})
    frames: Annotated[dict[str, Rotation], Frozen] = Field(default={})
    check: Literal["physical", "none"] = "physical"
    radius: Length | None = None
    shapes: Shapes | None = None

    @model_validator(mode="after")
    def _names_and_physics(self) -> Body:
        for field, name, table, own in (
            ("about", self.about, self.points, ("com", "origin")),
            ("frame", self.frame, self.frames, ("body",)),
        ):
            if name not in own and name not in table:
                raise ValueError(f"{field}: unknown name {short_repr(name)}; known: {', '.join([*own, *table])}")
        if self.check == "physical":
            problem = self.unphysical
            if problem:
                raise ValueError(f"inertia: {problem}. If the values are intended, write 'check: none' in this body")
        check_one_of_both(self.radius, self.shapes)
        return self

    @property
    def central_inertia(self) -> Array:
        """Inertia tensor about the centre of mass in body axes, (3, 3) [kg m^2].

        I_c = E I E^T - m (d.d 1 - d d^T), d from the named point to the centre of mass.
        """
        axes = np.array(self.frames[self.frame]) if self.frame != "body" else np.eye(3)
        tensor: Array = axes @ np.array(self.inertia) @ axes.T
        if self.about != "com":
            point = np.zeros(3) if self.about == "origin" else np.array(self.points[self.about])
            tensor -= parallel_axis(self.mass, np.array(self.com) - point)
        return tensor

    @property
    def origin_inertia(self) -> Array:
        """Inertia tensor about the origin of the body frame in body axes, (3, 3) [kg m^2]."""
        return self.central_inertia + parallel_axis(self.mass, np.array(self.com))

    @property
    def second_moment(self) -> Array:
        """Integral of x x^T dm over the body, about the origin, body axes: tr(I)/2 1 - I, (3, 3) [kg m^2]."""
        tensor = self.origin_inertia
        moment: Array = 0.5 * np.trace(tensor) * np.eye(3) - tensor
        return moment

    @property
    def first_moment(self) -> Array:
        """Integral of x dm about the origin, body axes: m com, (3,) [kg m]."""
        return self.mass * np.array(self.com)

    @property
    def unphysical(self) -> str:
        """What no real body's inertia does; empty if one can have it.

        The principal moments must not be negative and none may exceed the sum of the other two.
        A rod of no thickness (one zero moment) is a body.
        """
        low, middle, high = np.linalg.eigvalsh(self.central_inertia)
        slack = 1e-9 * max(abs(low), abs(high))
        shown = ", ".join(f"{0.0 if abs(moment) <= slack else moment:.6g}" for moment in (low, middle, high))
        values = f"principal moments {shown} kg m^2 about the centre of mass"
        if low < -slack:
            return f"is not positive definite ({values})"
        if high > low + middle + slack:
            return f"breaks the triangle inequality ({values}: the largest exceeds the sum of the others)"
        if self.mass == 0.0 and high > slack:
            return f"needs a mass, but the mass is 0 ({values})"
        return ""


class Payload(Body):
    """A body fixed to the platform: a tool, a workpiece, a load. Its frame is the platform frame.

    Several payloads are given as a list. All dynamics includes them.
    """

    name: str = ""


def _payloads(value: Any) -> Any:
    """One payload, or several in a list."""
    if value is None or isinstance(value, (Payload, dict)):
        return value if not isinstance(value, dict) else Payload.model_validate(value)
    if isinstance(value, (list, tuple)):
        return _SEVERAL.validate_python(value)
    raise ValueError(f"must be a body (mass, com, inertia) or a list of bodies, got {value!r}")


_SEVERAL = TypeAdapter(tuple[Payload, ...], config=ConfigDict(defer_build=True))
Payloads = Annotated[Payload | tuple[Payload, ...] | None, BeforeValidator(_payloads)]


def parallel_axis(mass: float, offset: Array) -> Array:
    """Steiner's term m (d.d 1 - d d^T), (3, 3) [kg m^2], of a centre of mass at ``offset`` d (3,) [m] from a point."""
    return mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
