"""Nearest points of points, segments and convex polygons in closed form, in symbols.

Every candidate is a pair of points of both shapes, so its distance is never below the true one; the nearest of a few
candidates is the true one. No iteration, no branch: kernels evaluate many states side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

_TINY = 1e-300
_FAR = 1e300
"""Square of the distance of a candidate that is none."""


class Nearest(NamedTuple):
    """A point (3) of each of two shapes, and the square of their distance [m^2]."""

    square: ca.SX
    first: ca.SX
    second: ca.SX

    def swapped(self) -> Nearest:
        """The same, seen from the second shape."""
        return Nearest(self.square, self.second, self.first)


def nearest(candidates: Sequence[Nearest]) -> Nearest:
    """The nearest of some candidates."""
    best = candidates[0]
    for other in candidates[1:]:
        closer = other.square < best.square
        best = Nearest(
            ca.fmin(best.square, other.square),
            ca.if_else(closer, other.first, best.first),
            ca.if_else(closer, other.second, best.second),
        )
    return best


def _between(a: ca.SX, b: ca.SX, valid: ca.SX | None = None) -> Nearest:
    gap = a - b
    square = ca.dot(gap, gap)
    return Nearest(square if valid is None else ca.if_else(valid, square, _FAR), a, b)


def _clamped(x: ca.SX) -> ca.SX:
    return ca.fmin(ca.fmax(x, 0.0), 1.0)


def point_segment(p: ca.SX, a: ca.SX, b: ca.SX) -> Nearest:
    """Of a point p and the segment a b: s = (p - a).(b - a)/|b - a|^2 within [0, 1]."""
    along = b - a
    s = _clamped(ca.dot(p - a, along) / ca.dot(along, along))
    return _between(p, a + s * along)


def segment_segment(a: ca.SX, b: ca.SX, c: ca.SX, d: ca.SX) -> Nearest:
    """Of the segments a b and c d.

    With u = b - a, v = d - c, w = a - c the lines are nearest at s = (u.v v.w - u.w v.v)/(u.u v.v - (u.v)^2). Of the
    s within [0, 1], t = (u.v s + v.w)/v.v is kept within [0, 1], and s = (u.v t - u.w)/u.u again.
    """
    u, v, w = b - a, d - c, a - c
    uu, vv, uv, uw, vw = ca.dot(u, u), ca.dot(v, v), ca.dot(u, v), ca.dot(u, w), ca.dot(v, w)
    s = _clamped((uv * vw - uw * vv) / ca.fmax(uu * vv - uv * uv, _TINY))
    t = _clamped((uv * s + vw) / vv)
    s = _clamped((uv * t - uw) / uu)
    return _between(a + s * u, c + t * v)


class Polygon(NamedTuple):
    """A convex polygon in the plane z = 0 of its own frame: corners (2) each, in order, counter-clockwise."""

    corners: Sequence[ca.SX]

    @property
    def edges(self) -> list[tuple[ca.SX, ca.SX]]:
        """Ends (3) of its edges."""
        placed = [ca.vertcat(corner, 0) for corner in self.corners]
        return list(zip(placed, [*placed[1:], placed[0]], strict=True))

    def holds(self, x: ca.SX, y: ca.SX) -> ca.SX:
        """Whether a point of the plane is inside: to the left of every edge."""
        inside = ca.SX(1)
        for a, b in self.edges:
            left = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0
            inside = ca.logic_and(inside, left)
        return inside


def point_polygon(p: ca.SX, polygon: Polygon) -> Nearest:
    """Of a point (3) and a polygon, in its frame: below the point if that is inside, else on an edge."""
    foot = _between(p, ca.vertcat(p[0], p[1], 0), polygon.holds(p[0], p[1]))
    return nearest([foot, *(point_segment(p, *edge) for edge in polygon.edges)])


def segment_polygon(a: ca.SX, b: ca.SX, polygon: Polygon) -> Nearest:
    """Of the segment a b and a polygon, in its frame: where it goes through, below an end, or on an edge."""
    share = a[2] / ca.if_else(a[2] == b[2], 1, a[2] - b[2])
    through = a + share * (b - a)
    pierced = ca.logic_and(a[2] * b[2] < 0, polygon.holds(through[0], through[1]))
    found = [Nearest(ca.if_else(pierced, 0, _FAR), through, through)]
    for end in (a, b):
        found.append(_between(end, ca.vertcat(end[0], end[1], 0), polygon.holds(end[0], end[1])))
    return nearest([*found, *(segment_segment(a, b, *edge) for edge in polygon.edges)])
