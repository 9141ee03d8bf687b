"""Nearest points of points, segments and convex polygons in closed form, in symbols.

A segment is a piece of a line with a unit direction, so that pieces of one line share what depends on the line. Every
candidate is a pair of points of both shapes, so its distance is never below the true one; the nearest of a few
candidates is the true one. No iteration, no branch: kernels evaluate many states side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

_TINY = 1e-300
_FAR = 1e300
"""Square of the distance of a candidate that is none."""


def least(a: ca.SX, b: ca.SX) -> ca.SX:
    """The smaller of two numbers, in one machine instruction; one of them if the other is not a number.

    ``fmin`` takes three: it is not a number if either is not. Here poses without distances are known by the quality of
    their legs.
    """
    return ca.if_else(b < a, b, a)


def most(a: ca.SX, b: ca.SX) -> ca.SX:
    """The larger of two numbers, in one or two machine instructions; one of them if the other is not a number."""
    return ca.if_else(b < a, a, b)


def nearer(one: tuple[ca.SX, ca.SX], other: tuple[ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX]:
    """Of two squared distances of cores with their sums of radii, that of the smaller distance sqrt(q) - r.

    ``one`` has the larger radii, by d: sqrt(p) - d < sqrt(q) where p - q - d^2 < 2 d sqrt(q), without a root.
    """
    (p, r), (q, s) = one, other
    d = r - s
    more = p - q - d * d
    first = ca.logic_or(more < 0, more * more < 4 * d * d * q)
    return ca.if_else(first, p, q), ca.if_else(first, r, s)


class Nearest(NamedTuple):
    """A point (3) of each of two shapes, and the square of their distance [m^2]."""

    square: ca.SX
    first: ca.SX
    second: ca.SX

    def swapped(self) -> Nearest:
        """The same, seen from the second shape."""
        return Nearest(self.square, self.second, self.first)


class Line(NamedTuple):
    """A line through a point (3) along a unit vector (3)."""

    at: ca.SX
    along: ca.SX

    def point(self, s: ca.SX) -> ca.SX:
        """The point (3) at a distance along the line."""
        return self.at + s * self.along


class Segment(NamedTuple):
    """A piece of a line, between two distances along it."""

    line: Line
    start: ca.SX
    end: ca.SX

    def clamped(self, s: ca.SX) -> ca.SX:
        """The distance along the line that is nearest to s and on the segment."""
        return least(most(s, self.start), self.end)


def nearest(candidates: Sequence[Nearest]) -> Nearest:
    """The nearest of some candidates."""
    best = candidates[0]
    for other in candidates[1:]:
        closer = other.square < best.square
        best = Nearest(
            ca.if_else(closer, other.square, best.square),
            ca.if_else(closer, other.first, best.first),
            ca.if_else(closer, other.second, best.second),
        )
    return best


def point_point(p: ca.SX, q: ca.SX) -> Nearest:
    """Of two points."""
    gap = p - q
    return Nearest(ca.dot(gap, gap), p, q)


def point_segment(p: ca.SX, segment: Segment) -> Nearest:
    """Of a point p and a segment: t = (p - c).v on the segment."""
    line = segment.line
    return point_point(p, line.point(segment.clamped(ca.dot(p - line.at, line.along))))


class TwoLines:
    """Two lines a + s u and c + t v; ``between`` gives the nearest points of two of their pieces.

    With w = a - c they are nearest at s = (u.v v.w - u.w)/(1 - (u.v)^2). Of the s on its segment, t = u.v s + v.w is
    kept on its own, and s = u.v t - u.w again.
    """

    def __init__(self, first: Line, second: Line) -> None:
        self._lines = first, second
        self._w = first.at - second.at
        self._uv = ca.dot(first.along, second.along)
        self._uw, self._vw = ca.dot(first.along, self._w), ca.dot(second.along, self._w)
        self._s = (self._uv * self._vw - self._uw) / most(1 - self._uv * self._uv, ca.SX(_TINY))

    def between(self, one: Segment, other: Segment) -> Nearest:
        """Of a segment of each line."""
        (first, second), uv = self._lines, self._uv
        t = other.clamped(uv * one.clamped(self._s) + self._vw)
        s = one.clamped(uv * t - self._uw)
        gap = self._w + s * first.along - t * second.along
        return Nearest(ca.dot(gap, gap), first.point(s), second.point(t))


class Edge(NamedTuple):
    """An edge of a polygon: its unit direction e, where it begins along e and along the normal n inwards, its length.

    n = (-e_y, e_x) for corners that go around counter-clockwise.
    """

    e: ca.SX
    begins: ca.SX
    offset: ca.SX
    length: ca.SX

    def coordinates(self, p: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Components of a direction (2 or 3) along the edge and inwards."""
        return self.e[0] * p[0] + self.e[1] * p[1], self.e[0] * p[1] - self.e[1] * p[0]

    def point(self, t: ca.SX) -> ca.SX:
        """The point (3) at a distance from the edge's start."""
        along = self.begins + t
        return ca.vertcat(along * self.e[0] - self.offset * self.e[1], along * self.e[1] + self.offset * self.e[0], 0)

    def clamped(self, t: ca.SX) -> ca.SX:
        """The distance from its start that is nearest to t and on the edge."""
        return least(most(t, ca.SX(0)), self.length)


