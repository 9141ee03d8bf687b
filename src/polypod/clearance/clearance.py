"""Distances between a robot's bodies in many poses: one kernel for all robots with the same kinds of shapes."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..drawing import shapes_of
from ..drawing.shapes import Shape, plate_normal, samples_of
from ..kernels import Expression, Kernel, Port, port
from .distances import Nearest, Polygon, nearest, point_polygon, point_segment, segment_polygon, segment_segment
from .pairs import BodyPair, body_pairs


@dataclass(frozen=True)
class Clearance:
    """Smallest distances between the bodies of a robot.

    Attributes
    ----------
    names : tuple of (str, str)
        Names of the bodies of each of the P pairs.
    distance : ndarray, shape (..., P)
        Distances of their shapes [m]; negative where they overlap, by no more than their radii: cores that cross have
        no depth.
    points : ndarray, shape (..., P, 2, 3)
        Nearest points of the cores (points, lines and polygons that the radii grow) in {B} [m].
    """

    names: tuple[tuple[str, str], ...]
    distance: Array
    points: Array

    @property
    def least(self) -> Array:
        """The smallest distance (...) of all pairs [m]; infinite if there are none."""
        result: Array = np.min(self.distance, axis=-1, initial=np.inf)
        return result

    @property
    def nearest(self) -> tuple[str, str]:
        """The pair of bodies that comes nearest in all poses."""
        worst = self.distance.reshape(-1, len(self.names)).min(axis=0)
        return self.names[int(np.argmin(worst))]


class ClearanceFunction:
    """Distances of the bodies of one robot, as a function of their frames."""

    def __init__(self, robot: Robot) -> None:
        samples = samples_of(robot.rigid)
        self.shapes: tuple[Shape, ...] = shapes_of(robot)
        self.bodies = tuple(samples.bodies)
        self.pairs: tuple[BodyPair, ...] = body_pairs(samples, self.shapes, robot.floor is not None)
        self._placed = [_PlacedShape(shape) for shape in self.shapes]
        floor = [] if robot.floor is None else [*robot.floor.at, *robot.floor.normal]
        self._values = np.concatenate([*(one.values for one in self._placed), np.array(floor), np.zeros(1)])
        self._kernel: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The compiled function, made when it is first asked for."""
        if self._kernel is None:
            key = f"clearance {[(len(s.points), s.body) for s in self.shapes]} {len(self.bodies)} {self.pairs}"
            self._kernel = Kernel(self._expression, key.encode()).at(self._values)
        return self._kernel

    def __call__(self, frames: Array) -> Clearance:
        """Distances at frames (..., bodies, 4, 4) of all bodies, the base and the platform first."""
        names = tuple(pair.names for pair in self.pairs)
        lead = frames.shape[:-3]
        if not names:
            return Clearance((), np.zeros((*lead, 0)), np.zeros((*lead, 0, 2, 3)))
        rows = np.ascontiguousarray(frames.reshape(-1, *frames.shape[-3:])[:, 1:, :3])
        distance, points = self.kernel(rows)
        lost = ~np.isfinite(rows).all(axis=(1, 2, 3))
        distance[lost], points[lost] = np.nan, np.nan
        return Clearance(names, distance.reshape(*lead, -1), points.reshape(*lead, len(names), 2, 3))

    def _expression(self) -> Expression:
        """(frames of the moving bodies; sizes of shapes and the floor) -> distances and points."""
        moving = len(self.bodies) - 1
        frames = ca.SX.sym("frames", 12 * moving)
        values = ca.SX.sym("shapes", len(self._values))
        sizes, at = [], 0
        for one in self._placed:
            sizes.append(one.symbols(values[at : at + len(one.values)], frames))
            at += len(one.values)
        floor = values[at : at + 6]
        distances, points = [], []
        for pair in self.pairs:
            if pair.second < 0:
                found = [_above(sizes[k], floor) for k in pair.shapes[0]]
            else:
                found = [_distance(sizes[a], sizes[b]) for a in pair.shapes[0] for b in pair.shapes[1]]
            best_gap, best = found[0]
            for gap, where in found[1:]:
                best = ca.if_else(gap < best_gap, where, best)
                best_gap = ca.fmin(gap, best_gap)
            distances.append(best_gap)
            points.append(best)
        count = len(self.pairs)
        return Expression(
            "clearance",
            (Port("frames", frames, (moving, 3, 4)),),
            (port("distance", ca.vertcat(*distances)), port("points", ca.vertcat(*points), (count, 2, 3))),
            Port("shapes", values, (len(self._values),)),
        )


