"""From where a robot is seen: directions of the paper, and the view in which the legs hide each other least."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...drawing import PosedRobot

# In the order of preference: a later one must be that much clearer.
_VIEWS = tuple((elevation, azimuth) for elevation in (20, 28) for azimuth in (-55, -65, -45, -75, -35, -25))
_PREFERENCE = 0.01
_NEAR = 0.02  # of the picture's height; closer lines are taken for one
_SAMPLES = np.linspace(0.05, 0.95, 25)[:, None]


@dataclass(frozen=True)
class View:
    """Directions in base axes (3): to the right and upwards on paper, and towards the reader; right-handed, unit."""

    right: Array
    up: Array
    towards: Array

    @classmethod
    def of(cls, azimuth: float, elevation: float, down: bool = False) -> View:
        """From a direction by its angles [deg]; ``down`` if z points where things fall, which then is below."""
        a, e = np.radians([azimuth, elevation])
        towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        # half a turn about x; turning z alone would show the robot as in a mirror
        turned = np.array([1.0, -1.0, -1.0]) if down else np.ones(3)
        return cls(right * turned, np.cross(towards, right) * turned, towards * turned)

    @classmethod
    def plan(cls, down: bool = False) -> View:
        """From above, x to the right."""
        return cls.of(-90.0, 90.0, down)

    @classmethod
    def side(cls, down: bool = False) -> View:
        """From the side, x to the right."""
        return cls.of(-90.0, 0.0, down)

    def project(self, points: Array) -> Array:
        """Points (..., 3) on paper (..., 2), in the same unit."""
        result: Array = points @ np.stack([self.right, self.up], axis=1)
        return result

    def depth(self, points: Array) -> Array:
        """How near points (..., 3) are to the reader (...)."""
        result: Array = points @ self.towards
        return result


def points_down(robot: Robot) -> bool:
    """Whether the base frame's z axis points where things fall."""
    return robot.gravity[2] > 0


def best_view(robot: Robot, drawn: PosedRobot) -> View:
    """The view from the side and above in which legs hide each other least, at all its poses."""
    views = [View.of(azimuth, elevation, points_down(robot)) for elevation, azimuth in _VIEWS]
    cost = [overlap(view, drawn) + _PREFERENCE * number for number, view in enumerate(views)]
    return views[int(np.argmin(cost))]


def overlap(view: View, drawn: PosedRobot) -> float:
    """Mean share of a leg's lines that another leg's hide or touch, on paper."""
    lines = drawn.lines()
    if not lines:
        return 0.0
    ends = view.project(np.stack([ends for _, ends in lines]))  # (lines, n, 2, 2)
    points = ends[:, :, None, 0] + _SAMPLES * (ends[:, :, None, 1] - ends[:, :, None, 0])  # (lines, n, samples, 2)
    near = _NEAR * float(np.ptp(points.reshape(-1, 2), axis=0).max())
    hidden = 0.0
    for a, b in combinations(range(len(lines)), 2):
        if lines[a][0] != lines[b][0]:
            distance = np.linalg.norm(points[a][:, :, None] - points[b][:, None], axis=-1)
            hidden += float((distance.min(axis=2) < near).mean(axis=1).sum())
    return hidden / (len(lines) * len(drawn.joints))
