"""Parallelograms in a chain: two bars between the same two bodies on hinges of one direction, equal and parallel.

The bodies that they join do not turn against each other: one moves against the other on a circle. Each bar may be
shifted parallel to itself, so that it ends in the point that is to be reached: one hinge then stands for the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .alignment import parallel
from .data import ChainJoint
from .plan import Plan

_EQUAL = 1e-11
"""Difference of opposite sides, relative to their length, that is the rounding of arithmetic."""


class Bar(NamedTuple):
    """A body on two hinges of one direction: their numbers, and the bodies at their other ends."""

    body: str
    hinges: tuple[int, int]
    ends: tuple[str, str]


def parallelograms(joints: Sequence[ChainJoint], plan: Plan) -> dict[int, tuple[int, int]]:
    """For every hinge of a parallelogram the other hinge of its bar, and the hinge beside it of the bar opposite."""
    found: dict[int, tuple[int, int]] = {}
    for one, two in combinations(hinged_bars(joints, plan), 2):
        if set(one.ends) != set(two.ends) or any(k in found for k in (*one.hinges, *two.hinges)):
            continue
        beside = two.hinges if one.ends == two.ends else two.hinges[::-1]
        if _opposite(joints, one.hinges, beside):
            for k in (0, 1):
                found[one.hinges[k]] = one.hinges[1 - k], beside[k]
                found[beside[k]] = beside[1 - k], one.hinges[k]
    return found


def hinged_bars(joints: Sequence[ChainJoint], plan: Plan) -> list[Bar]:
    """Bodies that two parallel hinges hold and nothing else, between two other bodies."""
    ends = {
        k: tuple(plan.group[name] for name in joint.between) for k, joint in enumerate(joints) if joint.kind != "fixed"
    }
    bars = []
    for body in dict.fromkeys(plan.group.values()):
        held = [k for k, pair in ends.items() if body in pair]
        if body in ("base", "platform") or len(held) != 2 or any(joints[k].kind != "revolute" for k in held):
            continue
        first, second = (next(end for end in ends[k] if end != body) for k in held)
        if first != second and parallel(joints[held[0]].axis, joints[held[1]].axis):
            bars.append(Bar(body, (held[0], held[1]), (first, second)))
    return bars


def _opposite(joints: Sequence[ChainJoint], one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Whether two bars are opposite sides of a parallelogram that is not flat."""
    if not parallel(joints[one[0]].axis, joints[two[0]].axis):
        return False
    axis = np.array(joints[one[0]].axis)
    across = np.eye(3) - np.outer(axis, axis)
    a, b, c, d = (across @ np.array(joints[k].at) for k in (*one, *two))
    length = float(np.linalg.norm(b - a))
    width = float(np.linalg.norm(np.cross(b - a, c - a))) / (length or 1.0)
    return bool(np.linalg.norm((b - a) - (d - c)) < _EQUAL * max(length, 1e-3) and width > 1e-9)
