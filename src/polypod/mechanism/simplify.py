"""Simplified models the papers propose, named for what they neglect.

``no-spin``: links do not turn about themselves, omega.n = 0, and the joint's moment is along n (the classic model,
Kim-Ryu (19), Lopes (59)); ``slender-links``: no moment of inertia about the link's own axis; ``no-link-inertia``:
links have weight but no inertia; ``massless-links``: neither; ``point-mass-links``: half masses at both ends of links
of fixed length (Lopes 3.4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from ..description import Body
from ..errors import InputError, UnknownNameError
from ..legs import Leg, PlacedBody, Placement
from ..symbols.vectors import Frame

Simplification = Literal["no-spin", "slender-links", "no-link-inertia", "massless-links", "point-mass-links"]
SIMPLIFICATIONS: tuple[str, ...] = get_args(Simplification)


def simplified(leg: Leg, placement: Placement, what: Simplification | None) -> Placement:
    """A leg's placement with its links (bodies that have an ``along`` axis) simplified."""
    if what == "no-spin" and any(joint.cross for joint in placement.joints):
        raise InputError(
            f"no-spin: {leg.name} has a universal joint whose cross has inertia; how it turns contradicts a leg that "
            "does not spin"
        )
    if what is None or what == "no-spin":
        return placement
    if what not in SIMPLIFICATIONS:
        raise UnknownNameError("simplification", what, SIMPLIFICATIONS)
    bodies: list[PlacedBody] = []
    for body in placement.bodies:
        if body.along is None:
            bodies.append(body)
        elif what == "no-link-inertia":
            bodies.append(replace(body, has_inertia=False))
        elif what == "massless-links":
            bodies.append(replace(body, inertia=Body(mass=0.0)))
        elif what == "slender-links":
            bodies.append(replace(body, inertia=_slender(body.inertia, body.along)))
        else:
            bodies += _point_masses(leg, body)
    return replace(placement, bodies=tuple(bodies))


def _slender(inertia: Body, along: int) -> Body:
    """The tensor without its part about the link's axis: (1 - n n^T) I (1 - n n^T)."""
    keep = np.eye(3)
    keep[along, along] = 0.0
    tensor = keep @ inertia.central_inertia @ keep
    return Body(mass=inertia.mass, com=inertia.com, inertia=_nested(tensor), check="none")


def _point_masses(leg: Leg, body: PlacedBody) -> list[PlacedBody]:
    """A link as two masses at its ends, which keep its mass and centre of mass unless the leg says otherwise."""
    if body.end is None:
        raise InputError(f"point-mass-links: {leg.name} ({leg.kind}) has no links of fixed length")
    assert body.along is not None
    chosen: Any = getattr(leg, "end_masses", None)
    if chosen is None:
        share = body.inertia.com[body.along] / body.length
        if not 0 <= share <= 1:
            raise InputError(
                f"point-mass-links: {leg.name}.{body.name} has its centre of mass beyond its ends ({share:.3g} of its "
                "length); two masses at the ends cannot keep it, give end_masses"
            )
        chosen = (body.inertia.mass * (1 - share), body.inertia.mass * share)
    ends = (body.frame.origin, body.end)
    return [
        # The link itself stays, without mass: joints hang on it.
        replace(body, inertia=Body(mass=0.0)),
        *(
            PlacedBody(f"{body.name} {side} mass", Frame(point, body.frame.axes), Body(mass=mass), on=body.name)
            for side, point, mass in zip(("near", "far"), ends, chosen, strict=True)
        ),
    ]


def _nested(tensor: Any) -> Any:
    return tuple(tuple(float(x) for x in row) for row in tensor)
