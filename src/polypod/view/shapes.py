"""Shapes of a robot's bodies from where their joints are, for any leg kind: bars, slides, plates, cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..lazy import lazy
from ..legs.contract import Actuator, Joint, Limit
from ..mechanism import Mechanism
from ..mechanism.samples import closed_around_home
from ..symbols.inertia import Inertia

_FLAT = 0.05  # largest height of points that make a plate, of their spread
_EXACT = 1e-8
_SLIDES = ("prismatic", "cylindrical")


def bars(samples: Samples) -> list[dict[str, Any]]:
    """Lines between the joints of every body but base and platform, the shortest that connect all of them.

    ``tube`` marks a body out of which another slides: its far joint moves in it.
    """
    entries = []
    for body in range(2, len(samples.bodies)):
        own = [k for k in range(len(samples.joints)) if body in samples.joint_bodies(k)]
        for a, b in _connections(samples.points[0, own], samples.scale):
            ends = sorted((own[a], own[b]), key=lambda k: not samples.is_fixed_in(k, body))
            slide = samples.joints[ends[1]][1].kind in _SLIDES
            out_of = slide and samples.joint_bodies(ends[1])[0] == body and not samples.is_fixed_in(ends[1], body)
            entries.append({"leg": samples.joints[own[0]][0], "body": body, "joints": ends, "tube": out_of})
    return entries


def blocks(samples: Samples) -> list[dict[str, Any]]:
    """Carriages: bodies that slide on the base, with the slide's joint."""
    entries = []
    for k, (leg, joint) in enumerate(samples.joints):
        if joint.kind in _SLIDES and BASE in samples.joint_bodies(k):
            other = next(body for body in samples.joint_bodies(k) if body != BASE)
            entries.append({"leg": leg, "joint": k, "body": other})
    return entries


def rails(samples: Samples) -> list[dict[str, Any]]:
    """The base's side of every carriage: ends (3) of a line [m]; as long as its travel where that is limited."""
    entries = []
    for block in blocks(samples):
        k, leg = block["joint"], block["leg"]
        point, axis = samples.points[0, k], samples.axes[0, k, 0]
        reach = [-0.45 * samples.scale, 0.45 * samples.scale]
        for number, (_, actuator) in enumerate(samples.actuators):
            if samples.actuators[number][0] == leg and actuator.joint == samples.joints[k][1].name:
                found = actuator_range(samples, number)
                if found is not None:
                    ratio = float(samples.mechanism.numbers.evaluate(actuator.ratio).item())
                    reach = [(value - samples.q[0, number]) / ratio for value in found]
        entries.append({"leg": leg, "ends": [(point + axis * value).tolist() for value in reach]})
    return entries


def actuator_range(samples: Samples, number: int) -> tuple[float, float] | None:
    """Lowest and highest value of an actuated coordinate, if a limit of its leg is on that coordinate itself."""
    leg = samples.actuators[number][0]
    for k, (owner, limit) in enumerate(samples.limits):
        same = not limit.angle and np.allclose(samples.limited[:, k], samples.q[:, number], rtol=1e-12, atol=1e-12)
        if owner == leg and same:
            low, high = samples.mechanism.limit_ranges[k]
            return float(low), float(high)
    return None


def cones(samples: Samples) -> list[dict[str, Any]]:
    """Cones of limits that are angles: the joint, the body and axis (3) they stay with, half angle, number of limit.

    A limit states a cosine and nothing else. It is a cone of a joint if it is a . e in all samples, with an axis e of
    one of the joint's bodies and a direction a that stays in the other.
    """
    entries = []
    for number, (leg, limit) in enumerate(samples.limits):
        if limit.angle:
            found = next(filter(None, (_cone(samples, number, k) for k in _joints(samples, leg, limit.name))), None)
            if found is not None:
                low = float(samples.mechanism.limit_ranges[number, 0])
                entries.append({**found, "leg": leg, "limit": number, "half_angle": float(np.arccos(low))})
    return entries


def _joints(samples: Samples, leg: int, name: str) -> list[int]:
    """Joints of a leg, first those that a limit's name has."""
    own = [k for k, (owner, joint) in enumerate(samples.joints) if owner == leg and joint.kind != "prismatic"]
    return sorted(own, key=lambda k: samples.joints[k][1].name not in name)


def _cone(samples: Samples, number: int, joint: int) -> dict[str, Any] | None:
    parent, child = samples.joint_bodies(joint)
    cosines = samples.limited[:, number]
    for fixed, moving in ((parent, child), (child, parent)):
        for column in range(3):
            e = np.einsum("nji,nj->ni", samples.frames[:, fixed, :3, :3], samples.frames[:, moving, :3, column])
            axis, _, rank, _ = np.linalg.lstsq(e, cosines, rcond=1e-10)
            if rank == 3 and np.abs(e @ axis - cosines).max() < _EXACT and abs(np.linalg.norm(axis) - 1) < 1e-6:
                # it opens to where the rest of the leg is
                own = [k for k, (leg, _) in enumerate(samples.joints) if leg == samples.joints[joint][0]]
                away = samples.points[0, own] - samples.points[0, joint]
                rest = away[np.linalg.norm(away, axis=1).argmax()]
                along = rest @ samples.frames[0, moving, :3, column]
                side = float(np.sign(along)) or 1.0
                return {"joint": joint, "body": fixed, "axis": (side * axis).tolist()}
    return None


