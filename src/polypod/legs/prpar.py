"""PRPaR: slider on a rail, hinge, parallelogram, hinge on the platform (Staicu's leg C)."""

from __future__ import annotations

from typing import Literal

import casadi as ca

from ..arrays import Array
from ..description import Body, Friction
from ..description.quantities import Direction, Length, Range
from ..symbols.vectors import Frame, columns, cross, dot, norm, vector
from .contract import Actuator, Condition, Joint, PlacedBody, Placement, Strut
from .driven import Stiffness, range_limit, springs
from .rail import RailLeg, slide

_MASSLESS = Body(mass=0.0)


class PRPaR(RailLeg, kind="PRPaR"):
    """A slider, a short bar hinged to it about ``axis``, two long bars of ``length``, a short bar on the platform.

    The short bars lie along ``axis`` (a base direction the platform keeps) and reach ``half_width`` to both sides;
    the long bars hinge on them about the parallelogram's normal h. ``bar`` is the inertia of either long bar:
    origin at its slider end, x along the bar, z = h. Short bars: origin mid-bar, x along ``axis``, z = h.
    ``stiffness`` is that of the drive along the rail.
    """

    axis: Direction
    half_width: Length
    slider: Body
    bar: Body
    slider_bar: Body = _MASSLESS
    platform_bar: Body = _MASSLESS
    root: Literal["lower", "upper"] = "lower"
    slider_friction: Friction = Friction()
    hinge_friction: Friction = Friction()
    parallelogram_friction: Friction = Friction()
    platform_friction: Friction = Friction()
    travel: Range | None = None
    stiffness: Stiffness = None

    def strut(self, q: Array) -> Strut | None:
        """A long bar in the middle, from the slider. None of a kind that states another placement."""
        return self._rail_strut(q) if type(self).place is PRPaR.place else None

    def place(self, tip: Frame) -> Placement:
        """Both long bars are parallel to n from slider to platform joint, Staicu (6) for leg C."""
        e = vector(self.axis)
        at = slide(tip.origin, self.rail_start, self.rail_direction, self.length, self.root)
        normal = cross(e, at.n)
        openness = norm(normal)
        h = normal * (1 / openness)
        long_axes = columns(at.n, cross(h, at.n), h)
        short_axes = columns(e, cross(h, e), h)
        side = self.half_width * e
        near, far = (at.point + side, at.point - side), (tip.origin + side, tip.origin - side)
        rail = vector(self.rail_direction)
        bars = [Joint("slider", "prismatic", "base", "slider", at.point, (rail,), "slider_friction", self._guide())]
        bars += [Joint("hinge", "revolute", "slider", "slider_bar", at.point, (e,), "hinge_friction")]
        for number in (0, 1):
            bar = f"bar{number + 1}"
            friction = "parallelogram_friction"
            bars += [
                Joint(f"slider hinge of {bar}", "revolute", "slider_bar", bar, near[number], (h,), friction),
                Joint(f"platform hinge of {bar}", "revolute", bar, "platform_bar", far[number], (h,), friction),
            ]
        bars += [Joint("platform hinge", "revolute", "platform_bar", "platform", tip.origin, (e,), "platform_friction")]
        flat = Condition("the parallelogram is folded flat", openness, dot(e, at.n), "cosine", singular=True)
        return Placement(
            bodies=(
                PlacedBody("slider", Frame(at.point, ca.SX(ca.DM.eye(3))), self.slider),
                PlacedBody("slider_bar", Frame(at.point, short_axes), self.slider_bar),
                PlacedBody("bar1", Frame(near[0], long_axes), self.bar, 0, far[0], self.length),
                PlacedBody("bar2", Frame(near[1], long_axes), self.bar, 0, far[1], self.length),
                PlacedBody("platform_bar", Frame(tip.origin, short_axes), self.platform_bar),
            ),
            joints=tuple(bars),
            actuators=(Actuator("slider", "slider", at.q, rotor=self.reflected),),
            conditions=(at.condition, flat),
            limits=range_limit("rail", at.q, self.travel, "slider"),
            springs=springs(1.0, drive=self.stiffness),
        )
