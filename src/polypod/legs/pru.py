"""PRU: slider on a rail, hinge, link of fixed length, universal joint on the platform (Staicu's legs A and B)."""

from __future__ import annotations

from typing import Literal

import casadi as ca

from ..description import Body, Friction
from ..description.quantities import Direction, Range
from ..symbols.vectors import Frame, columns, cross, vector
from .contract import Actuator, Joint, PlacedBody, Placement
from .driven import Stiffness, range_limit, springs
from .rail import RailLeg, slide


class PRU(RailLeg, kind="PRU"):
    """A slider as in PUS; the link turns about ``axis`` only, a base direction perpendicular to its plane of motion.

    The universal joint's first axis is ``axis``, carried by the link; its second is ``platform_axis`` in the
    platform frame. Link frame: origin at the slider, x along the link, z along ``axis``. ``stiffness`` is that of the
    drive along the rail.
    """

    axis: Direction
    platform_axis: Direction
    slider: Body
    link: Body
    root: Literal["lower", "upper"] = "lower"
    slider_friction: Friction = Friction()
    hinge_friction: Friction = Friction()
    universal_friction: Friction = Friction()
    travel: Range | None = None
    stiffness: Stiffness = None

    def place(self, tip: Frame) -> Placement:
        """Slider and link direction by Staicu (6), (7): lambda + L a20^T u1 ends at the platform joint."""
        hinge = vector(self.axis)
        at = slide(tip.origin, self.rail_start, self.rail_direction, self.length, self.root)
        second = tip.axes @ vector(self.platform_axis)
        rail = vector(self.rail_direction)
        return Placement(
            bodies=(
                PlacedBody("slider", Frame(at.point, ca.SX(ca.DM.eye(3))), self.slider),
                PlacedBody(
                    "link",
                    Frame(at.point, columns(at.n, cross(hinge, at.n), hinge)),
                    self.link,
                    0,
                    tip.origin,
                    self.length,
                ),
            ),
            joints=(
                Joint("slider", "prismatic", "base", "slider", at.point, (rail,), "slider_friction", self._guide()),
                Joint("hinge", "revolute", "slider", "link", at.point, (hinge,), "hinge_friction"),
                Joint("universal", "universal", "link", "platform", tip.origin, (hinge, second), "universal_friction"),
            ),
            actuators=(Actuator("slider", "slider", at.q, rotor=self.reflected),),
            conditions=(at.condition,),
            limits=range_limit("rail", at.q, self.travel, "slider"),
            springs=springs(1.0, drive=self.stiffness),
        )
