"""What exported bodies look like: bars from joint to joint, or from the middle of several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .tree import Tree

_THICK = 0.012
"""Radius of a bar over the robot's size."""


class Bar(NamedTuple):
    """Ends (3) of a bar in its body's frame and its radius [m]."""

    start: Array
    end: Array
    radius: float

    @property
    def length(self) -> float:
        """Its length [m]."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def middle(self) -> Array:
        """Its middle (3)."""
        return np.asarray(0.5 * (self.start + self.end))

    @property
    def angles(self) -> Array:
        """Roll, pitch and yaw (fixed axes x, y, z) that turn the z axis along it."""
        x, y, z = (self.end - self.start) / self.length
        return np.array([0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)])


def roll_pitch_yaw(turn: Array) -> Array:
    """Angles about fixed axes x, y, z of a rotation (3, 3); yaw is zero where the pitch is a right angle."""
    level = float(np.hypot(turn[0, 0], turn[1, 0]))
    pitch = np.arctan2(-turn[2, 0], level)
    if level < 1e-8:
        return np.array([np.arctan2(-turn[1, 2], turn[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(turn[2, 1], turn[2, 2]), pitch, np.arctan2(turn[1, 0], turn[0, 0])])


def bars(tree: Tree, name: str) -> list[Bar]:
    """Bars of a body."""
    points = [tree.point_in_body(name, point) for point in tree.joint_points(name)]
    if len(points) == 2:
        pairs = [(points[0], points[1])]
    else:
        middle = tree.point_in_body(name, tree.bodies[name].com) if len(points) < 2 else np.mean(points, axis=0)
        pairs = [(middle, point) for point in points]
    found = [Bar(a, b, _THICK * tree.size) for a, b in pairs]
    return [bar for bar in found if bar.length > 1e-6 * tree.size]