Polygon = Sequence[Edge]
"""A convex polygon in the plane z = 0 of its own frame, edge by edge, counter-clockwise."""


def point_polygon(p: ca.SX, polygon: Polygon) -> Nearest:
    """Of a point (3) and a polygon, in its frame: below the point if that is inside, else on an edge."""
    inside, found = None, []
    for edge in polygon:
        along, across = edge.coordinates(p)
        along, across = along - edge.begins, across - edge.offset
        t = edge.clamped(along)
        found.append(Nearest((along - t) ** 2 + across**2 + p[2] ** 2, p, edge.point(t)))
        inside = across if inside is None else least(inside, across)
    assert inside is not None
    foot = Nearest(ca.if_else(inside >= 0, p[2] ** 2, _FAR), p, ca.vertcat(p[0], p[1], 0))
    return nearest([foot, *found])


def segment_polygon(segment: Segment, polygon: Polygon, edges: bool = True) -> Nearest:
    """Of a segment and a polygon, in its frame: at the segment's lowest point if that is above the polygon, or on an
    edge.

    A nearest point inside the polygon is below that of the segment, which then is the one of smallest |z|; where
    several are (the segment is parallel to the polygon), an edge is as near unless all of them are inside. Without
    ``edges`` that point alone is a candidate.
    """
    p, u = segment.line
    lowest = segment.clamped(-p[2] / ca.if_else(u[2] == 0, _TINY, u[2]))
    height = p[2] + lowest * u[2]
    rise = p[2] * u[2]
    steep = u[2] * u[2]
    inside, found = None, []
    for edge in polygon:
        along, across = edge.coordinates(p)
        along, across = along - edge.begins, across - edge.offset
        u_along, u_across = edge.coordinates(u)
        above = across + lowest * u_across
        inside = above if inside is None else least(inside, above)
        if not edges:
            continue
        away = across * u_across + rise
        s = segment.clamped(-away / most(u_across * u_across + steep, ca.SX(_TINY)))
        back = least(most(s * u_along, -along), edge.length - along)  # how far along the edge from below p
        s = segment.clamped(back * u_along - away)
        x, y, z = s * u_along - back, across + s * u_across, p[2] + s * u[2]
        found.append(Nearest(x * x + y * y + z * z, segment.line.point(s), edge.point(along + back)))
    assert inside is not None
    point = segment.line.point(lowest)
    foot = Nearest(ca.if_else(inside >= 0, height * height, _FAR), point, ca.vertcat(point[0], point[1], 0))
    return nearest([foot, *found])
