"""What a leg kind states: where its bodies and joints are, what is actuated, what must hold, what is limited.

``polypod.legs.Leg.place`` is given the frame of the platform at the leg's attachment point, in symbols, and
returns a ``Placement``: the pose of each body and joint in the base frame, and what is actuated. Velocities,
accelerations, Jacobians, forces and energies are derived from it by differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Body
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame

# Below this margin an answer has lost half of its digits: there is none.
SMALLEST_MARGIN = 1e-7


def field_at(data: Any, path: str) -> Any:
    """A field of data by its path, numbers for items of lists: ``joints.0.friction``."""
    for part in path.split("."):
        data = data[int(part)] if part.isdigit() else getattr(data, part)
    return data


@dataclass(frozen=True)
class PlacedBody:
    """A body of the leg: its frame in the base and its inertia (or the data of one) in that frame.

    For a link, ``along`` is the number of the axis that lies along it, and if its length is fixed ``end`` is its far
    end and ``length`` that length [m], else 0. ``on`` names the body it is fastened to, if no joint holds it. A body
    without inertia still has its weight.
    """

    name: str
    frame: Frame
    inertia: Body | Inertia
    along: int | None = None
    end: ca.SX | None = None
    length: Any = 0.0
    on: str = ""
    has_inertia: bool = True

    @property
    def moments(self) -> Inertia:
        """Its inertia in symbols."""
        return Inertia.of(self.inertia)


@dataclass(frozen=True)
class Actuator:
    """What drives a leg: its coordinate q as an expression, and the prismatic or revolute joint it acts in.

    ``unit`` is that of the coordinate: ``m`` (its force is in N) or ``rad`` (its torque in N m). ``ratio`` is dq/ds,
    what the coordinate moves for a unit of the joint's own displacement s [m or rad]: 1 for a direct drive, 2 pi/lead
    for the motor's angle behind a screw. Forces are power-conjugate to q: the joint gets ``ratio`` times the force.
    ``rotor`` is the inertia that moves with q [kg or kg m^2].
    """

    name: str
    joint: str
    coordinate: ca.SX
    unit: Literal["m", "rad"] = "m"
    ratio: Any = 1.0
    rotor: Any = 0.0

    @property
    def force_unit(self) -> Literal["N", "N m"]:
        """Unit of the force or torque that it applies."""
        return "N" if self.unit == "m" else "N m"


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies (``base`` and ``platform`` are bodies too), all in base axes.

    ``kind`` is one of ``prismatic``, ``revolute``, ``cylindrical``, ``universal``, ``spherical``; ``axes`` are its free
    directions: the slide, the hinge, or the two axes of the cross (the parent's first). ``point`` is its centre.
    ``friction`` names the leg's field with its ``polypod.description.Friction``, that of a cylindrical joint one
    with such a field for its ``rotation`` and one for its ``translation``; empty for none. A joint is
    passive unless an actuator names it; ``normals`` are those of the faces of a slide's guide, where dry friction is by
    the load of each; without them it is by the whole force across the slide. ``cross_body`` names the body that is a
    universal joint's cross, if it has inertia. ``spins_about`` is the line of a rod that this joint and another
    spherical one let spin: neither holds or resists a turn about it.
    """

    name: str
    kind: str
    parent: str
    child: str
    point: ca.SX
    axes: tuple[ca.SX, ...] = ()
    friction: str = ""
    normals: tuple[ca.SX, ...] = ()
    cross_body: str = ""
    spins_about: ca.SX | None = None

    @property
    def motions(self) -> tuple[Joint, ...]:
        """Itself, or the hinge and the slide that a cylindrical joint is: joints with one friction each."""
        if self.kind != "cylindrical" or not self.friction:
            return (self,)
        return tuple(
            replace(self, name=f"{self.name} {motion}", kind=kind, friction=f"{self.friction}.{motion}")
            for motion, kind in MOTIONS.items()
        )


MOTIONS = {"rotation": "revolute", "translation": "prismatic"}
"""The motions of a cylindrical joint and the joints that have one of them."""


@dataclass(frozen=True)
class Limit:
    """A quantity with a range: a leg's length, a slider's place, an angle in a joint's cone (its cosine).

    ``low <= value <= high`` in ``unit``; ``angle`` marks a cosine that is reported as an angle. Where it limits the
    coordinate of a prismatic or revolute joint, ``joint`` names it and ``ratio`` is d(value)/d(displacement).
    """

    name: str
    value: ca.SX
    low: Any
    high: Any
    unit: str
    angle: bool = False
    joint: str = ""
    ratio: Any = 1.0

    @staticmethod
    def of_angle(name: str, cosine: ca.SX, largest: Any) -> Limit:
        """An angle up to ``largest`` [rad]; its cosine has no upper end, as roundings take it above 1."""
        return Limit(name, cosine, ca.cos(largest), 2.0, "rad", angle=True)


