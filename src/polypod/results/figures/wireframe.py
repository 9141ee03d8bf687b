"""Lines of a robot whose platform bends, each leg at its displaced attachment point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...description import Robot
from .skeleton import Skeleton, skeleton


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