def plate(samples: Samples, body: int, outline: Array | None = None) -> dict[str, Any]:
    """Base or platform through its joints, in its own frame: one of three, whichever the joints allow.

    ``outline`` (m, 3) is the edge of a flat plate, ``faces`` (m, 3, 3) are triangles around joints that lie in no
    plane, ``lines`` (m, 2, 3) connect those of a platform that lie in a line, its origin among them.
    """
    local = outline if outline is not None else _attachments(samples, body)
    shape: dict[str, Any] = {"body": body, "outline": [], "faces": [], "lines": []}
    flat = _flat_outline(local)
    solid = None if flat is not None else _solid(local)
    if flat is not None:
        shape["outline"] = flat.tolist()
    elif solid is not None:
        shape["faces"] = solid.tolist()
    elif body == PLATFORM:
        points = np.concatenate([np.zeros((1, 3)), local])
        shape["lines"] = [[points[a].tolist(), points[b].tolist()] for a, b in _connections(points, samples.scale)]
    return shape


def _attachments(samples: Samples, body: int) -> Array:
    """Points (m, 3) of the joints of base or platform that stay in it, in its frame."""
    frame = samples.frames[0, body]
    own = [k for k in range(len(samples.joints)) if body in samples.joint_bodies(k) and samples.is_fixed_in(k, body)]
    return (samples.points[0, own] - frame[:3, 3]) @ frame[:3, :3]


def _flat_outline(points: Array) -> Array | None:
    """Corners (m, 3) in order of the smallest convex plate through points (k, 3); None if they are not flat."""
    if len(points) < 3:
        return None
    middle = points.mean(axis=0)
    _, spread, plane = np.linalg.svd(points - middle, full_matrices=False)
    if spread[1] < 0.02 * spread[0] or spread[2] > _FLAT * spread[0]:
        return None
    return points[_hull((points - middle) @ plane[:2].T)]


def _hull(flat: Array) -> list[int]:
    """Numbers of the corners of the smallest convex polygon around points (k, 2), counter-clockwise.

    Andrew's monotone chain: SciPy's hull, which solids need, takes a third of a second to load.

    Examples
    --------
    >>> _hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [2.0, 2.0], [0.0, 2.0]]))
    [0, 1, 3, 4]
    """
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()
    chains = []
    for way in (order, order[::-1]):
        chain: list[int] = []
        for k in way:
            while len(chain) > 1 and _turn(flat[chain[-2]], flat[chain[-1]], flat[k]) <= 0:
                chain.pop()
            chain.append(k)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle, positive if its corners (2) are counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _solid(points: Array) -> Array | None:
    """Triangles (m, 3, 3) of the convex solid through points (k, 3), corners counter-clockwise from outside."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # in a plane, in a line, or too few
        return None
    faces = points[hull.simplices]
    normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    inwards = np.einsum("ni,ni->n", normal, hull.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return np.asarray(faces)


def _connections(points: Array, scale: float) -> list[tuple[int, int]]:
    """Pairs of points (k, 3) that join all of them by the shortest lines; points in one place count once."""
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    joined, pairs = {0}, []
    while len(joined) < len(points):
        rest = set(range(len(points))) - joined
        a, b = min(((a, b) for a in joined for b in rest), key=lambda pair: float(far[pair]))
        joined.add(b)
        if far[a, b] > 1e-6 * scale:
            pairs.append((a, b))
    return pairs


# ----------------------------------------------------------------------------------------------------------------------
# Where a robot's bodies and joints are at poses around home, as numbers: what a drawing of any leg kind needs.

COUNT, REACH = 16, 0.05
"""Poses beside home, and how far they are from it in platform sizes and rad."""
BASE, PLATFORM = 0, 1
"""The first bodies of every robot."""


@dataclass(frozen=True)
class BodyFixed:
    """A point or direction fixed in a body: the body's number and its numbers (3) there."""

    body: int
    local: Array


