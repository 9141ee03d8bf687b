"""Shapes of a robot's bodies from where their joints are, for any leg kind: bars, slides, plates, cones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from .samples import BASE, PLATFORM, Samples

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
