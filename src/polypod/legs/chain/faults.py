"""What cannot be in a chain: degrees of freedom of its own, rods that feel their spin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from .plan import Plan

# How far a spinning rod may be from a body of revolution, relative to its size and moments: numbers of four digits.
_ROUND = 2e-4


def free_motion(matrix: Array, names: list[str]) -> str:
    """The message for a leg that moves while base and platform stand still, with the joints that do.

    ``matrix`` are derivatives of the closing equations by the unknowns, ``names`` those of the unknowns.
    """
    _, _, right = np.linalg.svd(matrix)
    motion = np.abs(right[-1]) / np.abs(right[-1]).max()
    moving = [name for name, size in zip(names, motion, strict=True) if size > 1e-6]
    return (
        f"joints: the leg has a degree of freedom of its own: with the platform held, {', '.join(moving)} can "
        "still move. "
        "Replace a joint by one of fewer degrees of freedom"
    )


def spin_faults(leg: Any, plan: Plan) -> list[str]:
    """Bodies between two spherical joints that are no bodies of revolution about the line through these."""
    faults = []
    for joint, other in plan.spins.items():
        start, end = np.array(leg.joints[joint].at), np.array(leg.joints[other].at)
        length = float(np.linalg.norm(end - start))
        for k in (joint, other):
            if leg.joints[k].ranges is not None:
                faults.append(
                    f"joints.{k}.ranges: what {leg.joints[k].name} holds spins freely and has no twist to limit"
                )
        if length == 0.0:
            faults.append(f"joints.{other}.at: {leg.joints[joint].name} and {leg.joints[other].name} are at one point")
            continue
        along = (end - start) / length
        holders = {edge.child for edge in plan.tree if edge.joint == joint}
        for edge in plan.tree:
            if edge.parent in holders:
                holders.add(edge.child)
        for name, body in leg.bodies.items():
            if plan.group[name] not in holders or body.mass == 0.0:
                continue
            arm = np.array(body.com) - start
            off = float(np.linalg.norm(arm - (arm @ along) * along))
            tensor = np.array(body.central_inertia)
            axial = float(along @ tensor @ along)
            across = 0.5 * (float(np.trace(tensor)) - axial)
            rest = tensor - axial * np.outer(along, along) - across * (np.eye(3) - np.outer(along, along))
            uneven = float(np.abs(rest).max())
            if off > _ROUND * length or uneven > _ROUND * max(across, axial, 1e-300):
                ends = f"{leg.joints[joint].name} and {leg.joints[other].name}"
                faults.append(
                    f"bodies.{name}: it spins freely between {ends} and is no body of revolution about the line "
                    f"between them (centre of mass {1e3 * off:.4g} mm off it, moments uneven by {uneven:.4g} kg m^2); "
                    "make one of the joints universal, or the body round"
                )
    return faults
