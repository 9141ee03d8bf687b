"""UPS: universal joint on the base, extensible leg of two bodies, spherical joint on the platform.

Pedrammehr et al. (26)-(28); with ``cross_inertia`` and ``rotor_mass`` also the leg of Long et al., section 3.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Body, ConeLimit, Friction
from ..description.quantities import Direction, Mass, Moment, Position, Range
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame, absent, columns, cross, dot, norm, vector
from .contract import Actuator, Condition, Joint, LegFrame, PlacedBody, Placement, Strut
from .driven import DrivenLeg, Stiffness, cone_limit, range_limit, springs


class UPS(DrivenLeg, kind="UPS"):
    """A leg of variable length l from ``base`` (base frame) to ``platform`` (platform frame).

    ``axis`` is the universal joint's axis u fixed to the base. Pod frame: n along the leg,
    v = u x n/|u x n|, c' = n x v. The ``lower`` body's frame has its origin at the base joint, the ``upper``
    body's at the platform joint; axes (n, v, c') both. ``cross_inertia`` is that of the universal joint's
    cross about u, ``rotor_mass`` the drive's rotor reflected to the leg's length, beside ``rotor_inertia`` at the
    motor. ``stiffness`` is that of the drive, ``link_stiffness``, ``universal_stiffness`` and ``spherical_stiffness``
    those of both bodies and of the joints along the leg, all in series; parts without a number are rigid.
    ``base_cone`` holds n about an axis of the base frame, ``platform_cone`` about an axis of the platform frame; for
    both n points from the base joint to the platform joint.
    """

    base: Position
    axis: Direction
    lower: Body
    upper: Body
    cross_inertia: Moment = 0.0
    rotor_mass: Mass = 0.0
    universal_friction: Friction = Friction()
    prismatic_friction: Friction = Friction()
    spherical_friction: Friction = Friction()
    length: Range | None = None
    base_cone: ConeLimit | None = None
    platform_cone: ConeLimit | None = None
    stiffness: Stiffness = None
    link_stiffness: Stiffness = None
    universal_stiffness: Stiffness = None
    spherical_stiffness: Stiffness = None

    def strut(self, q: Array) -> Strut | None:
        """The leg itself, from its base joint; q is its length. None of a kind that states another placement."""
        if type(self).place is not UPS.place:
            return None
        return Strut(np.broadcast_to(np.array(self.base), (*q.shape, 3)), q, np.array(self.platform))

    def _pod(self, tip: Frame) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        """l, |u x n|, and the pod's axes n, v, c'."""
        along = tip.origin - vector(self.base)
        length = norm(along)
        n = along * (1 / length)
        across = cross(vector(self.axis), n)
        alignment = norm(across)
        v = across * (1 / alignment)
        return length, alignment, n, v, cross(n, v)

    def leg_frame(self, tip: Frame) -> LegFrame:
        """The pod's axes, from the base joint: the tip at (l, 0, 0), u = (u.n, 0, |u x n|)."""
        length, alignment, n, v, side = self._pod(tip)
        axis = ca.vertcat(dot(vector(self.axis), n), 0, alignment)
        return LegFrame(columns(n, v, side), ca.vertcat(length, 0, 0), {"base": ca.SX.zeros(3), "axis": axis})

    def place(self, tip: Frame) -> Placement:
        """l = |p - b|, n = (p - b)/l; the pod turns with its universal joint (12), (28)."""
        u = vector(self.axis)
        length, alignment, n, v, side = self._pod(tip)
        pod = columns(n, v, side)
        # joints are where they are to the rounding of their distances from the origins; the difference keeps it
        scale = norm(vector(self.base)) + norm(vector(self.platform))
        bodies = [
            PlacedBody("lower", Frame(vector(self.base), pod), self.lower, along=0),
            PlacedBody("upper", Frame(tip.origin, pod), self.upper, along=0),
        ]
        cross_body = "" if absent(self.cross_inertia) else "cross"
        if cross_body:
            spider = Inertia.about_first_axis(self.cross_inertia)
            bodies.insert(0, PlacedBody("cross", Frame(vector(self.base), columns(u, v, cross(u, v))), spider))
        return Placement(
            bodies=tuple(bodies),
            joints=(
                Joint(
                    "universal",
                    "universal",
                    "base",
                    "lower",
                    vector(self.base),
                    (u, v),
                    "universal_friction",
                    cross_body=cross_body,
                ),
                Joint("prismatic", "prismatic", "lower", "upper", tip.origin, (n,), "prismatic_friction"),
                Joint("spherical", "spherical", "upper", "platform", tip.origin, (), "spherical_friction"),
            ),
            actuators=(Actuator("prismatic", "prismatic", length, rotor=self.rotor_mass + self.reflected),),
            conditions=(
                Condition(
                    "the base joint and the platform joint coincide", length * (1 / scale), length, "m", singular=True
                ),
                Condition(
                    "the leg is in line with its universal joint's base axis",
                    alignment,
                    dot(u, n),
                    "cosine",
                    singular=True,
                ),
            ),
            limits=(
                *range_limit("length", length, self.length, "prismatic"),
                *cone_limit("universal joint cone", n, self.base_cone),
                *cone_limit("spherical joint cone", n, self.platform_cone, tip.axes),
            ),
            springs=springs(
                1.0,
                drive=self.stiffness,
                link=self.link_stiffness,
                universal=self.universal_stiffness,
                spherical=self.spherical_stiffness,
            ),
        )
