"""Shapes of a robot's bodies, for any leg kind: as its file states them, else from where the joints are.

A shape is the convex hull of points grown by a radius: a sphere, a capsule or a plate with rounded edges. Sizes that no
file states are parts of a rod's radius, which is a part of the robot's size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Body, Robot
from ..description.body import Payload
from ..description.shapes import FileShape, hull_around
from ..legs.cable import DRAWN, Cable
from ..legs.chain import Chain
from ..symbols.vectors import Frame
from .samples import BASE, PLATFORM, Samples

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
"""Of legs, alike in pictures and pages: colour-blind readers distinguish them (Okabe and Ito)."""
Role = Literal["link", "tube", "rod", "carriage", "rail", "base", "platform", "payload", "joint"]
"""What a shape is to its robot: ``tube`` and ``rod`` are the halves of a telescope, ``joint`` marks a joint."""

ROD = 0.018
"""Radius of a rod over the robot's size; what follows is in radii of a rod."""
_TUBE, _PISTON, _BAR, _PLATE, _RAIL = 1.5, 0.8, 1.3, 1.1, 0.8
_CABLE = 0.2
_CARRIAGE = 1.9, 1.6  # radius, half the length of its line
_BALL, _CROSS = 1.7, 1.4
_PINS = {"universal": (0.55, 2.6), "revolute": (1.6, 2.2), "cylindrical": (1.5, 3.0)}
"""Radius and half length of the pin of each kind of joint."""
_BEHIND = 2.4  # between a plate and what moves in its plane
_FLAT, _THIN = 0.05, 0.02
"""Largest height of points that make a plate, and least width, of their spread."""
_SHORTEST, _LONGEST = 0.75, 1.35
"""Length of a telescope without a range, of that at home."""
_STEEL = 7850.0  # kg/m^3
_SLIDES = ("prismatic", "cylindrical")


@dataclass(frozen=True)
class Shape:
    """The convex hull of ``points`` (k, 3) [m] in the frame of a body, grown by ``radius`` [m].

    One point makes a sphere, two a capsule, more are the corners of a plate in order. ``body`` is the number of the
    body (0 the base, 1 the platform), ``name`` its name, ``leg`` the number of the leg that it belongs to, -1 for none.
    A shape that is ``flat`` ends where its line ends, as the pins of joints do; one that ``stretches`` is in a frame
    whose first axis is as long as the body, as that of a cable is.
    """

    body: int
    name: str
    points: Array
    radius: float
    role: Role
    leg: int = -1
    flat: bool = False
    stretches: bool = False

    @property
    def kind(self) -> Literal["sphere", "capsule", "plate"]:
        """What its points make it."""
        return "sphere" if len(self.points) == 1 else "capsule" if len(self.points) == 2 else "plate"

    @property
    def normal(self) -> Array:
        """Unit normal (3) of a plate, right-handed with the order of its corners."""
        return plate_normal(self.points)

    def at(self, frame: Array) -> Array:
        """Its points (k, 3) where the body's frame is (4, 4)."""
        moved: Array = self.points @ frame[:3, :3].T + frame[:3, 3]
        return moved


def plate_normal(corners: Array) -> Array:
    """Unit normal (3) of a plane polygon (k, 3): Newell's sum of a x b over its edges."""
    around = corners - corners.mean(axis=0)
    total = np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
    result: Array = total / np.linalg.norm(total)
    return result


def shapes_of(robot: Robot) -> tuple[Shape, ...]:
    """Shapes of every body of a robot, without the marks of its joints.

    Examples
    --------
    >>> from polypod.files import load
    >>> [(shape.name, shape.kind) for shape in shapes_of(load("hexapod"))][:4]
    [('base', 'plate'), ('platform', 'plate'), ('leg1.lower', 'capsule'), ('leg1.upper', 'capsule')]
    """
    return tuple(shape for shape in drawn_shapes(samples_of(robot.rigid), robot) if shape.role != "joint")


@lru_cache(maxsize=4)
def samples_of(robot: Robot) -> Samples:
    """A rigid robot at home and around it, kept since a report draws one robot several times."""
    return Samples(robot)


def drawn_shapes(samples: Samples, robot: Robot) -> tuple[Shape, ...]:
    """Shapes of every body and marks of every joint; ``robot`` may be flexible, ``samples`` are of it as rigid."""
    return tuple(_Bodies(samples, robot).shapes())


