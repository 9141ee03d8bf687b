"""Where to draw a robot's bodies: points of the joints of every leg at given poses, for any leg kind."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...description import Robot
from ...mechanism import Mechanism

Array = NDArray[np.float64]


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

    ``roots`` (n, legs, 3) are the joints that each leg starts from: on the base, or on its rail. ``platform`` (n, legs,
    3) are the joints on the platform, ``outline`` (n, m, 3) is the edge of one that is a plate, in order.
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
    joints, ground, roots = [], [], []
    corners = np.array([leg.platform for leg in robot.legs])
    platform = np.einsum("nij,kj->nki", poses[:, :3, :3], corners) + poses[:, None, :3, 3]
    # lines ask for the places of bodies only
    for number, leg in enumerate(Mechanism(robot.rigid, specialise=True).legs):
        placed = leg.placement.joints
        outputs = [*(j.point for j in placed), *(j.axes[0] for j in placed if j.kind == "prismatic")]
        function = ca.Function("points", [leg.all_inputs], outputs)
        rows = [function(np.concatenate([tip, pose[:3, :3].ravel(order="F")])) for tip, pose in
                zip(platform[:, number], poses, strict=True)]  # fmt: skip
        values = [np.array([np.array(row[k]).ravel() for row in rows]) for k in range(len(outputs))]
        points = dict(zip((j.name for j in placed), values, strict=False))
        slides = dict(zip((j.name for j in placed if j.kind == "prismatic"), values[len(placed) :], strict=True))
        joints += list(points.values())
        roots.append(next((points[j.name] for j in placed if j.parent == "base"), joints[-len(points)]))
        for joint in placed:
            if joint.parent != "base":
                continue
            if joint.kind == "prismatic":
                rails.append(_rail(robot, number, points[joint.name], slides[joint.name]))
            else:
                ground.append(points[joint.name][0])
        moving = {j.parent for j in placed if j.kind == "prismatic"}
        for body in dict.fromkeys(name for j in placed for name in (j.parent, j.child)):
            own = [points[j.name] for j in placed if body in (j.parent, j.child)]
            if body in ("base", "platform") or len(own) < 2:
                continue
            first, second = max(combinations(own, 2), key=lambda pair: float(np.abs(pair[0] - pair[1]).max()))
            bones.append(Bone(number, np.stack([first, second], axis=1), body in moving))
    fixed = np.array(ground).reshape(-1, 3)
    return Skeleton(
        tuple(bones), tuple(rails), np.stack(joints, axis=1), platform, fixed, np.stack(roots, axis=1),
        _outline(robot, poses),
    )  # fmt: skip


def _outline(robot: Robot, poses: Array) -> Array | None:
    """Edge (n, m, 3) of a platform that is a plate."""
    plate = getattr(robot.platform, "plate", None)  # only a flexible platform may have one
    if plate is None:
        return None
    flat = np.array(plate.outline, dtype=np.float64)
    edge = np.column_stack([flat, np.zeros(len(flat))])
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
