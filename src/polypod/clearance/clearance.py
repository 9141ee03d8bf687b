"""Distances between a robot's bodies as functions of the pose: one kernel for all robots with the same shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..drawing import Samples, shapes_of
from ..drawing.shapes import Shape, plate_normal, samples_of
from ..errors import InputError
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..mechanism.verdict import with_verdict
from ..symbols.expression import Expression, Iteration, Port, port
from .distances import (
    Edge,
    Line,
    Nearest,
    Segment,
    TwoLines,
    least,
    nearer,
    nearest,
    point_point,
    point_polygon,
    point_segment,
    segment_polygon,
)
from .pairs import BodyPair, body_pairs, grouped

_COLLINEAR = 1e-13
"""How far a capsule may be off the line of another, of the robot's size, to count as a piece of the same line."""


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
    """Distances of the bodies of one robot, rigid, as a function of the pose.

    ``values`` are the numbers of its shapes; those that are 0, 1 or -1 are constants of the function, the others follow
    the robot's own in its parameters. ``groups`` are pairs of legs, or of a leg and the base, the platform or the
    floor, by name, each with the numbers of its pairs of bodies.
    """

    def __init__(self, robot: Robot, like: ClearanceFunction | None = None) -> None:
        """``like`` is that of a robot of the same kind, whose pairs of bodies are compared, if it is a design of it."""
        samples = samples_of(robot.rigid)
        self.shapes: tuple[Shape, ...] = shapes_of(robot)
        self.bodies = tuple(samples.bodies)
        self.pairs: tuple[BodyPair, ...] = body_pairs(samples, self.shapes, robot.floor is not None)
        if like is not None:
            if [shape.body for shape in self.shapes] != [shape.body for shape in like.shapes]:
                raise InputError(
                    f"parameters: bodies of {robot.name!r} are drawn by other shapes in one of the designs; state "
                    "'shapes' or 'radius' of its bodies, base and platform in the robot file",
                    code="shapes",
                )
            self.pairs = like.pairs
        self.groups = grouped(self.pairs)
        self._placed = [_numbers(shape) for shape in self.shapes]
        self._lines = _shared_lines(samples, self.shapes)
        floor = [] if robot.floor is None else [*robot.floor.at, *robot.floor.normal]
        every = np.concatenate([*self._placed, np.array(floor)]) + 0.0  # -0 is 0, also in ``structure``
        self._free = ~np.isin(every, (0.0, 1.0, -1.0))
        self._every = every
        self.values: Array = every[self._free]
        self._ranks: tuple[tuple[tuple[tuple[int, int], ...], ...], ...] | None = self._by_radii()

    @property
    def of_a_design(self) -> ClearanceFunction:
        """The same function with every number of its shapes as an input: one kernel serves all designs, to the bit.

        Else a number that rounding moves off 0 in one design would compile a kernel for that design.
        """
        other = copy(self)
        other._free = np.ones(len(self._every), dtype=bool)
        other.values = self._every
        other._ranks = None
        return other

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Names of the bodies of each pair."""
        return tuple(pair.names for pair in self.pairs)

    @property
    def structure(self) -> str:
        """All that determines the graph beside the robot's topology."""
        constants = np.where(self._free, np.nan, self._every).tolist()
        kinds = [(len(shape.points), shape.body) for shape in self.shapes]
        return repr((kinds, self._lines, constants, self.pairs, self.groups, self._ranks))

    def expression(self, mechanism: Mechanism, points: bool, verdict: bool = True) -> Expression | Iteration:
        """(pose) -> distances (P) of all pairs with their ``points`` (P, 2, 3), or the least (G) of every group.

        Parameters are those of the mechanism, then ``values``.
        """
        x = mechanism.inputs()
        legs = mechanism.resting(x)[1]
        frames = _frames(x.pose.symbols, legs)
        values = ca.SX.sym("shapes", len(self.values))
        if points:
            found = self._distances(values, frames)
            outputs = [
                port("distance", ca.vertcat(*[gap for gap, _ in found])),
                port("points", ca.vertcat(*[where for _, where in found]), (len(found), 2, 3)),
            ]
        else:
            outputs = [port("clearance", self._least(values, frames))]
        outputs.append(port("quality", mechanism.quality(legs), ()))
        own = ca.vertcat(*([] if mechanism.port is None else [mechanism.port.symbols]), values)
        parameters = Port("parameters", own, (own.numel(),)) if own.numel() else None
        function = Expression("clearance", x.place, tuple(outputs), parameters)
        return closed(mechanism, with_verdict(mechanism, function) if verdict else function)

    def constant_expression(self, mechanism: Mechanism) -> Expression:
        """(pose) -> least distances (G) of every group, the numbers of the shapes as constants; legs are not closed."""
        x = mechanism.inputs()
        legs = mechanism.resting(x)[1]
        found = self._least(ca.SX(ca.DM(self.values)), _frames(x.pose.symbols, legs))
        outputs = (port("clearance", found), port("quality", mechanism.quality(legs), ()))
        return Expression("clearance", x.place, outputs, mechanism.port)

    def at_pose(self, pose: ca.SX, legs: Sequence[Any]) -> ca.SX:
        """Least distances (G) of every group at a pose (16) in symbols and legs there, numbers as constants."""
        return self._least(ca.SX(ca.DM(self.values)), _frames(pose, legs))

    def _by_radii(self) -> tuple[tuple[tuple[tuple[int, int], ...], ...], ...]:
        """Pairs of shapes of every group by the sum of their radii, the largest first."""
        found = []
        for _, own in self.groups:
            sums: dict[float, list[tuple[int, int]]] = {}
            for pair in (self.pairs[k] for k in own):
                for a, b in product(*pair.shapes):
                    sums.setdefault(self.shapes[a].radius + self.shapes[b].radius, []).append((a, b))
            found.append(tuple(tuple(sums[key]) for key in sorted(sums, reverse=True)))
        return tuple(found)

    def _least(self, values: ca.SX, frames: Callable[[int], ca.SX | None]) -> ca.SX:
        """Least distances (G) of every group; one root each where the order of the radii is known."""
        if self._ranks is None:
            gaps = [gap for gap, _ in self._distances(values, frames)]
            return ca.vertcat(*[_smallest([gaps[k] for k in own]) for _, own in self.groups])
        shapes, floor = self._cores(values, frames)
        lines: dict[tuple[int, int], TwoLines] = {}
        result = []
        for (_, own), ranks in zip(self.groups, self._ranks, strict=True):
            gaps = [
                _above(shapes[a], floor)[0] for k in own if self.pairs[k].second < 0 for a in self.pairs[k].shapes[0]
            ]
            squares = [
                (
                    _smallest([_cores(shapes[a], shapes[b], lines).square for a, b in same]),
                    shapes[same[0][0]].radius + shapes[same[0][1]].radius,
                )
                for same in ranks
            ]
            if squares:
                square, radius = reduce(nearer, squares)
                gaps.append(ca.sqrt(square) - radius)
            result.append(_smallest(gaps))
        return ca.vertcat(*result)

    def least(self, distance: Array) -> Array:
        """The least distances (..., G) of every group from those of all pairs (..., P)."""
        columns = [distance[..., list(own)].min(axis=-1) for _, own in self.groups]
        return np.stack(columns, axis=-1) if columns else np.zeros((*distance.shape[:-1], 0))

    def _cores(self, values: ca.SX, frames: Callable[[int], ca.SX | None]) -> tuple[list[_Core], ca.SX]:
        """All shapes in the base frame, and the floor: a point and its normal (6)."""
        numbers: list[ca.SX] = [ca.SX(float(value)) for value in self._every]
        for k, place in enumerate(np.flatnonzero(self._free).tolist()):
            numbers[place] = values[k]
        shapes: list[_Core] = []
        at = 0
        for number, shape in enumerate(self.shapes):
            count = len(self._placed[number])
            own = numbers[at : at + count]
            at += count
            shared = self._lines.get(number)
            line = None if shared is None else (shapes[shared[0]], shared[1])
            shapes.append(_core(len(shape.points), own, frames(shape.body), line, shape.stretches))
        return shapes, ca.vertcat(*numbers[at : at + 6])

    def _distances(self, values: ca.SX, frames: Callable[[int], ca.SX | None]) -> list[tuple[ca.SX, ca.SX]]:
        """Distance and nearest points (6) of every pair."""
        shapes, floor = self._cores(values, frames)
        lines: dict[tuple[int, int], TwoLines] = {}
        found = []
        for pair in self.pairs:
            if pair.second < 0:
                gaps = [_above(shapes[k], floor) for k in pair.shapes[0]]
            else:
                gaps = [_distance(shapes[a], shapes[b], lines) for a in pair.shapes[0] for b in pair.shapes[1]]
            best_gap, best = gaps[0]
            for gap, where in gaps[1:]:
                best = ca.if_else(gap < best_gap, where, best)
                best_gap = least(best_gap, gap)
            found.append((best_gap, best))
        return found


