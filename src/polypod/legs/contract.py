"""The contract of a leg kind: data of the leg, and one method that says where everything is.

:meth:`Leg.place` is given the frame of the platform at the leg's attachment point, in symbols, and returns a
:class:`Placement`: the actuated coordinate and the pose of each body and joint, in the base frame. Velocities,
accelerations, Jacobians, forces and energies are derived from it by differentiation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..description import Body, LegData
from ..symbols.vectors import Frame

# Below this margin an answer has lost half of its digits: there is none.
SMALLEST_MARGIN = 1e-7


@dataclass(frozen=True)
class PlacedBody:
    """A body of the leg: its frame in the base and its inertia in that frame.

    For a link, ``along`` is the number of the axis that lies along it, and if its length is fixed ``end`` is its far
    end and ``length`` that length [m]. ``on`` names the body it is fastened to, if no joint holds it. A body without
    inertia still has its weight.
    """

    name: str
    frame: Frame
    inertia: Body
    along: int | None = None
    end: ca.SX | None = None
    length: float = 0.0
    on: str = ""
    has_inertia: bool = True


@dataclass(frozen=True)
class Inertance:
    """A mass that moves with a coordinate only (a drive's rotor reflected to the joint) [kg]."""

    name: str
    coordinate: ca.SX
    mass: float


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies (``base`` and ``platform`` are bodies too), all in base axes.

    ``kind`` is one of ``prismatic``, ``revolute``, ``universal``, ``spherical``; ``axes`` are its free
    directions: the slide, the hinge, or the two axes of the cross (the parent's first). ``point`` is its centre.
    ``friction`` names the leg's field with its :class:`~polypod.description.Friction`; empty for none. A prismatic
    joint is the actuated one; ``normals`` are the directions its guide carries load in. ``cross`` names the body
    that is a universal joint's cross, if it has inertia.
    """

    name: str
    kind: str
    parent: str
    child: str
    point: ca.SX
    axes: tuple[ca.SX, ...] = ()
    friction: str = ""
    normals: tuple[ca.SX, ...] = ()
    cross: str = ""


@dataclass(frozen=True)
class Limit:
    """A quantity with a range: a leg's length, a slider's place, an angle in a joint's cone (its cosine).

    ``low <= value <= high`` in ``unit``; ``angle`` marks a cosine that is reported as an angle.
    """

    name: str
    value: ca.SX
    low: float
    high: float
    unit: str
    angle: bool = False


@dataclass(frozen=True)
class Condition:
    """What must be positive for the leg to close and move: ``margin`` is about 1 in a good pose, 0 at the edge.

    ``excess`` is by how much the pose is too far, in ``unit``, for the message when the margin is lost.
    ``watched`` conditions are part of every state's quality; one whose loss makes another not a number need not be.
    """

    name: str
    margin: ca.SX
    excess: ca.SX
    unit: str
    watched: bool = True


@dataclass(frozen=True)
class Placement:
    """Where everything of one leg is, as functions of its tip: all that a leg kind states."""

    coordinate: ca.SX
    bodies: tuple[PlacedBody, ...]
    joints: tuple[Joint, ...]
    conditions: tuple[Condition, ...]
    limits: tuple[Limit, ...] = ()
    inertances: tuple[Inertance, ...] = ()


class Leg(LegData):
    """A leg kind: subclass with ``kind="NAME"``, add the data as fields, and say in ``place`` where it is.

    Numeric fields read in ``place`` may be symbols instead of numbers, so use only arithmetic, ``casadi``
    functions and :mod:`polypod.symbols.vectors` on them; nested :class:`~polypod.description.Body` and
    :class:`~polypod.description.Friction` fields are always data.
    """

    def closure_faults(self, position: Sequence[float], rotation: Any) -> list[str]:
        """Why the leg does not close when the platform is at a pose; empty if it does."""
        axes = np.array(rotation, dtype=float)
        origin = np.array(position, dtype=float) + axes @ np.array(self.platform)
        placement = self.place(Frame(ca.SX(ca.DM(origin)), ca.SX(ca.DM(axes))))
        for condition in placement.conditions:
            margin, excess = (float(ca.DM(ca.simplify(value))) for value in (condition.margin, condition.excess))
            if not margin > SMALLEST_MARGIN:
                # What is lost after the first is only its consequence.
                return [f"{condition.name} ({excess:.6g} {condition.unit})"]
        return []

    def assembly_faults(self, poses: Sequence[Any]) -> list[str]:
        """What of the leg's bodies and joints does not hang together at poses (4, 4) around home."""
        from .assembly import Assembly

        tip = Frame.symbols("tip")
        tips = [(pose[:3, 3] + pose[:3, :3] @ np.array(self.platform), pose[:3, :3]) for pose in poses]
        return Assembly(self.place(tip), tip).faults(tips)

    def friction_joints(self) -> dict[str, set[str]]:
        """For each friction field of the leg the kinds of the joints that have it."""
        found: dict[str, set[str]] = {}
        for joint in self.place(Frame.symbols("tip")).joints:
            if joint.friction:
                found.setdefault(joint.friction, set()).add(joint.kind)
        return found

    @abstractmethod
    def place(self, tip: Frame) -> Placement:
        """The leg for the platform's frame at the attachment point ``tip`` (base axes)."""
