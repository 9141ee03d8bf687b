"""Simplified models the papers propose, named for what they neglect.

``no-spin``: links do not turn about themselves, omega.n = 0, and the joint's moment is along n (the classic model,
Kim-Ryu (19), Lopes (59)); ``slender-links``: no moment of inertia about the link's own axis; ``no-link-inertia``:
links have weight but no inertia; ``massless-links``: neither; ``point-mass-links``: half masses at both ends of links
of fixed length (Lopes 3.4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import casadi as ca

from ..errors import InputError, UnknownNameError
from ..legs import PlacedBody, Placement
from ..parameters import ParameterVector
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame

Simplification = Literal["no-spin", "slender-links", "no-link-inertia", "massless-links", "point-mass-links"]
SIMPLIFICATIONS: tuple[str, ...] = get_args(Simplification)


def simplified(leg: Any, placement: Placement, what: Simplification | None, numbers: ParameterVector) -> Placement:
    """A leg's placement with its links (bodies that have an ``along`` axis) simplified."""
    if what == "no-spin" and any(joint.cross_body for joint in placement.joints):
        raise InputError(
            f"no-spin: {leg.name} has a universal joint whose cross has inertia, and its rotation contradicts a "
            "leg that does not spin",
            code="cross_inertia",
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
            bodies.append(replace(body, inertia=Inertia.point_mass(0.0)))
        elif what == "slender-links":
            bodies.append(replace(body, inertia=_slender(body.moments, body.along)))
        else:
            bodies += _point_masses(leg, body, numbers)
    return replace(placement, bodies=tuple(bodies))


def _slender(inertia: Inertia, along: int) -> Inertia:
    """The central tensor without its part about the link's axis: (1 - n n^T) I (1 - n n^T)."""
    keep = ca.SX.eye(3)
    keep[along, along] = 0
    tensor = ca.densify(keep @ inertia.central_tensor @ keep)
    other = [k for k in range(3) if k != along]
    moments = {k: tensor[k, k] for k in range(3)}
    # C = tr(I)/2 1 - I, entry by entry so that what is zero by the robot's topology stays so
    central = ca.SX(3, 3)
    for k in range(3):
        a, b = (moments[j] for j in range(3) if j != k)
        central[k, k] = 0.5 * (a + b - moments[k])
    central[other[0], other[1]] = central[other[1], other[0]] = -tensor[other[0], other[1]]
    com = inertia.com
    return Inertia(inertia.mass, inertia.first, ca.densify(central + com @ inertia.first.T))


def _point_masses(leg: Any, body: PlacedBody, numbers: ParameterVector) -> list[PlacedBody]:
    """A link as two masses at its ends, which keep its mass and centre of mass unless the leg says otherwise."""
    if body.end is None:
        raise InputError(f"point-mass-links: {leg.name} ({leg.kind}) has no links of fixed length", code="no_links")
    assert body.along is not None
    chosen: Any = getattr(leg, "end_masses", None)
    if chosen is None:
        inertia = body.moments
        share = inertia.com[body.along] / body.length
        own = float(numbers.evaluate(share)[0, 0])
        if not 0 <= own <= 1:
            raise InputError(
                f"point-mass-links: {leg.name}.{body.name} has its centre of mass beyond its ends ({own:.3g} of "
                "its length); two point masses at the ends cannot represent it, give end_masses"
            )
        chosen = (inertia.mass * (1 - share), inertia.mass * share)
    ends = (body.frame.origin, body.end)
    return [
        # The link itself stays, without mass: joints hang on it.
        replace(body, inertia=Inertia.point_mass(0.0)),
        *(
            PlacedBody(f"{body.name} {side} mass", Frame(point, body.frame.axes), Inertia.point_mass(m), on=body.name)
            for side, point, m in zip(("near", "far"), ends, chosen, strict=True)
        ),
    ]