class _Bodies:
    """The bodies of one robot and the points in them that shapes go through."""

    def __init__(self, samples: Samples, robot: Robot) -> None:
        self.samples, self.robot = samples, robot
        self.rod = ROD * samples.scale
        self.stated = _stated_bodies(samples)
        self.owner = [
            -1,
            -1,
            *(leg for leg, model in enumerate(samples.mechanism.legs) for _ in model.placement.bodies),
        ]
        count = len(samples.joints)
        self.pairs = [samples.joint_bodies(k) for k in range(count)]
        self.slides = [samples.joints[k][1].kind in _SLIDES for k in range(count)]

    def shapes(self) -> Iterator[Shape]:
        """All of them: the base, the platform with its payloads, the legs, the joints."""
        for body in range(len(self.samples.bodies)):
            stated = self.stated.get(body)
            if stated is not None and stated.shapes is not None:
                frame = self._home(body)
                chain = body > PLATFORM and isinstance(self.robot.legs[self.owner[body]], Chain)
                role: Role = "base" if body == BASE else "platform" if body == PLATFORM else "link"
                for one in stated.shapes:
                    points = np.array(one.points)
                    yield self._shape(body, _inside(frame, points) if chain else points, one.radius, role)
            else:
                yield from self._default(body, None if stated is None else stated.radius)
            if body == PLATFORM:
                for load in self.robot.payloads.values():
                    yield from self._payload(load)
        yield from self._joints()

    def _default(self, body: int, radius: float | None) -> Iterator[Shape]:
        leg = self.robot.legs[self.owner[body]] if body > PLATFORM else None
        if isinstance(leg, Cable):
            if self.samples.bodies[body] == leg.label(DRAWN):
                thin = _CABLE * self.rod if leg.radius is None else leg.radius
                yield replace(self._shape(body, [[0, 0, 0], [1, 0, 0]], thin, "link"), stretches=True)
            return
        if body == BASE:
            yield from self._rails()
            yield from self._plate(BASE, self._points(BASE), radius, "base")
        elif body == PLATFORM:
            yield from self._platform(radius)
        else:
            yield from self._link(body, radius)
        yield from self._telescope(body, radius)

    def _shape(self, body: int, points: Any, radius: float, role: Role, flat: bool = False) -> Shape:
        array = np.array(points, dtype=float).reshape(-1, 3)
        return Shape(body, self.samples.bodies[body], array, radius, role, self.owner[body], flat)

    def _home(self, body: int) -> Array:
        frame: Array = self.samples.frames[0, body]
        return frame

    def _points(self, body: int) -> Array:
        """Points (m, 3) of a body's joints in its frame, each once; where it slides is none of them."""
        own = [k for k, pair in enumerate(self.pairs) if body in pair and not self.slides[k]]
        if body == BASE:  # cables hang on posts and beams that are not known
            own = [k for k in own if not isinstance(self.robot.legs[self.samples.joints[k][0]], Cable)]
        points = _inside(self._home(body), self.samples.points[0, own].reshape(-1, 3))
        return _distinct(points, 1e-6 * self.samples.scale)

    # -- base, platform, payload ---------------------------------------------------------------------------------------

    def _plate(self, body: int, points: Array, radius: float | None, role: Role) -> Iterator[Shape]:
        """The polygon of points (m, 3) that lie in a plane, or bars between them."""
        outline = flat_outline(points)
        if outline is not None:
            thick = _PLATE * self.rod if radius is None else radius
            yield self._shape(body, outline + (self._aside(outline, thick) if body == BASE else 0.0), thick, role)
        elif body == PLATFORM or len(points) > 2:
            bar = _BAR * self.rod if radius is None else radius
            ring = _order_around(points)
            if ring is None:
                yield from self._bars(body, points, bar, role)
            else:  # they lie in no plane: a frame around them
                around = points[ring]
                yield from (
                    self._shape(body, [a, b], bar, role)
                    for a, b in zip(around, np.roll(around, -1, axis=0), strict=True)
                )

    def _aside(self, outline: Array, thick: float) -> Array:
        """How far (3) a base's plate goes out of the way of a robot that moves in its plane: behind it, seen as usual.

        Else its legs would always be inside the plate.
        """
        points = self.samples.points[0]
        normal = plate_normal(outline)
        if np.abs((points - outline[0]) @ normal).max() > _FLAT * self.samples.scale:
            return np.zeros(3)
        up = -np.array(self.robot.gravity)
        up = up / np.linalg.norm(up) if up.any() else np.array([0.0, 0.0, 1.0])
        across = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
        across = across - (across @ up) * up
        eye = 0.35 * up + 0.55 * across - 0.75 * np.cross(up, across)
        side = -1.0 if normal @ eye > 0 else 1.0
        result: Array = side * (thick + _BEHIND * self.rod) * normal
        return result

    def _platform(self, radius: float | None) -> Iterator[Shape]:
        edge = self.robot.plate_edge
        if edge is not None:
            thickness = float(self.robot.platform.plate.thickness)  # type: ignore[attr-defined]
            drawn = max(0.5 * thickness, _PLATE * self.rod) if radius is None else radius
            yield self._shape(PLATFORM, edge[hull_around(edge)], drawn, "platform")
            return
        points = self._points(PLATFORM)
        if flat_outline(points) is None and _order_around(points) is None:  # bars from its origin
            points = _distinct(np.concatenate([np.zeros((1, 3)), points]), 1e-6 * self.samples.scale)
            if len(points) == 1:
                yield self._shape(PLATFORM, points, 2 * self.rod if radius is None else radius, "platform")
        yield from self._plate(PLATFORM, points, radius, "platform")

    def _payload(self, load: Payload) -> Iterator[Shape]:
        """The shapes of a load; a sphere of its radius; or the box of its inertia, its edges rounded."""
        if load.shapes is not None:
            for one in load.shapes:
                yield self._shape(PLATFORM, one.points, one.radius, "payload")
        elif load.radius is not None:
            yield self._shape(PLATFORM, load.com, load.radius, "payload")
        else:
            points, radius = payload_box(load, 2.5 * self.rod, 2 * self.samples.scale)
            yield self._shape(PLATFORM, points, radius, "payload")

    # -- legs ----------------------------------------------------------------------------------------------------------

    def _link(self, body: int, radius: float | None) -> Iterator[Shape]:
        """Bars between a body's joints; a carriage where it slides on the base; a bar to the mass of one that hangs."""
        points, frame = self._points(body), self._home(body)
        bar = self.rod if radius is None else radius
        for k, pair in enumerate(self.pairs):
            if self.slides[k] and set(pair) == {BASE, body}:
                place, axis = (_inside(frame, part) for part in self._carriage(k, points, frame))
                axis = axis - _inside(frame, np.zeros(3))
                wide, half = (part * self.rod for part in _CARRIAGE)
                yield self._shape(body, [place - half * axis, place + half * axis], wide, "carriage")
                points = _distinct(np.concatenate([points, place[None]]), 1e-6 * self.samples.scale)
        hangs = next((com for number, _, com in self.samples.masses if number == body), None)
        alone = len(points) == 1 and not any(self.slides[k] for k, pair in enumerate(self.pairs) if body in pair)
        if alone and hangs is not None:
            points = np.concatenate([points, hangs[None]])
        yield from self._bars(body, points, bar, "link")

    def _carriage(self, joint: int, points: Array, frame: Array) -> tuple[Array, Array]:
        """Where a carriage is on its rail (3) and the rail's direction (3), base frame, at home."""
        point, axis = self.samples.points[0, joint], self.samples.axes[0, joint, 0]
        if len(points):
            middle = frame[:3, :3] @ points.mean(axis=0) + frame[:3, 3]
            point = point + axis * float((middle - point) @ axis)
        return point, axis

    def _rails(self) -> Iterator[Shape]:
        """The base's side of every carriage, as long as its travel where that is limited."""
        for k, pair in enumerate(self.pairs):
            if not self.slides[k] or BASE not in pair:
                continue
            other = next(body for body in pair if body != BASE)
            point, axis = self._carriage(k, self._points(other), self._home(other))
            low, high = slide_range(self.samples, k) or (-0.45 * self.samples.scale, 0.45 * self.samples.scale)
            ends = [point + low * axis, point + high * axis]
            yield replace(self._shape(BASE, ends, _RAIL * self.rod, "rail"), leg=self.samples.joints[k][0])

    def _telescope(self, body: int, radius: float | None) -> Iterator[Shape]:
        """The halves of the slides of a body on others than the base: a tube, and the rod that leaves it.

        Both are as long as the shortest telescope lets them be, or as the longest needs.
        """
        for k, pair in enumerate(self.pairs):
            if not self.slides[k] or body not in pair or BASE in pair:
                continue
            ends = [self._anchor(one, k) for one in pair]
            if ends[0] is None or ends[1] is None:
                continue
            axis = self.samples.axes[0, k, 0]
            along = float((ends[1] - ends[0]) @ axis)
            if abs(along) <= 1e-6 * self.samples.scale:
                continue
            direction, length = axis * np.sign(along), abs(along)
            found = slide_range(self.samples, k)
            low, high = (_SHORTEST * length, _LONGEST * length)
            if found is not None:
                low, high = (length + value for value in (found if along > 0 else (-found[1], -found[0])))
            low = max(low, 0.05 * length)
            tube = min(max(0.6 * length, 0.5 * high + 0.05 * length), 0.92 * low)
            rod = min(max(high - tube + 0.1 * length, 0.5 * length), 0.97 * low)
            is_tube = body == pair[0]
            start = ends[0] if is_tube else ends[1]
            end = start + direction * tube if is_tube else start - direction * rod
            drawn = (_TUBE if is_tube else _PISTON) * self.rod if radius is None else radius
            points = _inside(self._home(body), np.stack([start, end]))
            yield self._shape(body, points, drawn, "tube" if is_tube else "rod")
            beside = start + direction * length if is_tube else start - direction * length
            across = beside - ends[1 if is_tube else 0]
            if not is_tube and np.linalg.norm(across) > 1e-6 * self.samples.scale:  # the slide is beside the joint
                line = _inside(self._home(body), np.stack([ends[1], ends[1] - across]))
                yield self._shape(body, line, drawn, "rod")

    def _anchor(self, body: int, slide: int) -> Array | None:
        """Where a half of a telescope starts (3), base frame at home: the middle of the body's other joints."""
        points = self._points(body)
        if not len(points):
            return None
        frame = self._home(body)
        result: Array = frame[:3, :3] @ points.mean(axis=0) + frame[:3, 3]
        return result

    def _bars(self, body: int, points: Array, radius: float, role: Role) -> Iterator[Shape]:
        for a, b in tree_of_bars(points):
            if np.linalg.norm(b - a) > 1e-6 * self.samples.scale:
                yield self._shape(body, [a, b], radius, role)

    # -- joints --------------------------------------------------------------------------------------------------------

    def _joints(self) -> Iterator[Shape]:
        """Balls and pins, in the body of the leg where they stay."""
        samples = self.samples
        for k, (leg, joint) in enumerate(samples.joints):
            if joint.kind in ("prismatic", "fixed"):
                continue
            held = [body for body in self.pairs[k][::-1] if samples.is_fixed_in(k, body)]
            body = min(held or [samples.joint_points[k].body], key=lambda one: one <= PLATFORM)
            point = _inside(self._home(body), samples.points[0, k])
            marks = []
            if joint.kind in ("spherical", "universal"):
                marks.append(
                    self._shape(body, point, (_BALL if joint.kind == "spherical" else _CROSS) * self.rod, "joint")
                )
            for axis in samples.joint_axes(k):
                thick, half = (part * self.rod for part in _PINS[joint.kind])
                at = _inside(self._home(axis.body), samples.points[0, k])
                ends = [at - half * axis.local, at + half * axis.local]
                marks.append(self._shape(axis.body, ends, thick, "joint", flat=True))
            yield from (replace(mark, leg=leg) for mark in marks)