def _smallest(gaps: Sequence[ca.SX]) -> ca.SX:
    found = gaps[0]
    for gap in gaps[1:]:
        found = least(found, gap)
    return found


def _frames(pose: ca.SX, legs: Sequence[Any]) -> Callable[[int], ca.SX | None]:
    """Frames (3, 4) of bodies by number, made when asked for; None for the base."""
    bodies = [(leg, body) for leg in legs for body in leg.model.placement.bodies]
    known: dict[int, ca.SX] = {1: ca.reshape(pose, 4, 4).T[:3, :]}

    def frame(number: int) -> ca.SX | None:
        if number == 0:
            return None
        if number not in known:
            leg, body = bodies[number - 2]
            known[number] = leg.at_tip(ca.horzcat(body.frame.axes, body.frame.origin))
        return known[number]

    return frame


def _numbers(shape: Shape) -> NDArray[np.float64]:
    """A shape's numbers in the frame of its body: a point; a point, unit direction and length; or the frame (12) of a
    plate with its edges (5 each); the radius is last."""
    points = shape.points
    if len(points) == 1:
        numbers = points[0]
    elif len(points) == 2:
        along = points[1] - points[0]
        length = np.linalg.norm(along)
        numbers = np.concatenate([points[0], _clean(along / length), [length]])
    else:
        normal = plate_normal(points)
        first = points[1] - points[0]
        first = first / np.linalg.norm(first)
        axes = np.column_stack([first, np.cross(normal, first), normal])
        origin = points.mean(axis=0)
        flat = (points - origin) @ axes[:, :2]
        edges = []
        for a, b in zip(flat, np.roll(flat, -1, axis=0), strict=True):
            length = np.linalg.norm(b - a)
            ex, ey = (b - a) / length
            edges += [ex, ey, a[0] * ex + a[1] * ey, a[1] * ex - a[0] * ey, length]
        numbers = np.concatenate([_clean(axes).ravel(), origin, edges])
    return np.concatenate([numbers, [shape.radius]])


