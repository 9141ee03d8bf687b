"""PUS: slider on a rail, universal joint, link of fixed length, spherical joint on the platform.

Kim and Ryu (6)-(13); Lopes (42), (53)-(57) with vertical rails.
"""

from __future__ import annotations

from typing import Literal

import casadi as ca

from ..arrays import Array
from ..description import Body, ConeLimit, Friction
from ..description.quantities import Direction, Mass, Range
from ..symbols.vectors import Frame, columns, cross, dot, norm, vector
from .contract import Actuator, Condition, Joint, LegFrame, PlacedBody, Placement, Strut
from .driven import Stiffness, cone_limit, range_limit, springs
from .rail import RailLeg, Slide, slide, slide_at_start


class PUS(RailLeg, kind="PUS"):
    """A slider at ``rail_start`` + q ``rail_direction`` and a link of ``length`` from it to ``platform``.

    ``rail_end`` may be given for ``rail_direction``; it also limits the ``travel``. ``root`` picks the slider on
    the ``lower`` or ``upper`` side along the rail (the smaller or larger q). ``axis`` is the universal joint's
    axis alpha on the slider. Link frame: origin at the slider, z = n along the link, y = n x alpha/|n x alpha|,
    x = y x z (13). The slider does not turn; its frame has the base's axes and its origin at the universal joint.
    ``end_masses`` are the point masses (slider end, platform end) that stand for the link in the simplified model;
    without them its mass and centre of mass decide. ``stiffness`` is that of the drive along the rail,
    ``link_stiffness``, ``universal_stiffness`` and ``spherical_stiffness`` those of the link and of its joints along
    the link, all in series; parts without a number are rigid. ``slider_cone`` holds n about an axis of the base frame,
    ``platform_cone`` about an axis of the platform frame; n points from the slider to the platform joint for both.
    """

    axis: Direction
    slider: Body
    link: Body
    root: Literal["lower", "upper"] = "lower"
    end_masses: tuple[Mass, Mass] | None = None
    slider_friction: Friction = Friction()
    universal_friction: Friction = Friction()
    spherical_friction: Friction = Friction()
    travel: Range | None = None
    slider_cone: ConeLimit | None = None
    platform_cone: ConeLimit | None = None
    stiffness: Stiffness = None
    link_stiffness: Stiffness = None
    universal_stiffness: Stiffness = None
    spherical_stiffness: Stiffness = None

    def strut(self, q: Array) -> Strut | None:
        """The link from its slider. None of a kind that states another placement."""
        return self._rail_strut(q) if type(self).place is PUS.place else None

    def _link(self, tip: Frame) -> tuple[Slide, ca.SX, ca.SX, ca.SX]:
        """The slider, |n x alpha|, and the link's axes x, y beside n."""
        if self._in_leg_frame:
            at = slide_at_start(tip.origin, self.rail_start, self.rail_direction, self.length)
        else:
            at = slide(tip.origin, self.rail_start, self.rail_direction, self.length, self.root)
        across = cross(at.n, vector(self.axis))
        alignment = norm(across)
        y = across * (1 / alignment)
        return at, alignment, cross(y, at.n), y

    def leg_frame(self, tip: Frame) -> LegFrame | None:
        """The link's axes, from the slider: the tip at (0, 0, l), alpha = (|n x alpha|, 0, n.alpha).

        None for a rail along a base axis: there, base axes take fewer operations.
        """
        rail = vector(self.rail_direction)
        if sum(bool(rail[k].is_zero()) for k in range(3)) == 2:
            return None
        at, alignment, x, y = self._link(tip)
        axes = columns(x, y, at.n)
        fields = {
            "rail_start": ca.SX.zeros(3),
            "rail_direction": axes.T @ rail,
            "axis": ca.vertcat(alignment, 0, dot(vector(self.axis), at.n)),
        }
        if self.guide_normal is not None:
            fields["guide_normal"] = axes.T @ vector(self.guide_normal)
        return LegFrame(axes, ca.vertcat(ca.SX.zeros(2), self.length), fields)

    def place(self, tip: Frame) -> Placement:
        """Slider and link direction by (8); the link turns with its universal joint (13)."""
        a, alpha = vector(self.rail_direction), vector(self.axis)
        at, alignment, x, y = self._link(tip)
        aligned = Condition(
            "the link is in line with its universal joint's slider axis",
            alignment,
            dot(at.n, alpha),
            "cosine",
            singular=True,
        )
        return Placement(
            bodies=(
                PlacedBody("slider", Frame(at.point, ca.SX(ca.DM.eye(3))), self.slider),
                PlacedBody("link", Frame(at.point, columns(x, y, at.n)), self.link, 2, tip.origin, self.length),
            ),
            joints=(
                Joint("slider", "prismatic", "base", "slider", at.point, (a,), "slider_friction", self._guide()),
                Joint("universal", "universal", "slider", "link", at.point, (alpha, y), "universal_friction"),
                Joint("spherical", "spherical", "link", "platform", tip.origin, (), "spherical_friction"),
            ),
            actuators=(Actuator("slider", "slider", at.q, rotor=self.reflected),),
            conditions=(at.condition, aligned),
            limits=(
                *range_limit("rail", at.q, self.travel, "slider"),
                *cone_limit("universal joint cone", at.n, self.slider_cone),
                *cone_limit("spherical joint cone", at.n, self.platform_cone, tip.axes),
            ),
            unknowns=at.unknowns,
            springs=springs(
                1 / dot(at.n, a),  # the drive carries the part of the link's force along the rail
                drive=self.stiffness,
                link=self.link_stiffness,
                universal=self.universal_stiffness,
                spherical=self.spherical_stiffness,
            ),
        )