def _inside(frame: Array, points: Array) -> Array:
    """Points (..., 3) of the base frame in the frame (4, 4) of a body."""
    result: Array = (points - frame[:3, 3]) @ frame[:3, :3]
    return result


def _stated_bodies(samples: Samples) -> dict[int, Any]:
    """Bodies of the description by their numbers, with their ``radius`` and ``shapes``; the base's if it is stated."""
    robot = samples.robot
    found: dict[int, Any] = {PLATFORM: robot.platform}
    if robot.base is not None:
        found[BASE] = robot.base
    number = PLATFORM
    for leg, model in zip(robot.legs, samples.mechanism.legs, strict=True):
        names = [placed.name for placed in model.placement.bodies]
        if isinstance(leg, Chain):
            own: dict[str, Any] = dict(leg.bodies)
        elif not any(isinstance(value, Body) and _looks(value) for value in leg.__dict__.values()):
            own = {}
        else:  # the leg itself knows which of its fields a body is
            own = {placed.name: placed.inertia for placed in leg.place(Frame.symbols("tip")).bodies}  # type: ignore[attr-defined]
        for name in names:
            number += 1
            if isinstance(own.get(name), Body):
                found[number] = own[name]
    return found


def _looks(body: Body) -> bool:
    return body.radius is not None or body.shapes is not None