def _clean(directions: Array) -> Array:
    """Directions whose components are 0 or +-1 but for rounding, made exactly so."""
    whole = np.round(directions)
    return np.where(np.abs(directions - whole) < 1e-15, whole, directions)


def _shared_lines(samples: Samples, shapes: Sequence[Shape]) -> dict[int, tuple[int, int]]:
    """Capsules on the line of another of the same leg, in all poses: its number, and 1 or -1 for the direction."""
    found: dict[int, tuple[int, int]] = {}
    first: dict[int, list[int]] = {}
    for number, shape in enumerate(shapes):
        if shape.kind != "capsule" or shape.leg < 0:
            continue
        mine = _placed_ends(samples, shape)
        for other in first.setdefault(shape.leg, []):
            theirs = _placed_ends(samples, shapes[other])
            along = theirs[:, 1] - theirs[:, 0]
            along /= np.linalg.norm(along, axis=-1, keepdims=True)
            away = mine - theirs[:, :1]
            away = away - (away @ along[..., None]) * along[:, None]
            if np.abs(away).max() <= _COLLINEAR * samples.scale:
                ahead = float(((mine[0, 1] - mine[0, 0]) @ along[0]).item())
                found[number] = other, 1 if ahead > 0 else -1
                break
        else:
            first[shape.leg].append(number)
    return found


def _placed_ends(samples: Samples, shape: Shape) -> Array:
    """Ends (n, 2, 3) of a capsule in all samples."""
    frames = samples.frames[:, shape.body]
    result: Array = np.einsum("nij,kj->nki", frames[:, :3, :3], shape.points) + frames[:, None, :3, 3]
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Shapes in symbols, base frame.


@dataclass(frozen=True)
class _Core:
    """What a radius grows: a point (3), a segment, or a polygon in a frame (3, 4)."""

    radius: ca.SX
    point: ca.SX | None = None
    segment: Segment | None = None
    frame: ca.SX | None = None
    edges: tuple[Edge, ...] = ()

    def inside(self, p: ca.SX) -> ca.SX:
        """A point of the base frame in the plate's."""
        assert self.frame is not None
        return self.frame[:, :3].T @ (p - self.frame[:, 3])

    def line_inside(self, line: Line) -> Line:
        """A line of the base frame in the plate's."""
        assert self.frame is not None
        return Line(self.inside(line.at), self.frame[:, :3].T @ line.along)

    def outside(self, p: ca.SX) -> ca.SX:
        """A point of the plate's frame in the base frame."""
        assert self.frame is not None
        return self.frame[:, :3] @ p + self.frame[:, 3]

    @property
    def corners(self) -> list[ca.SX]:
        """Corners (3) of a plate in the base frame."""
        return [self.outside(edge.point(ca.SX(0))) for edge in self.edges]

    @property
    def sides(self) -> list[Segment]:
        """Edges of a plate in the base frame."""
        assert self.frame is not None
        return [
            Segment(Line(corner, self.frame[:, :2] @ edge.e), ca.SX(0), edge.length)
            for corner, edge in zip(self.corners, self.edges, strict=True)
        ]


