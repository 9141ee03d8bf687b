"""The coordinates of a robot of fewer than six degrees of freedom: along and about base axes, or those of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..arrays import Array
from ..errors import UnknownNameError
from .leg import LegData
from .quantities import Data, Direction, Number, in_either

_COMPONENTS = {
    name: {"motion": motion, "axis": tuple(float(k == axis) for k in range(3))}
    for motion, names in (("translation", ("x", "y", "z")), ("rotation", ("roll", "pitch", "yaw")))
    for axis, name in enumerate(names)
}


class DegreeOfFreedom(Data):
    """A generalized coordinate of the platform: translation along or rotation about a base axis, or of a joint.

    A rotation is about the axis through the origin of the platform frame. Coordinates are zero at ``home``. In place of
    ``motion`` and ``axis`` a ``joint`` may be given: the coordinate is its displacement from home. It is ``LEG.JOINT``
    for a revolute or prismatic joint of a chain, ``LEG.JOINT.rotation`` or ``.translation`` for a cylindrical one,
    ``.first`` or ``.second`` (angle) for a universal one. A text alone is short for either: ``x``, ``y``, ``z``,
    ``roll``, ``pitch``, ``yaw`` or ``LEG.JOINT``.
    """

    name: str
    motion: Literal["translation", "rotation"] | None = None
    axis: Direction | None = None
    joint: str = ""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"name": value, **_COMPONENTS[value]} if value in _COMPONENTS else {"joint": value}
        if isinstance(value, dict) and isinstance(value.get("joint"), str) and "name" not in value:
            return {**value, "name": value["joint"].replace(".", "_")}
        return value

    @model_validator(mode="after")
    def _one_of_both(self) -> DegreeOfFreedom:
        if self.joint and self.axis is not None:
            raise ValueError(f"axis: the coordinate is that of the joint {self.joint!r}; give 'joint' or an axis")
        for field, example in (("motion", "rotation"), ("axis", "[0, 0, 1]")):
            if not self.joint and getattr(self, field) is None:
                raise ValueError(
                    f"{field}: missing, e.g. {field}: {example}; or give the 'joint' whose coordinate it is"
                )
        return self

    @property
    def direction(self) -> tuple[float, float, float]:
        """The base axis; zero for the coordinate of a joint."""
        return (0.0, 0.0, 0.0) if self.axis is None else self.axis


Displacement = Annotated[Number, BeforeValidator(in_either("m", "rad")), Field(json_schema_extra={"unit": "m or rad"})]


class InternalCoordinate(Data):
    """A coordinate of a robot beside those of its platform: the displacement of a ``joint`` from home.

    It is named as in ``dof``: ``LEG.JOINT``, which alone is short for the whole. It is given with every pose, unless it
    is ``held`` at a value [m or rad]: the joint then stands still there, and its drive has no part in the dynamics.
    """

    name: str
    joint: str
    motion: Literal["translation", "rotation"] | None = None
    held: Displacement | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        value = {"joint": value} if isinstance(value, str) else value
        if isinstance(value, dict) and isinstance(value.get("joint"), str) and "name" not in value:
            return {**value, "name": value["joint"].replace(".", "_")}
        return value


def leg_and_joint(path: str, legs: Sequence[LegData]) -> tuple[int, str]:
    """The number of a leg and what follows it in ``LEG.JOINT`` or ``legs.LEG.joints.JOINT``, LEG a name or a number.

    Joints that belong to no leg go by their name alone.
    """
    stated = path.startswith(("legs.", "joints."))
    rest = path.removeprefix("legs.").removeprefix("joints.")
    plain = rest.replace(".joints.", ".", 1) if stated else rest
    for number, leg in enumerate(legs):
        joint = leg.joint_of(plain)
        if joint is not None:
            return number, joint
    first, _, joint = rest.partition(".")
    if stated and first.isdecimal() and int(first) < len(legs):
        return int(first), joint.removeprefix("joints.")
    raise UnknownNameError("leg", first, tuple(leg.name for leg in legs))


def check_dof(dof: tuple[DegreeOfFreedom, ...], internal: tuple[InternalCoordinate, ...] = ()) -> None:
    """Raise if names repeat, also those of internal coordinates, axes depend on each other, or there are six."""
    names = [f.name for f in dof]
    if len({*names}) < len(dof):
        raise ValueError(f"dof: names must be unique, got {names}")
    for k, one in enumerate(internal):
        if one.name in (*(names or _COMPONENTS), *(other.name for other in internal[:k])):
            raise ValueError(f"internal.{k}.name: {one.name!r} is taken; give another name")
    if len(dof) > 5:
        raise ValueError("dof: leave it out for a robot with six degrees of freedom")
    for motion in ("translation", "rotation"):
        axes = np.array([f.axis for f in dof if f.motion == motion and f.axis is not None])
        if len(axes) and np.linalg.matrix_rank(axes, tol=1e-9) < len(axes):
            raise ValueError(f"dof: the axes of the {motion}s must be independent")


# ----------------------------------------------------------------------------------------------------------------------
# Which motion of a platform its actuators drive least, in words.

_NAMES = ("x", "y", "z", "about x", "about y", "about z")


def undriven_motion(rows: Array, basis: Array, size: float) -> str:
    """A sentence on the velocity u that moves the coordinates least: the last right singular vector of J.

    ``rows`` are J (n, m) with qdot = J u, ``basis`` is S (6, m) with twist = S u, ``size`` the platform's [m].
    """
    if not np.isfinite(rows).all():
        return "a leg does not close there"
    scale = np.where(np.abs(basis[3:]).sum(axis=0) > 0, 1 / size, 1.0)
    twist = basis @ (np.linalg.svd(rows * scale, full_matrices=True)[2][-1] * scale)
    twist = twist / twist[np.abs(twist).argmax()]
    parts = [f"{x:.3g} {name}" for x, name in zip(twist, _NAMES, strict=True) if abs(x) > 1e-6]
    return f"no actuator drives the motion {', '.join(parts)} (m and rad) of the platform's origin"