@dataclass(frozen=True)
class _Symbols:
    """A shape in symbols: its core's points (3), base frame, and its radius; a plate's frame (3, 4) and polygon."""

    points: list[ca.SX]
    radius: ca.SX
    frame: ca.SX | None = None
    polygon: Polygon | None = None

    def inside(self, p: ca.SX) -> ca.SX:
        """A point of the base frame in the plate's."""
        assert self.frame is not None
        return self.frame[:, :3].T @ (p - self.frame[:, 3])

    def outside(self, p: ca.SX) -> ca.SX:
        """A point of the plate's frame in the base frame."""
        assert self.frame is not None
        return self.frame[:, :3] @ p + self.frame[:, 3]


class _PlacedShape:
    """A shape's numbers: points (3), or the frame (12) of a plate in its body and its corners (2) there; the radius."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.count = shape, len(shape.points)
        if self.count < 3:
            numbers = shape.points.ravel()
        else:
            normal = plate_normal(shape.points)
            first = shape.points[1] - shape.points[0]
            first = first / np.linalg.norm(first)
            axes = np.column_stack([first, np.cross(normal, first), normal])
            origin = shape.points.mean(axis=0)
            numbers = np.concatenate([axes.ravel(), origin, ((shape.points - origin) @ axes[:, :2]).ravel()])
        self.values = np.concatenate([numbers, [shape.radius]])

    def symbols(self, values: ca.SX, frames: ca.SX) -> _Symbols:
        """The shape where the frame of its body is."""
        body = self.shape.body
        rows = ca.reshape(frames[12 * (body - 1) : 12 * body], 4, 3).T if body else ca.SX(ca.DM.eye(4)[:3, :])
        turn, origin = rows[:, :3], rows[:, 3]

        def placed(p: ca.SX) -> ca.SX:
            return turn @ p + origin if body else p

        radius = values[-1]
        if self.count < 3:
            return _Symbols([placed(values[3 * k : 3 * k + 3]) for k in range(self.count)], radius)
        axes = ca.reshape(values[:9], 3, 3).T
        frame = ca.horzcat(turn @ axes if body else axes, placed(values[9:12]))
        corners = [values[12 + 2 * k : 14 + 2 * k] for k in range(self.count)]
        placed_corners = [frame[:, :2] @ corner + frame[:, 3] for corner in corners]
        return _Symbols(placed_corners, radius, frame, Polygon(corners))


def _distance(a: _Symbols, b: _Symbols) -> tuple[ca.SX, ca.SX]:
    """Distance of two shapes, and the nearest points (6) of their cores."""
    found = _cores(a, b)
    gap = ca.sqrt(found.square) - (a.radius + b.radius)
    return gap, ca.vertcat(found.first, found.second)


def _cores(a: _Symbols, b: _Symbols) -> Nearest:
    if b.polygon is None and a.polygon is not None:
        return _cores(b, a).swapped()
    if b.polygon is not None:
        if a.polygon is not None:
            return _plates(a, b)
        here = [b.inside(p) for p in a.points]
        found = segment_polygon(here[0], here[1], b.polygon) if len(here) == 2 else point_polygon(here[0], b.polygon)
        return Nearest(found.square, b.outside(found.first), b.outside(found.second))
    if len(a.points) > len(b.points):
        return _cores(b, a).swapped()
    if len(b.points) == 1:
        gap = a.points[0] - b.points[0]
        return Nearest(ca.dot(gap, gap), a.points[0], b.points[0])
    if len(a.points) == 1:
        return point_segment(a.points[0], *b.points)
    return segment_segment(*a.points, *b.points)


def _plates(a: _Symbols, b: _Symbols) -> Nearest:
    """Of two polygons: edges of the first against the second, corners of the second against the first."""
    assert a.polygon is not None
    assert b.polygon is not None
    here = [b.inside(p) for p in a.points]
    edges = [segment_polygon(p, q, b.polygon) for p, q in zip(here, [*here[1:], here[0]], strict=True)]
    first = nearest(edges)
    there = [a.inside(p) for p in b.points]
    edges = [segment_polygon(p, q, a.polygon) for p, q in zip(there, [*there[1:], there[0]], strict=True)]
    second = nearest(edges)
    return nearest(
        [
            Nearest(first.square, b.outside(first.first), b.outside(first.second)),
            Nearest(second.square, a.outside(second.second), a.outside(second.first)),
        ]
    )


def _above(shape: _Symbols, floor: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Height of a shape above a plane, and its lowest point (6) with the one below it."""
    at, normal = floor[:3], floor[3:]
    best_height, best = ca.dot(shape.points[0] - at, normal), shape.points[0]
    for point in shape.points[1:]:
        height = ca.dot(point - at, normal)
        best = ca.if_else(height < best_height, point, best)
        best_height = ca.fmin(height, best_height)
    return best_height - shape.radius, ca.vertcat(best, best - best_height * normal)