def slide_range(samples: Samples, joint: int) -> tuple[float, float] | None:
    """How far a driven slide goes from home along its axis [m], if its coordinate is limited."""
    leg, stated = samples.joints[joint]
    for number, (owner, actuator) in enumerate(samples.actuators):
        if owner == leg and actuator.joint == stated.name:
            found = actuator_range(samples, number)
            if found is not None:
                ratio = float(samples.mechanism.numbers.evaluate(actuator.ratio).item())
                low, high = sorted((value - float(samples.q[0, number])) / ratio for value in found)
                return low, high
    return None


def actuator_range(samples: Samples, number: int) -> tuple[float, float] | None:
    """Lowest and highest value of an actuated coordinate, if a limit of its leg is on that coordinate itself."""
    leg = samples.actuators[number][0]
    for k, (owner, limit) in enumerate(samples.limits):
        same = not limit.angle and np.allclose(samples.limited[:, k], samples.q[:, number], rtol=1e-12, atol=1e-12)
        if owner == leg and same:
            low, high = samples.mechanism.limit_ranges[k]
            return float(low), float(high)
    return None


def payload_box(body: Payload, least: float, most: float) -> tuple[Array, float]:
    """Points and radius of the box of a load's inertia, each side between ``least`` and ``most`` [m].

    A box of mass m and sides a has principal moments m (a_j^2 + a_k^2) / 12. Its edges are rounded by half its shortest
    side. A point has no such box: it is a ball of steel of its mass.
    """
    moments, axes = np.linalg.eigh(body.central_inertia)
    squares = 6 * (moments.sum() - 2 * moments) / (body.mass or 1.0)
    sides = np.sqrt(np.maximum(squares, 0.0))
    centre = np.array(body.com)
    if bool(np.all(sides < 1e-6)):  # m: rounding of an inertia about another point
        side = float(np.cbrt(6 * body.mass / (np.pi * _STEEL)))
        return centre[None], 0.5 * min(max(side, least), most)
    sides = np.clip(sides, least, most)
    short, middle, long = np.argsort(sides, kind="stable")
    radius = 0.5 * float(sides[short])
    across, along = (max(0.5 * float(sides[k]) - radius, 0.0) for k in (middle, long))
    corners = [
        centre + y * across * axes[:, middle] + x * along * axes[:, long]
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    return _distinct(np.array(corners), 1e-6 * float(sides[long])), radius


def flat_outline(points: Array) -> Array | None:
    """Corners (m, 3) in order of the smallest convex polygon through points (k, 3); None if they are not flat.

    Points that are nearly flat are moved into the plane that fits them best.
    """
    if len(points) < 3:
        return None
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    if spread[1] < _THIN * spread[0] or spread[2] > _FLAT * spread[0]:
        return None
    corners: Array = points[hull_around(points)]
    return corners - np.outer((corners - middle) @ axes[2], axes[2]) if spread[2] > 1e-9 * spread[0] else corners


def _order_around(points: Array) -> NDArray[np.intp] | None:
    """Numbers of points (k, 3) by their angle in the plane that fits them best; None of fewer than four, or a line."""
    if len(points) < 4:
        return None
    middle = points.mean(axis=0)
    _, spread, plane = np.linalg.svd(points - middle, full_matrices=False)
    if spread[1] < _THIN * spread[0]:
        return None
    return np.argsort(np.arctan2((points - middle) @ plane[1], (points - middle) @ plane[0]))


def tree_of_bars(points: Array) -> list[tuple[Array, Array]]:
    """Bars that join points (k, 3): the two nearest first, whose middle then stands for both.

    Examples
    --------
    >>> [(a.tolist(), b.tolist()) for a, b in tree_of_bars(np.array([[0.0, 2], [0, 0], [1, 1]]))]
    [([0.0, 2.0], [1.0, 1.0]), ([0.5, 1.5], [0.0, 0.0])]
    """
    open_ends, bars = list(points), []
    while len(open_ends) > 1:
        pairs = [(i, j) for j in range(len(open_ends)) for i in range(j)]
        far = [float(np.linalg.norm(open_ends[i] - open_ends[j])) for i, j in pairs]
        nearest = min(far)
        i, j = next(pair for pair, one in zip(pairs, far, strict=True) if one <= nearest * (1 + 1e-9))
        bars.append((open_ends[i], open_ends[j]))
        middle = 0.5 * (open_ends[i] + open_ends[j])
        open_ends = [middle, *(end for k, end in enumerate(open_ends) if k not in (i, j))]
    return bars


def _distinct(points: Array, near: float) -> Array:
    """Points (k, 3), each place once."""
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > near for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def as_file_shape(shape: Shape, frame: Array) -> FileShape:
    """A shape as a file states it, where its body's frame is (4, 4)."""
    from ..description.shapes import Capsule, Plate, Sphere

    points = shape.at(frame).tolist()
    if shape.kind == "sphere":
        return Sphere.model_validate({"center": points[0], "radius": shape.radius})
    if shape.kind == "capsule":
        return Capsule.model_validate({"ends": points, "radius": shape.radius})
    return Plate.model_validate({"corners": points, "thickness": 2 * shape.radius})
