"""Cable: from an anchor or a pulley on the base to a point of the platform, wound on a drum; it pulls only.

A taut cable without mass is a strut whose length is its coordinate: l = |p - a| from an anchor a. Over a pulley of
radius r that swivels about an axis k through a (Pott, Cable-Driven Parallel Robots, section 4.3) it leaves at the
tangent point: in the plane of the pulley, with x = |d - (d.k) k| and z = d.k for d = p - a, the centre is at (r, 0),
the free part is sqrt((x - r)^2 + z^2 - r^2), and the part on the pulley is r times the angle of wrap.

A cable with mass is straight too: what it weighs, m g l, hangs on its ends, and its tension grows by m g h towards the
higher one. Both follow from its potential -m g.s, s the integral of the place along the cable, counted from the anchor:
l (p - a)/2, or with t the tangent point, l the free length and phi the angle there,
l ((t + p)/2 - a) + r^2 ((pi - phi - sin phi) e_x + (1 + cos phi) k). That is the catenary to first order in
m g l/tension; ``pp.analysis.sag`` has the catenary itself.
"""

from __future__ import annotations

from typing import Annotated, Any

import casadi as ca
import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ..arrays import Array
from ..description.drive import Drive, drive_fields
from ..description.quantities import (
    Data,
    Direction,
    Length,
    Moment,
    Number,
    Position,
    Range,
    in_either,
    list_of,
    rating,
)
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame, columns, cross, dot, norm, vector
from .contract import Actuator, Condition, HangingWeight, Joint, PlacedBody, Placement, Spring, Strut
from .driven import DrivenLeg, range_limit


def _tensions(value: Any) -> Any:
    """Two forces with their units as SI numbers."""
    newton = in_either("N")
    return tuple(newton(one) for one in list_of(2, "2 forces, such as [20 N, 400 N]")(value))


def _pulls(value: tuple[float, float]) -> tuple[float, float]:
    low, high = value
    if low < 0:
        raise ValueError(f"a cable cannot push: the lowest tension must be at least 0, got {low:g} N")
    if not low < high:
        raise ValueError(f"tensions exclude each other: {low:g} to {high:g} N; the lowest must be below the highest")
    return value


Tension = Annotated[
    tuple[Number, Number], BeforeValidator(_tensions), AfterValidator(_pulls), rating("N", form="[lowest, highest]")
]


class Pulley(Data):
    """A pulley of ``radius`` that swivels about ``axis`` through the anchor, where the cable meets it.

    ``axis`` is the direction in which the cable comes from its drum.
    """

    radius: Length
    axis: Direction


class Drum(Data):
    """The drum of a winch: its ``radius`` at the middle of the cable, and the ``inertia`` of all that turns with it."""

    radius: Length
    inertia: Moment = 0.0


class CableDrive(Drive):
    """A winch: what it may pull, and its drum."""

    tension: Tension | None = None
    drum: Drum | None = None

    @property
    def tension_range(self) -> tuple[float, float] | None:
        """Lowest and highest tension [N]."""
        return self.tension

    @property
    def geared(self) -> bool:
        """Whether the file says how the motor turns with the cable's length."""
        return self.drum is not None

    @property
    def motor_ratio(self) -> Any:
        """Angle of the motor for a metre of cable [rad/m]: gear/radius of the drum."""
        gear = 1.0 if self.gear is None else self.gear
        return gear if self.drum is None else gear / self.drum.radius

    @property
    def reflected(self) -> Any:
        """Inertia of motor and drum reflected to the cable's length [kg]."""
        turning = 0.0 if self.rotor_inertia is None else self.rotor_inertia * self.motor_ratio**2
        return turning if self.drum is None else turning + self.drum.inertia / self.drum.radius**2


DRAWN, ENDS = "cable", ("drum end", "platform end")
"""Body of a cable that is as long as its free part, and those that its joints hold."""


