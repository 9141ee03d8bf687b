"""Triangles in a polygon: Delaunay refinement (Ruppert's algorithm), coarse and well shaped.

Boundary segments are split until none has a point in its diametral circle, which makes the Delaunay
triangulation of the points contain them; then the circumcentre of the worst triangle is inserted until no
triangle has an angle below the bound. Sharp corners are cut at equal distances on both edges (powers of two),
or their segments would split each other for ever. The elements are of high order: no more triangles than the
shape of the outline asks for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay  # type: ignore[import-untyped, unused-ignore]

from ..arrays import Array
from ..description.modes.plate import area, centroid, inside, interior_angles
from ..errors import InputError

Index = NDArray[np.int64]
_LEAST_ANGLE = np.radians(20.0)  # the algorithm ends for any bound up to 20.7 degrees
_SHARP = np.radians(60.0)


def triangulate(outline: Array, max_points: int = 4000) -> tuple[Array, Index]:
    """Points (p, 2) and triangles (t, 3) of a counter-clockwise simple polygon (n, 2).

    The centre of area is a point of the mesh where it fits: regular outlines then get a mesh with their symmetry.
    """
    return _Mesher(outline, max_points).run()


class _Mesher:
    """The points and segments so far; ``edges[k]`` holds the outline's edges that point k lies on."""

    def __init__(self, outline: Array, max_points: int) -> None:
        count = len(outline)
        self.outline, self.max_points = outline, max_points
        self.points = [*outline]
        self.segments = [(i, (i + 1) % count) for i in range(count)]
        self.edges = [{(i - 1) % count, i} for i in range(count)]
        angles = interior_angles(outline)
        self.sharp = set(np.flatnonzero((angles < _SHARP) | (angles > 2 * np.pi - _SHARP)).tolist())
        self.unit = np.sqrt(area(outline))

    def run(self) -> tuple[Array, Index]:
        self._recover_segments()
        middle = centroid(self.outline)
        if inside(middle[None], self.outline)[0] and not self._encroached(middle[None]):
            self._insert(middle)
        triangles = self._recover_segments()
        while (centre := self._worst(triangles)) is not None:
            struck = self._encroached(centre[None])
            if struck:
                self._split(struck)
            else:
                self._insert(centre)
            triangles = self._recover_segments()
        points = np.array(self.points)
        covered = sum(area(points[t]) for t in triangles)
        if abs(covered - area(self.outline)) > 1e-9 * covered:
            raise InputError(f"outline: no mesh found, triangles cover {covered:.9g} of {area(self.outline):.9g} m^2")
        return points, triangles

    def _insert(self, point: Array) -> None:
        self.points.append(point)
        self.edges.append(set())

    def _recover_segments(self) -> Index:
        """Split segments until all are edges of the triangulation; the triangles inside."""
        while True:
            triangles = self._triangles()
            sides = {tuple(sorted((int(t[i]), int(t[i - 1])))) for t in triangles for i in range(3)}
            lost = [k for k, (i, j) in enumerate(self.segments) if tuple(sorted((i, j))) not in sides]
            bad = sorted(set(self._encroached(np.array(self.points))) | set(lost))
            if not bad:
                return triangles
            self._split(bad)

    def _triangles(self) -> Index:
        """Delaunay triangles inside the outline, counter-clockwise, in a fixed order."""
        points = np.array(self.points)
        found = np.sort(Delaunay(points).simplices, axis=1).astype(np.int64)
        a, b, c = (points[found[:, k]] for k in range(3))
        double = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
        found[double < 0] = found[double < 0][:, [0, 2, 1]]
        # points on one straight edge of the hull can give triangles of no area
        kept = (np.abs(double) > 1e-12 * self.unit**2) & inside((a + b + c) / 3.0, self.outline)
        found = found[kept]
        return np.asarray(found[np.lexsort(found.T[::-1])])

    def _encroached(self, points: Array) -> list[int]:
        """Segments with one of the points well inside their diametral circle."""
        own = np.array(self.points)
        ends = np.array(self.segments)
        one = own[ends[:, 0], None, :] - points
        two = own[ends[:, 1], None, :] - points
        length = ((own[ends[:, 0]] - own[ends[:, 1]]) ** 2).sum(axis=1)
        return [int(k) for k in np.flatnonzero(((one * two).sum(axis=2) < -1e-9 * length[:, None]).any(axis=1))]

    def _split(self, which: list[int]) -> None:
        for k in sorted(which, reverse=True):
            i, j = self.segments[k]
            edge = self.edges[i] & self.edges[j]
            ratio = 0.5
            if (i in self.sharp) != (j in self.sharp):
                length = np.linalg.norm(self.points[j] - self.points[i]) / self.unit
                ratio = float(2.0 ** np.round(np.log2(length / 2.0)) / length)
                ratio = ratio if i in self.sharp else 1.0 - ratio
            self._insert(self.points[i] + ratio * (self.points[j] - self.points[i]))
            self.edges[-1] = edge
            self.segments[k : k + 1] = [(i, len(self.points) - 1), (len(self.points) - 1, j)]
        if len(self.points) > self.max_points:
            raise InputError(
                f"outline: more than {self.max_points} points are needed to mesh it; it has details much smaller "
                "than its size"
            )

    def _worst(self, triangles: Index) -> Array | None:
        """Circumcentre of the triangle with the smallest angle below the bound that more points can mend."""
        points = np.array(self.points)
        if len(points) >= self.max_points:
            return None
        corners = points[triangles]
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - np.roll(corners, 1, axis=1), axis=2)
        double = np.array([2.0 * area(c) for c in corners])
        shortest = lengths.argmin(axis=1)
        others = np.prod(lengths, axis=1) / lengths.min(axis=1)
        # rounded, so that equal triangles keep their order on every machine
        angles = np.round(np.arcsin(np.minimum(double / others, 1.0)), 9)
        for k in np.argsort(angles, kind="stable"):
            if angles[k] >= _LEAST_ANGLE:
                return None
            if not self._at_sharp_corner(triangles[k], int(shortest[k])):
                return _circumcentre(corners[k])
        return None

    def _at_sharp_corner(self, triangle: Index, shortest: int) -> bool:
        """The small angle is the outline's own, or faces an edge that spans a sharp corner."""
        apex, i, j = (int(triangle[(shortest + k) % 3]) for k in range(3))
        if apex in self.sharp:
            return True
        shared = {(a, b) for a in self.edges[i] for b in self.edges[j]}
        count = len(self.outline)
        return any(b in self.sharp and (b - a) % count == 1 for a, b in shared | {(b, a) for a, b in shared})


def _circumcentre(corners: Array) -> Array:
    sides = corners[1:] - corners[0]
    return np.asarray(corners[0] + np.linalg.solve(2.0 * sides, (sides**2).sum(axis=1)))
