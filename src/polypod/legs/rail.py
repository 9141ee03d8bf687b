"""A slider on a straight rail with a link of fixed length: what several leg kinds share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from pydantic import model_validator

from ..arrays import Array
from ..description.quantities import Direction, Length, Position, Triple
from ..symbols.vectors import cross, dot, unit, vector
from .contract import Condition, Strut, Unknowns
from .driven import DrivenLeg

PARALLEL = 1e-6
"""Sine of the angle to a slide below which a direction is along it."""


@dataclass(frozen=True)
class Slide:
    """Slider coordinate q, its place, the link's direction n from it, and the condition of reach.

    ``unknowns`` are q itself where it is known to be zero, as in a frame at the slider.
    """

    q: ca.SX
    point: ca.SX
    n: ca.SX
    condition: Condition
    unknowns: Unknowns | None = None


class RailLeg(DrivenLeg):
    """A leg of a slider at ``rail_start`` + q ``rail_direction`` and links of ``length`` from it.

    ``rail_end`` may be given for ``rail_direction``; it also limits the ``travel``, from 0 to the rail's length.
    Dry friction of the slider is ``coulomb`` times |N|, N the force across the rail. ``guide_normal``, a base
    direction, states a guide of two perpendicular pairs of faces (a box way) that are loaded one by one: the load is
    then |N.u| + |N.v|, u along ``guide_normal`` (its part perpendicular to the rail), v perpendicular to both.
    """

    rail_start: Position
    rail_direction: Direction
    length: Length
    guide_normal: Direction | None = None

    @model_validator(mode="before")
    @classmethod
    def _rail_by_its_ends(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "rail_end" not in value:
            return value
        if "rail_direction" in value:
            raise ValueError("rail_end: give rail_end or rail_direction, not both")
        start: Any = value.get("rail_start")
        end: Any = value["rail_end"]
        try:
            span = [float(b) - float(a) for a, b in zip(start, end, strict=True)]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"rail_end: rail_start and rail_end must be points of three numbers, got {start} and {end}"
            ) from error
        reach = sum(x * x for x in span) ** 0.5
        if not math.isfinite(reach):
            raise ValueError(f"rail_end: must be finite, got {start} and {end}")
        if reach == 0.0:
            raise ValueError(f"rail_end: rail_start and rail_end coincide at {start}")
        rest = {key: item for key, item in value.items() if key != "rail_end"}
        return {"travel": (0.0, reach), **rest, "rail_direction": tuple(x / reach for x in span)}

    @model_validator(mode="after")
    def _guide_across_the_rail(self) -> RailLeg:
        fault = guide_fault(self.guide_normal, self.rail_direction)
        if fault:
            raise ValueError(f"guide_normal: {fault}")
        return self

    def _guide(self) -> tuple[ca.SX, ...]:
        """Normals of the faces that guide the slider, if stated."""
        return guide(self.guide_normal, vector(self.rail_direction))

    def _rail_strut(self, q: Array) -> Strut:
        """The link from its slider, which q moves along the rail."""
        point = np.array(self.rail_start) + q[..., None] * np.array(self.rail_direction)
        return Strut(point, np.broadcast_to(np.float64(self.length), q.shape), np.array(self.platform))


def guide(normal: Any, axis: ca.SX) -> tuple[ca.SX, ...]:
    """Normals (u, v) of the faces that guide a slide along a: u = (n - (n.a) a)/|...| and v = a x u; none if n is not
    stated, and dry friction takes the whole force across the slide."""
    if normal is None:
        return ()
    n = vector(normal)
    u = unit(n - dot(n, axis) * axis)
    return u, cross(axis, u)


def guide_fault(normal: Triple | None, axis: Triple) -> str:
    """Why a direction cannot be the normal of a guide's faces; empty if it can."""
    if normal is None or np.linalg.norm(np.cross(normal, axis)) > PARALLEL:
        return ""
    return f"a direction across the slide is needed, and {list(normal)} is along it"


def slide(tip: ca.SX, start: Any, direction: Any, length: Any, root: str) -> Slide:
    """Slider from which a link of given length reaches the tip, Kim-Ryu (6)-(8).

    q = a.d -+ sqrt(l^2 - |d - (a.d) a|^2) for the lower / upper root, n = (d - q a)/l.
    """
    a = vector(direction)
    d = tip - vector(start)
    along = dot(a, d)
    off_rail = d - along * a
    distance2 = dot(off_rail, off_rail)
    inside = length * length - distance2
    reach = ca.sqrt(inside)
    step = -reach if root == "lower" else reach
    q = along + step
    condition = Condition(
        "the platform joint is farther from the rail than the link is long",
        inside * (1 / (length * length)),  # its rounding over it is what the root loses, and its derivatives twice
        ca.sqrt(distance2) - length,
        "m",
    )
    return Slide(q, vector(start) + q * a, (off_rail - step * a) * (1 / length), condition)


def slide_at_start(tip: ca.SX, start: Any, direction: Any, length: Any) -> Slide:
    """The same where the slider is at ``start``, so that only how q moves is asked for: |n| = 1, n = (d - q a)/l.

    Derivatives of q that follow from the equation take fewer operations than those of the root.
    """
    a, z, none = vector(direction), ca.SX.sym("z", 1), ca.SX(0, 1)
    n, q = (tip - vector(start)) * (1 / length) - z * a, length * z
    unknowns = Unknowns(none, none, z, none, 0.5 * (dot(n, n) - 1), 1.0)
    condition = Condition("", ca.SX(1), ca.SX(0), "m", in_quality=False)
    return Slide(q, vector(start) + q * a, n, condition, unknowns)