class Cable(DrivenLeg, kind="cable"):
    """A cable of length l from ``anchor`` (base frame) to ``platform`` (platform frame), wound on a ``drum``.

    Its coordinate is its length up to the anchor; the actuator's force is minus its tension at the drum, which stays
    within ``tension``. Over a ``pulley`` the length counts from where the cable meets it. ``stiffness`` is that of one
    metre of cable (its force for a strain of one, E A); a cable of length l has ``stiffness``/l.
    ``length`` limits the length, ``radius`` is that of the cable in pictures and clearances. Its weight, by
    ``linear_density``, hangs on both ends; it has neither inertia nor sag. Its body ``cable`` is what is drawn: the
    first axis of its frame is as long as the free part.
    """

    anchor: Position
    tension: Tension
    pulley: Pulley | None = None
    drum: Drum | None = None
    stiffness: Annotated[Number | None, Field(gt=0, json_schema_extra={"unit": "N"})] = None
    linear_density: Annotated[Number | None, Field(gt=0, json_schema_extra={"unit": "kg/m"})] = None
    length: Range | None = None
    radius: Length | None = None

    @model_validator(mode="before")
    @classmethod
    def _drive(cls, value: Any) -> Any:
        """Fields of a motor need a drum, as those of a linear actuator need a screw."""
        if not isinstance(value, dict):
            return value
        if value.get("lead") is not None:
            raise ValueError("lead: a cable is wound on a drum; give drum: {radius: ...} instead")
        if value.get("drum") is None:
            try:
                return drive_fields(value, False)
            except ValueError as error:
                raise ValueError(str(error).replace("the 'lead' of its screw", "the 'drum' of its cable")) from error
        found = drive_fields({**value, "lead": 1.0}, False)
        del found["lead"]
        return found

    def drive(self, actuator: str = "") -> Drive:
        """What its winch can do."""
        own = {name: getattr(self, name) for name in CableDrive.model_fields}
        return CableDrive.model_construct(**own)

    def states_rotor(self, actuator: str = "") -> bool:
        """Whether the file gives the inertia of motor or drum."""
        return "rotor_inertia" in self.model_fields_set or (self.drum is not None and self.drum.inertia != 0)

    def strut(self, q: Array) -> Strut | None:
        """The cable as a strut from its anchor; None over a pulley, where its end moves."""
        if self.pulley is not None:
            return None
        return Strut(np.broadcast_to(np.array(self.anchor), (*q.shape, 3)), q, np.array(self.platform))

    def consistency_faults(self, poses: Any) -> list[str]:
        """None: a cable has no joint that could wander; the point where it leaves its pulley does."""
        return []

    def _run(self, tip: Frame) -> tuple[ca.SX, ca.SX, ca.SX, tuple[Condition, ...]]:
        """Point where the free part begins, length of the whole cable, its integral of the place, and what must hold.

        The place counts from the anchor.
        """
        anchor = vector(self.anchor)
        along = tip.origin - anchor
        scale = norm(anchor) + norm(vector(self.platform))
        if self.pulley is None:
            length = norm(along)
            meets = Condition("the cable meets its anchor", length * (1 / scale), length, "m", singular=True)
            return anchor, length, (0.5 * length) * along, (meets,)
        k, r = vector(self.pulley.axis), self.pulley.radius
        z = dot(along, k)
        across = along - z * k
        x = norm(across)
        square = (x - r) ** 2 + z**2
        room = square - r**2
        free = ca.sqrt(ca.fmax(room, 0))
        leaving = ca.atan2(z, x - r) + ca.atan2(free, r)  # the tangent point, as an angle about the centre
        side = across / x
        point = anchor + side * (r + r * ca.cos(leaving)) + k * (r * ca.sin(leaving))
        wrapped = side * (np.pi - leaving - ca.sin(leaving)) + k * (1 + ca.cos(leaving))
        moment = free * (0.5 * (point + tip.origin) - anchor) + r * r * wrapped
        conditions = (
            Condition("the cable is in line with its pulley's swivel axis", x * (1 / scale), x, "m", singular=True),
            Condition(
                "the platform's end of the cable is inside its pulley",
                room * (1 / scale) ** 2,
                ca.sqrt(square) - r,
                "m",
            ),
        )
        return point, free + r * (np.pi - leaving), moment, conditions

    def place(self, tip: Frame) -> Placement:
        """Two halves of the free part that slide in each other, without mass, between universal and spherical joint."""
        point, length, moment, conditions = self._run(tip)
        along = tip.origin - point
        n = along * (1 / norm(along))
        # any two directions across: a cable has no resistance to turning about itself
        other = ca.if_else(ca.fabs(n[2]) < 0.8, ca.DM([0, 0, 1]), ca.DM([1, 0, 0]))
        across = cross(other, n)
        v = across * (1 / norm(across))
        pod = columns(n, v, cross(n, v))
        nothing = Inertia.point_mass(0.0)
        drive, density = self.drive(), self.linear_density
        hanging = () if density is None else (HangingWeight(*ENDS[::-1], density * length, density * moment),)
        return Placement(
            bodies=(
                PlacedBody("drum end", Frame(point, pod), nothing, along=0),
                PlacedBody("platform end", Frame(tip.origin, pod), nothing, along=0),
                PlacedBody(DRAWN, Frame(point, columns(along, v, cross(n, v))), nothing, on="drum end"),
            ),
            joints=(
                Joint("anchor", "universal", "base", "drum end", point, (v, cross(n, v))),
                Joint("cable", "prismatic", "drum end", "platform end", tip.origin, (n,)),
                Joint("hook", "spherical", "platform end", "platform", tip.origin, ()),
            ),
            actuators=(Actuator("cable", "cable", length, rotor=drive.reflected),),
            conditions=conditions,
            limits=range_limit("length", length, self.length, "cable"),
            springs=() if self.stiffness is None else (Spring("cable", self.stiffness / length),),
            weights=hanging,
        )