def _core(
    count: int,
    numbers: Sequence[ca.SX],
    frame: ca.SX | None,
    shared: tuple[_Core, int] | None,
    stretches: bool = False,
) -> _Core:
    """A shape of so many points with these numbers, where the frame (3, 4) of its body is (None: the base).

    One that ``stretches`` is as long as the axes of its frame make it.
    """

    def turned(v: ca.SX) -> ca.SX:
        return v if frame is None else frame[:, :3] @ v

    def placed(p: ca.SX) -> ca.SX:
        return p if frame is None else frame[:, :3] @ p + frame[:, 3]

    radius = numbers[-1]
    at = placed(ca.vertcat(*numbers[:3]))
    if count == 1:
        return _Core(radius, point=at)
    if count == 2:
        length = numbers[6]
        if shared is None:
            along = turned(ca.vertcat(*numbers[3:6]))
            if stretches:
                size = ca.norm_2(along)
                return _Core(radius, segment=Segment(Line(at, along / size), ca.SX(0), length * size))
            line = Line(at, along)
            return _Core(radius, segment=Segment(line, ca.SX(0), length))
        (other, sign) = shared
        assert other.segment is not None
        line = other.segment.line
        start = ca.dot(at - line.at, line.along)
        ends = (start, start + length) if sign > 0 else (start - length, start)
        return _Core(radius, segment=Segment(line, *ends))
    axes = ca.vertcat(*[ca.horzcat(*numbers[3 * k : 3 * k + 3]) for k in range(3)])
    placed_frame = ca.horzcat(turned(axes), placed(ca.vertcat(*numbers[9:12])))
    rows = [numbers[12 + 5 * k : 17 + 5 * k] for k in range(count)]
    edges = tuple(Edge(ca.vertcat(*row[:2]), *row[2:]) for row in rows)
    return _Core(radius, frame=placed_frame, edges=edges)


def _distance(a: _Core, b: _Core, lines: dict[tuple[int, int], TwoLines]) -> tuple[ca.SX, ca.SX]:
    """Distance of two shapes, and the nearest points (6) of their cores."""
    found = _cores(a, b, lines)
    return ca.sqrt(found.square) - (a.radius + b.radius), ca.vertcat(found.first, found.second)


def _cores(a: _Core, b: _Core, lines: dict[tuple[int, int], TwoLines]) -> Nearest:
    if b.edges:
        if a.edges:
            return _plates(a, b)
        if a.segment is not None:
            here = a.segment._replace(line=b.line_inside(a.segment.line))
            found = segment_polygon(here, b.edges)
        else:
            assert a.point is not None
            found = point_polygon(b.inside(a.point), b.edges)
        return Nearest(found.square, b.outside(found.first), b.outside(found.second))
    if a.edges:
        return _cores(b, a, lines).swapped()
    if a.segment is not None and b.segment is not None:
        key = id(a.segment.line), id(b.segment.line)
        if key not in lines:
            lines[key] = TwoLines(a.segment.line, b.segment.line)
        return lines[key].between(a.segment, b.segment)
    if a.segment is not None:
        return _cores(b, a, lines).swapped()
    assert a.point is not None
    if b.segment is not None:
        return point_segment(a.point, b.segment)
    assert b.point is not None
    return point_point(a.point, b.point)


def _plates(a: _Core, b: _Core) -> Nearest:
    """Of two polygons: edges of the first against the second; corners and edges of the second above the first."""
    found = []
    for side in a.sides:
        one = segment_polygon(side._replace(line=b.line_inside(side.line)), b.edges)
        found.append(Nearest(one.square, b.outside(one.first), b.outside(one.second)))
    for side in b.sides:
        one = segment_polygon(side._replace(line=a.line_inside(side.line)), a.edges, edges=False)
        found.append(Nearest(one.square, a.outside(one.second), a.outside(one.first)))
    return nearest(found)


def _above(shape: _Core, floor: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Height of a shape above a plane, and its lowest point (6) with the one below it."""
    at, normal = floor[:3], floor[3:]
    points = [shape.point] if shape.point is not None else shape.corners
    if shape.segment is not None:
        points = [shape.segment.line.point(end) for end in shape.segment[1:]]
    best_height, best = ca.dot(points[0] - at, normal), points[0]
    for point in points[1:]:
        height = ca.dot(point - at, normal)
        best = ca.if_else(height < best_height, point, best)
        best_height = least(best_height, height)
    return best_height - shape.radius, ca.vertcat(best, best - best_height * normal)