@dataclass(frozen=True)
class Condition:
    """What must be positive for the leg to close and move: ``margin`` is about 1 in a good pose, 0 at the edge.

    What is computed from it has a relative error of about rounding (1e-16) divided by the margin.

    ``excess`` is by how much the pose is too far, in ``unit``, for the message when the margin is lost.
    A condition that is ``in_quality`` is part of every state's quality; one whose loss makes another not a number need
    not be. ``singular`` says that the leg reaches where it is lost, but moves by itself or not at all.
    """

    name: str
    margin: ca.SX
    excess: ca.SX
    unit: str
    in_quality: bool = True
    singular: bool = False


@dataclass(frozen=True)
class Unknowns:
    """Unknowns of a leg without a closed form: n unknowns z with n ``equations`` c(tip, z) = 0.

    ``place`` are symbols (k) of where the unknowns are (an angle as cosine and sine), ``home`` their values at home,
    ``move`` symbols (n) of a displacement from there and ``moved`` (k) the place after it. Everything a placement
    states may depend on tip, place and move; ``equations`` need be exact in ``move`` to second order only.
    Newton's iteration finds them. ``size`` [m] is that of the leg, by which a gap is small or not.
    """

    place: ca.SX
    home: ca.SX
    move: ca.SX
    moved: ca.SX
    equations: ca.SX
    size: Any = 1.0


@dataclass(frozen=True)
class Constraint:
    """A constraint of a leg of fewer than six degrees of freedom on the platform: ``value`` [m or rad] is zero in
    every pose."""

    name: str
    value: ca.SX


@dataclass(frozen=True)
class Spring:
    """A part of the leg that deflects: in series with an actuator, or about the motion of a passive ``joint``.

    ``stiffness`` [N/m or N m/rad]. In series ``load`` is the force in it for a unit of the actuator's force, and it
    adds load^2/stiffness to the compliance of the coordinate of ``actuator``, its number in the leg. At a joint, which
    ``joint`` then names, it resists the joint's motion as a flexure does.
    """

    name: str
    stiffness: Any
    load: Any = 1.0
    actuator: int = 0
    joint: str = ""


@dataclass(frozen=True)
class LegFrame:
    """A leg seen from ``axes`` (3x3, columns in base axes) that turn with it, as functions of its tip.

    There few of its numbers move and many are zero, so that derivatives of its forces are short. ``tip`` (3) and
    ``fields``, the leg's numbers of the base frame, are what is seen: lengths from a point that stands still, in these
    axes. What is zero in every pose is stated as zero, and what is never negative as a root.
    """

    axes: ca.SX
    tip: ca.SX
    fields: dict[str, ca.SX]


@dataclass(frozen=True)
class Placement:
    """Where everything of one leg is, as functions of its tip (and of unknowns): all that a leg kind states.

    ``joint_coordinates`` are displacements of joints from home [m or rad] that are coordinates of the robot.
    """

    bodies: tuple[PlacedBody, ...]
    joints: tuple[Joint, ...]
    actuators: tuple[Actuator, ...]
    conditions: tuple[Condition, ...] = ()
    limits: tuple[Limit, ...] = ()
    unknowns: Unknowns | None = None
    constraints: tuple[Constraint, ...] = ()
    springs: tuple[Spring, ...] = ()
    joint_coordinates: tuple[ca.SX, ...] = ()

    def joint(self, name: str) -> Joint:
        """A joint by its name."""
        return next(joint for joint in self.joints if joint.name == name)

    def actuator_of(self, joint: str) -> Actuator | None:
        """The actuator that drives a joint; None for a passive one."""
        return next((a for a in self.actuators if a.joint == joint), None)


# ----------------------------------------------------------------------------------------------------------------------
# What a leg is to its platform while its actuator stands still: a strut between two joints, or a hinged one.


class Strut(NamedTuple):
    """For coordinates (...,): the platform's joint stays at a distance from a point that only the coordinate moves.

    ``point`` (..., 3) [m], base frame; ``length`` (...,) [m]; ``joint`` (3) on the platform, platform frame. With
    ``axis`` (..., 3) the joint moves on the circle about that axis through ``point``, else on the whole sphere.
    ``ball`` says that the joint lets the platform turn as it likes. A strut without length holds the joint itself.
    Where both joints are hinges, ``hinge`` (3), platform frame, is the axis of the platform's, ``cosine`` that of its
    angle with ``axis``, which stays, and ``start`` (..., 3) where the other is drawn.
    """

    point: Array
    length: Array
    joint: Array
    axis: Array | None = None
    ball: bool = True
    hinge: Array | None = None
    cosine: float = 0.0
    start: Array | None = None

    def at(self, states: NDArray[np.int64]) -> Strut:
        """At some of its coordinates (n,)."""
        axis, start = (None if part is None else part[states] for part in (self.axis, self.start))
        return self._replace(point=self.point[states], length=self.length[states], axis=axis, start=start)
