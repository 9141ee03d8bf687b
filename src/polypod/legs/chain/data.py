"""Data of a general leg: bodies and joints where they are at home, in the base frame."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_serializer, model_validator

from ...couplings.screw import Lead
from ...description import Bearing, Body, Drive, Friction
from ...description.drive import drive_fields
from ...description.quantities import (
    SQUARE,
    Data,
    Direction,
    Frozen,
    HalfAngle,
    Number,
    Position,
    Triple,
    in_either,
    list_of,
)
from ...description.units import unit_mismatch
from ...errors import InputError, UnknownNameError
from ..rail import guide_fault

JointKind = Literal["revolute", "prismatic", "cylindrical", "helical", "universal", "spherical", "fixed"]
JOINT_DOF = {"fixed": 0, "revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3}
"""Degrees of freedom of each kind of joint; a helical one is written out as a cylindrical one with a coupling."""
_OF_ACTUATORS = ("offset", "ratio", "rotor", *Drive.model_fields)


JointDisplacement = Annotated[
    Number, BeforeValidator(in_either("m", "rad")), Field(json_schema_extra={"unit": "m or rad"})
]
JointDisplacementRange = Annotated[
    tuple[JointDisplacement, JointDisplacement],
    BeforeValidator(list_of(2, "2 numbers")),
    Field(json_schema_extra={"unit": "m or rad"}),
]


class JointCone(Data):
    """Limit of a joint's tilt: ``direction``, fixed in the second body, stays within ``half_angle`` of ``axis``, fixed
    in the first. Both are given at home; the default of ``direction`` is ``axis``."""

    axis: Direction
    direction: Direction | None = None
    half_angle: HalfAngle


class JointRanges(Data):
    """Ranges of a joint with several degrees of freedom, from home, about or along its own axes: ``first`` and
    ``second`` of a universal joint, ``rotation`` and ``translation`` of a cylindrical joint, ``twist`` of a spherical
    joint about the axis of its ``cone`` (the rotation that remains after the shortest rotation of the cone's direction
    is removed)."""

    first: JointDisplacementRange | None = None
    second: JointDisplacementRange | None = None
    rotation: JointDisplacementRange | None = None
    translation: JointDisplacementRange | None = None
    twist: JointDisplacementRange | None = None

    @property
    def stated(self) -> tuple[str, ...]:
        """The coordinates that are limited."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)

    def fault(self, kind: str, cone: JointCone | None) -> str:
        """What a joint of this kind cannot have; empty if nothing is wrong."""
        for name in self.stated:
            low, high = getattr(self, name)
            if name not in _RANGES.get(kind, ()):
                known = (
                    ", ".join(_RANGES[kind])
                    if kind in _RANGES
                    else ("none; a joint with one degree of freedom has a range")
                )
                return f"ranges.{name}: a {kind} joint has no such coordinate; it has {known}"
            if not low <= 0 <= high or low == high:
                return f"ranges.{name}: limits must be in order with home, 0, between them, got {[low, high]}"
        return (
            "ranges.twist: a twist is measured about the axis of a cone; give the cone too"
            if self.twist and not cone
            else ""
        )


class JointFrictions(Data):
    """Friction of a cylindrical joint: of its rotation and of its translation."""

    rotation: Friction = Friction()
    translation: Friction = Friction()


_MOTION = {"revolute": "rotation", "prismatic": "translation"}
_RANGES = {
    "universal": ("first", "second"),
    "cylindrical": ("rotation", "translation"),
    "helical": ("rotation", "translation"),
    "spherical": ("twist",),
}


