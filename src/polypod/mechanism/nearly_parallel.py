"""Axes of a robot's joints that are nearly parallel to others: a likely slip where a robot cannot move as stated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..legs import Chain

_SAME = 1e-6
"""Sine of the angle between axes that count as parallel."""
_NEARLY = np.sin(np.radians(5.0))
"""The same for axes that were hardly meant to differ."""


class NearlyParallelAxis(NamedTuple):
    """A joint's axis, the joint that has it, and how far [rad] it is from the axis of ``other``, which more have."""

    path: str
    joint: str
    other: str
    angle: float


def nearly_parallel_axes(robot: Robot) -> list[NearlyParallelAxis]:
    """Axes that are within five degrees of parallel to one that more joints have, the nearest first."""
    groups: list[list[tuple[str, str, Array]]] = []
    for path, joint, axis in _axes(robot):
        group = next((g for g in groups if _sine(g[0][2], axis) < _SAME), None)
        if group is None:
            groups.append([(path, joint, axis)])
        else:
            group.append((path, joint, axis))
    found = []
    for group in groups:
        near = [g for g in groups if len(g) > len(group) and _sine(g[0][2], group[0][2]) < _NEARLY]
        for path, joint, axis in group if near else ():
            most = max(near, key=len)
            found.append(NearlyParallelAxis(path, joint, most[0][1], float(np.arcsin(_sine(most[0][2], axis)))))
    return sorted(found, key=lambda one: one.angle)


def _axes(robot: Robot) -> Iterator[tuple[str, str, Array]]:
    for number, leg in enumerate(robot.legs):
        for k, joint in enumerate(leg.joints) if isinstance(leg, Chain) else ():
            path, name = f"legs.{number}.joints.{k}", f"{leg.name}.{joint.name}"
            if joint.axis is not None:
                yield f"{path}.axis", name, np.array(joint.axis)
            for axis, direction in enumerate(joint.axes or ()):
                yield f"{path}.axes.{axis}", name, np.array(direction)


def _sine(one: Array, other: Array) -> float:
    return float(np.linalg.norm(np.cross(one, other)))