class Samples:
    """A rigid robot at home (first) and at poses around it.

    ``bodies`` names the base, the platform and every body of every leg; ``frames`` (n, bodies, 4, 4) are their poses.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.mechanism = Mechanism(robot, specialise=True)
        self.bodies: list[str] = ["base", "platform"]
        self.masses: list[tuple[int, float, Array]] = []
        self.joints: list[tuple[int, Joint]] = []
        self.actuators: list[tuple[int, Actuator]] = []
        self.limits: list[tuple[int, Limit]] = []
        home = self.mechanism.numbers.evaluate(ca.vertcat(self.mechanism.home_places, ca.SX(0, 1))).ravel()
        states = [(robot.home.matrix, home), *closed_around_home(self.mechanism, COUNT, REACH)]
        self._evaluate(np.stack([pose for pose, _ in states]), np.stack([place for _, place in states]))
        self.scale = float(np.linalg.norm(self.points[0] - self.points[0].mean(axis=0), axis=1).max(initial=1e-3))

    def _evaluate(self, poses: Array, places: Array) -> None:
        """All that is known at poses (n, 4, 4) and places (n, k) of what legs without a closed form leave open."""
        mechanism, parts = self.mechanism, []
        x = mechanism.inputs()
        _, legs = mechanism.resting(x)
        self._add_mass(PLATFORM, mechanism.numbers.platform)
        for leg in legs:
            for body in leg.model.placement.bodies:
                self._add_mass(len(self.bodies), body.moments)
                self.bodies.append(f"{leg.model.name}.{body.name}")
                parts.append(leg.at_tip(ca.vertcat(ca.vec(body.frame.axes), body.frame.origin)))
        for number, leg in enumerate(legs):
            for joint in leg.model.placement.joints:
                self.joints.append((number, joint))
                axes = [*joint.axes, *[ca.SX.zeros(3)] * (2 - len(joint.axes))][:2]
                parts.append(leg.at_tip(ca.vertcat(joint.point, *axes)))
        for number, leg in enumerate(legs):
            self.limits += [(number, limit) for limit in leg.model.placement.limits]
            self.actuators += [(number, actuator) for actuator in leg.model.placement.actuators]
            parts += [leg.at_tip(limit.value) for limit in leg.model.placement.limits]
        parts.append(mechanism.coordinates(legs))
        function = ca.Function("samples", [x.pose.symbols, mechanism.places], [ca.densify(ca.vertcat(*parts))])
        values = np.array(function.map(len(poses))(poses.reshape(len(poses), 16).T, places.T)).T
        moving, joints, limits = len(self.bodies) - 2, len(self.joints), len(self.limits)
        frames, points, rest = np.split(values, [12 * moving, 12 * moving + 9 * joints], axis=1)
        self.frames = np.tile(np.eye(4), (len(poses), len(self.bodies), 1, 1))
        self.frames[:, PLATFORM] = poses
        numbers = frames.reshape(len(poses), moving, 4, 3)  # columns of the axes, then the origin
        self.frames[:, 2:, :3, :] = numbers.transpose(0, 1, 3, 2)
        placed = points.reshape(len(poses), joints, 3, 3)
        self.points, self.axes = placed[:, :, 0], placed[:, :, 1:]
        self.limited, self.q = rest[:, :limits], rest[:, limits:]

    def _add_mass(self, body: int, inertia: Inertia) -> None:
        mass, com = (self.mechanism.numbers.evaluate(value).ravel() for value in (inertia.mass, inertia.com))
        if mass[0] > 0:
            self.masses.append((body, float(mass[0]), com))

    def body_number(self, leg: int, name: str) -> int:
        """Number of a body of a leg, ``base`` and ``platform`` among them."""
        own = name if name in ("base", "platform") else f"{self.robot.legs[leg].name}.{name}"
        return self.bodies.index(own)

    def joint_bodies(self, joint: int) -> tuple[int, int]:
        """Numbers of a joint's parent and child."""
        leg, found = self.joints[joint]
        return self.body_number(leg, found.parent), self.body_number(leg, found.child)

    @lazy
    def joint_points(self) -> list[BodyFixed]:
        """Every joint's point, in the body in which it stays: the child, or the parent of a slide stated there."""
        return [self._fixed(self.points[:, k], self.joint_bodies(k)[::-1]) for k in range(len(self.joints))]

    def joint_axes(self, joint: int) -> list[BodyFixed]:
        """The free directions of a joint, each in the body in which it stays: the parent's first."""
        count = min(len(self.joints[joint][1].axes), 2)
        return [self._fixed(self.axes[:, joint, k], self.joint_bodies(joint), direction=True) for k in range(count)]

    def is_fixed_in(self, joint: int, body: int) -> bool:
        """Whether a joint's point stays in a body."""
        return self._spread(self.points[:, joint], body, False)[1] <= 1e-7 * self.scale

    def _fixed(self, vectors: Array, bodies: tuple[int, int], direction: bool = False) -> BodyFixed:
        found = [(*self._spread(vectors, body, direction), body) for body in bodies]
        local, _, body = min(found, key=lambda f: f[1] if f[1] > 1e-7 * self.scale else 0.0)
        return BodyFixed(body, local)

    def _spread(self, vectors: Array, body: int, direction: bool) -> tuple[Array, float]:
        """A point or direction (n, 3) seen from a body: at home, and how far it moves there."""
        frames = self.frames[:, body]
        inside = np.einsum("nji,nj->ni", frames[:, :3, :3], vectors if direction else vectors - frames[:, :3, 3])
        return inside[0], float(np.ptp(inside, axis=0).max())


# ----------------------------------------------------------------------------------------------------------------------
# Colours of legs, alike in pictures and pages: colour-blind readers distinguish them (Okabe and Ito).

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
