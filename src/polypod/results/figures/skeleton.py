"""Where to draw a robot's bodies: points of the joints of every leg at given poses, for any leg kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import casadi as ca
import numpy as np

from ...arrays import Array
from ...description import Robot
from ...limits.loads import SLIDES
from ...mechanism import LegModel, Mechanism
from ...mobility.numeric_leg import NumericLeg


@dataclass(frozen=True)
class Bone:
    """A body as the line through its joints, from end to end (n, 2, 3); ``telescopic`` if a slider leaves it."""

    leg: int
    ends: Array
    telescopic: bool


@dataclass(frozen=True)
class Rail:
    """A slider's place (n, 3) on the line it moves along, and the line's ends (2, 3)."""

    leg: int
    slider: Array
    ends: Array


@dataclass(frozen=True)
class Skeleton:
    """Lines and points of a robot at n poses, base frame [m]; ``ground`` are joints that stay in the base.

    ``joints`` (n, joints, 3) are those of all legs. ``roots`` (n, legs, 3) are the joints that each leg starts from: on
    the base, or on its rail. ``platform`` (n, k, 3) are the joints on the platform, ``outline`` (n, m, 3) is the edge
    of one that is a plate, in order.
    """

    bones: tuple[Bone, ...]
    rails: tuple[Rail, ...]
    joints: Array
    platform: Array
    ground: Array
    roots: Array
    outline: Array | None = None


def skeleton(robot: Robot, poses: Array) -> Skeleton:
    """The robot's lines at poses (n, 4, 4), from the joints that its legs place."""
    bones: list[Bone] = []
    rails: list[Rail] = []
    joints, ground, roots, on_platform = [], [], [], []
    tips = np.einsum("nij,kj->nki", poses[:, :3, :3], robot.attachments) + poses[:, None, :3, 3]
    # lines ask for the places of bodies only
    for number, leg in enumerate(_legs(robot.rigid)):
        placed = leg.placement.joints
        outputs = [*(j.point for j in placed), *(j.axes[0] for j in placed if j.kind in SLIDES)]
        rows = _placed(robot, number, leg, outputs, tips[:, number], poses)
        values = list(np.split(rows, len(outputs), axis=1))
        points = dict(zip((j.name for j in placed), values, strict=False))
        slides = dict(zip((j.name for j in placed if j.kind in SLIDES), values[len(placed) :], strict=True))
        joints += list(points.values())
        on_platform += [points[j.name] for j in placed if "platform" in (j.parent, j.child)]
        roots.append(next((points[j.name] for j in placed if j.parent == "base"), joints[-len(points)]))
        for joint in placed:
            if joint.parent != "base":
                continue
            if joint.kind in SLIDES:
                rails.append(_rail(robot, number, points[joint.name], slides[joint.name]))
            else:
                ground.append(points[joint.name][0])
        moving = {j.parent for j in placed if j.kind in SLIDES}
        for body in dict.fromkeys(name for j in placed for name in (j.parent, j.child)):
            own = [points[j.name] for j in placed if body in (j.parent, j.child)]
            if body in ("base", "platform") or len(own) < 2:
                continue
            bones += [Bone(number, np.stack(pair, axis=1), body in moving) for pair in _edges(own)]
    fixed = np.array(ground).reshape(-1, 3)
    return Skeleton(
        tuple(bones), tuple(rails), np.stack(joints, axis=1), np.stack(on_platform, axis=1), fixed,
        np.stack(roots, axis=1), _outline(robot, poses),
    )  # fmt: skip


def bent_skeleton(robot: Robot, poses: Array, deflection: Array) -> Skeleton:
    """The robot's lines at poses (n, 4, 4), its attachment points moved by (n, legs, 3) [m], platform axes.

    A leg sees of the platform its attachment point and the axes: p + R (a + d) is the point of a platform at p + R d.
    """
    parts = []
    for number, leg in enumerate(robot.legs):
        moved = poses.copy()
        moved[:, :3, 3] += np.einsum("nij,nj->ni", poses[:, :3, :3], deflection[:, number])
        parts.append(skeleton(robot.model_copy(update={"legs": (leg,)}), moved))
    return Skeleton(
        bones=tuple(replace(bone, leg=k) for k, part in enumerate(parts) for bone in part.bones),
        rails=tuple(replace(rail, leg=k) for k, part in enumerate(parts) for rail in part.rails),
        joints=np.concatenate([part.joints for part in parts], axis=1),
        platform=np.concatenate([part.platform for part in parts], axis=1),
        ground=np.concatenate([part.ground for part in parts]),
        roots=np.concatenate([part.roots for part in parts], axis=1),
    )


def _edges(points: list[Array]) -> list[tuple[Array, Array]]:
    """Lines that show a body with joints at points (n, 3) each: every pair of up to four."""
    pairs = list(combinations(points[:4], 2))
    longest = max(float(np.abs(a - b).max()) for a, b in pairs)
    return [(a, b) for a, b in pairs if float(np.abs(a - b).max()) > 1e-6 * longest]


@lru_cache(maxsize=4)
def _legs(robot: Robot) -> list[LegModel]:
    """The legs in symbols, kept since a report draws one robot several times."""
    return Mechanism(robot, specialise=True).legs


def _placed(robot: Robot, number: int, leg: LegModel, outputs: list[ca.SX], tips: Array, poses: Array) -> Array:
    """Vectors (n, 3 k) of a leg's placement at poses; unknowns are followed from pose to pose, the first from home."""
    x = np.concatenate([tips, poses[:, :3, :3].transpose(0, 2, 1).reshape(len(poses), 9)], axis=1)
    if leg.unknowns is None:
        function = ca.Function("points", [leg.all_inputs], [ca.densify(ca.vertcat(*outputs))])
        return np.array(function.map(len(poses))(x.T)).T
    unknowns = leg.unknowns
    still = ca.SX.zeros(unknowns.move.numel())
    parts = ca.substitute(outputs, [unknowns.move], [still])
    function = ca.Function("points", [leg.all_inputs, unknowns.place], [ca.densify(ca.vertcat(*parts))])
    numeric, places = NumericLeg(robot.legs[number], robot), []
    place = numeric.home
    for pose in poses:  # each from the one before
        place = numeric.at(pose, place)[0]
        places.append(np.ravel(place))
    return np.array(function.map(len(poses))(x.T, np.array(places).T)).T


def _outline(robot: Robot, poses: Array) -> Array | None:
    """Edge (n, m, 3) of a platform that is a plate."""
    edge = robot.plate_edge
    if edge is None:
        return None
    moved: Array = np.einsum("nij,kj->nki", poses[:, :3, :3], edge) + poses[:, None, :3, 3]
    return moved


def _rail(robot: Robot, number: int, slider: Array, axis: Array) -> Rail:
    """A rail from the leg's travel, which counts from its start, or somewhat beyond what the slider uses."""
    leg = robot.legs[number]
    travel, start = getattr(leg, "travel", None), getattr(leg, "rail_start", None)
    if travel is not None and start is not None:
        return Rail(number, slider, np.array([np.array(start) + value * axis[0] for value in travel]))
    used = (slider - slider[0]) @ axis[0]
    spare = 0.15 * (2 * np.ptp(used) + 0.5)
    ends = float(used.min()) - spare, float(used.max()) + spare
    return Rail(number, slider, np.array([slider[0] + value * axis[0] for value in ends]))
