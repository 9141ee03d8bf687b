"""Cones of joints, found from the limits that a leg states."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import Samples

_EXACT = 1e-8


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