class ChainJoint(Drive, Bearing):
    """A joint between two bodies of a leg, ``base`` or ``platform``, given at home in base axes.

    A positive coordinate moves the second body of ``between`` relative to the first, about or along ``axis``.
    ``axes`` of a universal joint: the first is fixed in the first body, the second in the second. ``actuated`` is true,
    or for a cylindrical joint ``rotation`` or ``translation``. The actuated coordinate is ``ratio`` times the joint's
    own displacement from home plus ``offset``; ``rotor`` is the inertia [kg or kg m^2] that moves with it, beside
    ``rotor_inertia`` at the motor. ``range`` limits the coordinate, ``offset`` and ``ratio`` included, ``ranges``
    those of a joint of several degrees of freedom. ``friction`` resists the joint's motion, ``frictions`` the turning
    and the sliding of a cylindrical one. The ``stiffness`` of an actuated joint is that of its drive, in series with
    the coordinate, at the joint's side of the gear; that of a passive joint is a spring in it that is relaxed at home,
    as of a flexure: the same as an element of that joint. Dry friction of a slide is ``coulomb`` times |N|, N the
    force across it; with ``guide_normal``, a direction fixed in the first body, it is that of a guide of two
    perpendicular pairs of faces, |N.u| + |N.v| with u along ``guide_normal`` (its part perpendicular to ``axis``) and v
    perpendicular to both. A ``helical`` joint is a cylindrical one whose travel is ``lead`` [m] a turn (negative for a
    left-hand thread); a leg reads it as these and a screw among its couplings, with the joint's name.
    """

    name: str = Field(min_length=1)
    kind: JointKind
    between: tuple[str, str]
    at: Position = (0.0, 0.0, 0.0)
    axis: Direction | None = None
    axes: tuple[Direction, Direction] | None = None
    guide_normal: Direction | None = None
    lead: Lead | None = None
    actuated: bool | Literal["rotation", "translation"] = False
    friction: Friction = Friction()
    frictions: JointFrictions | None = None
    range: JointDisplacementRange | None = None
    ranges: JointRanges | None = None
    cone: JointCone | None = None
    offset: JointDisplacement = 0.0
    ratio: Annotated[Number, Field(json_schema_extra={"unit": "1"})] = 1.0
    rotor: Annotated[
        Number, BeforeValidator(in_either("kg", "kg m^2")), Field(ge=0, json_schema_extra={"unit": "kg or kg m^2"})
    ] = 0.0
    stiffness: (
        Annotated[
            Number,
            BeforeValidator(in_either("N/m", "N m/rad")),
            Field(gt=0, json_schema_extra={"unit": "N/m or N m/rad"}),
        ]
        | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _drive(cls, value: Any) -> Any:
        if isinstance(value, dict):
            fault = _unit_fault(value)
            if fault:
                raise ValueError(fault)
        if not isinstance(value, dict) or not value.get("actuated"):
            return value
        kind, driven = value.get("kind"), value["actuated"]
        return drive_fields(value, turns=kind == "revolute" or driven == "rotation")

    @model_serializer(mode="wrap")
    def _with_place(self, handler: Any) -> dict[str, Any]:
        """Its place is always written: a joint at the base's origin is at a place too."""
        data: dict[str, Any] = handler(self)
        return {**data, "at": list(self.at)}

    @property
    def motion(self) -> str:
        """What its coordinate is, ``rotation`` or ``translation``: of a cylindrical joint the driven one."""
        return self.actuated if isinstance(self.actuated, str) else _MOTION[self.kind]

    @property
    def displacement_range(self) -> tuple[float, float] | None:
        """``range`` as displacements of the joint from home [m or rad], without ``offset`` and ``ratio``."""
        if self.range is None:
            return None
        low, high = sorted((limit - self.offset) / self.ratio for limit in self.range)
        return low, high

    @property
    def ranges_by_motion(self) -> dict[str, tuple[float, float]]:
        """``range`` and ``ranges`` as displacements from home [m or rad], by motion: ``rotation`` or ``translation``,
        ``first`` and ``second`` of a universal joint, ``twist`` of a spherical one."""
        found = {name: getattr(self.ranges, name) for name in self.ranges.stated} if self.ranges is not None else {}
        own = self.displacement_range
        if own is not None:
            low, high = found.get(self.motion, own)
            found[self.motion] = max(own[0], low), min(own[1], high)
        return found

    @property
    def friction_by_motion(self) -> dict[str, Friction]:
        """Its friction by motion: ``rotation`` or ``translation``, both of a cylindrical joint."""
        if self.kind in ("cylindrical", "helical"):
            both = self.frictions or JointFrictions()
            return {"rotation": both.rotation, "translation": both.translation}
        return {"translation" if self.kind == "prismatic" else "rotation": self.friction}

    @model_validator(mode="after")
    def _one_friction_a_motion(self) -> ChainJoint:
        both = self.kind in ("cylindrical", "helical")
        if both and self.friction != Friction():
            raise ValueError(
                f"friction: a {self.kind} joint rotates and slides; give each its own friction with frictions: "
                "{rotation: {viscous: 0.1}, translation: {viscous: 5.0}}"
            )
        if not both and self.frictions is not None:
            raise ValueError(f"frictions: only for cylindrical joints; a {self.kind} joint has one: write friction")
        return self

    @model_validator(mode="after")
    def _axes_of_its_kind(self) -> ChainJoint:
        if self.kind == "helical" and self.lead is None:
            raise ValueError("lead: a helical joint needs its travel per turn, e.g. lead: 5 mm")
        if self.kind != "helical" and self.lead is not None and not (self.actuated and self.lead > 0):
            what = "the screw of its drive has a positive one" if self.actuated else "only its drive's screw has one"
            raise ValueError(f"lead: a {self.kind} joint has none, {what}, got {self.lead:g} m; write kind: helical")
        both = self.kind in ("cylindrical", "helical")
        one = self.kind in ("revolute", "prismatic") or both
        if one and self.axis is None:
            raise ValueError(f"axis: a {self.kind} joint needs one, e.g. axis: [0, 0, 1]")
        if not one and self.axis is not None:
            instead = "; a universal joint has axes: two directions" if self.kind == "universal" else ""
            raise ValueError(f"axis: a {self.kind} joint has none{instead}")
        if (self.kind == "universal") != (self.axes is not None):
            what = "needs" if self.kind == "universal" else "has no"
            raise ValueError(f"axes: a {self.kind} joint {what} axes: two directions")
        if self.kind == "fixed":
            fields = type(self).model_fields
            still = ("stiffness", "friction", "cone", *Bearing.model_fields)
            idle = [name for name in still if getattr(self, name) != fields[name].default]
            if idle:
                raise ValueError(
                    f"{idle[0]}: a fixed joint does not move and has none; leave it out, or make the joint one that "
                    "moves (revolute, prismatic, cylindrical, universal, spherical)"
                )
        if self.stiffness is not None and both and not self.actuated:
            raise ValueError(
                f"stiffness: a {self.kind} joint turns and slides, and one number cannot be of both; state a revolute "
                "and a prismatic joint, each with its own, with a light body between them"
            )
        if self.guide_normal is not None:
            if self.kind != "prismatic" or self.axis is None:
                raise ValueError(f"guide_normal: only a prismatic joint has guiding faces, this one is {self.kind}")
            along = guide_fault(self.guide_normal, self.axis)
            if along:
                raise ValueError(f"guide_normal: {along}")
        if "at" not in self.model_fields_set and self.kind not in ("prismatic", "fixed"):
            raise ValueError(f"at: a {self.kind} joint needs its position at home, e.g. at: [0.3, 0.0, 0.5]")
        if self.axes is not None:
            self._complete(axes=_made_square(*self.axes))
        if self.actuated and not one:
            raise ValueError(
                f"actuated: only a revolute, prismatic or cylindrical joint can be actuated, this one is {self.kind}"
            )
        if isinstance(self.actuated, str) and not both:
            raise ValueError("actuated: 'rotation' and 'translation' are for cylindrical joints; write true")
        if self.actuated is True and both:
            raise ValueError(
                f"actuated: state which coordinate of the {self.kind} joint is driven: 'rotation' or 'translation'"
            )
        if self.range is not None:
            if not one or (both and not self.actuated):
                what = f"{self.kind} joint that is not actuated" if one else f"{self.kind} joint"
                raise ValueError(
                    f"range: a {what} has no single coordinate to limit; use cone: for its tilt or ranges: for "
                    f"its angles, e.g. ranges: {{first: [-30 deg, 30 deg]}} of a universal joint"
                )
            if not self.range[0] < self.range[1]:
                raise ValueError(f"range: the lower limit must come first, got {list(self.range)}")
        fault = self.ranges.fault(self.kind, self.cone) if self.ranges is not None else ""
        if fault:
            raise ValueError(fault)
        fields = type(self).model_fields
        idle = [name for name in _OF_ACTUATORS if getattr(self, name) != fields[name].default]
        if idle and not self.actuated:
            raise ValueError(f"{idle[0]}: only an actuated joint has it; add 'actuated: true' or leave it out")
        if self.ratio == 0.0:
            raise ValueError("ratio: must not be 0")
        if self.between[0] == self.between[1]:
            raise ValueError(f"between: must be two different bodies, got {self.between[0]!r} twice")
        return self


_COORDINATES = {
    "revolute": {"": "rotation", "rotation": "rotation"},
    "prismatic": {"": "translation", "translation": "translation"},
    "cylindrical": {"rotation": "rotation", "translation": "translation"},
    "helical": {"rotation": "rotation", "translation": "translation"},
    "universal": {"first": "first", "second": "second"},
}


def joint_coordinate(joints: tuple[ChainJoint, ...], path: str) -> tuple[int, str]:
    """A joint's number and which coordinate of it, from its name and, where it has two, ``.rotation`` or the like."""
    number = next((k for k, joint in enumerate(joints) if joint.name == path), None)
    part = ""
    if number is None:
        name, _, part = path.rpartition(".")
        number = next((k for k, joint in enumerate(joints) if joint.name == name), None)
    if number is None:
        raise UnknownNameError("joint", path, tuple(joint.name for joint in joints))
    joint = joints[number]
    known = _COORDINATES.get(joint.kind)
    if known is None:
        raise InputError(
            f"a {joint.kind} joint has no coordinate; use a revolute, prismatic, cylindrical or universal one"
        )
    if part not in known:
        raise InputError(
            f"{joint.name!r} is a {joint.kind} joint; its coordinates are "
            + ", ".join(f"{joint.name}.{one}" if one else joint.name for one in known)
        )
    return number, known[part]


def _unit_fault(data: dict[str, Any]) -> str:
    """Which text of a joint's fields has the unit of a joint that moves otherwise."""
    fields: dict[str, Any] = {name: data[name] for name in ("offset", "range", "rotor", "stiffness") if name in data}
    friction, ranges, frictions = (_mapping(data, name) for name in ("friction", "ranges", "frictions"))
    fields |= {f"friction.{name}": value for name, value in friction.items()}
    slides = data.get("kind") == "prismatic" or data.get("actuated") == "translation"
    faults = [unit_mismatch(fields, slides)]
    faults += [unit_mismatch({f"ranges.{name}": value}, name == "translation") for name, value in ranges.items()]
    for motion in frictions:
        own = {f"frictions.{motion}.{name}": value for name, value in _mapping(frictions, motion).items()}
        faults.append(unit_mismatch(own, motion == "translation"))
    return next(filter(None, faults), "")


def _mapping(data: dict[str, Any], name: str) -> dict[str, Any]:
    """A field that is a mapping; what is not one is reported where fields are read."""
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def home_fault(joints: tuple[ChainJoint, ...]) -> str:
    """Which joint's range leaves out home, where its coordinate is its offset; empty if none does."""
    for k, joint in enumerate(joints):
        if joint.range is not None and not joint.range[0] <= joint.offset <= joint.range[1]:
            return (
                f"joints.{k}.range: {list(joint.range)} does not include home, where the coordinate is "
                f"{joint.offset:g} (its offset); widen it, or change 'offset', which limits include"
            )
    return ""


def _made_square(first: Triple, second: Triple) -> tuple[Triple, Triple]:
    """Both axes of a universal joint, the second turned perpendicular to the first if it is so to its rounding."""
    one, two = np.array(first), np.array(second)
    cosine = float(one @ two)
    if abs(cosine) > SQUARE:
        raise ValueError(
            "axes: the axes of a universal joint must be perpendicular to each other; these have a cosine of "
            f"{cosine:.4g}"
        )
    if abs(cosine) < 1e-15:  # above the rounding of what follows: a second reading changes nothing
        return first, second
    for _ in range(2):
        two = two - (one @ two) * one
        two = two / np.linalg.norm(two)
    x, y, z = (float(number) for number in two)
    return first, (x, y, z)


Bodies = Annotated[dict[str, Body], Frozen]
