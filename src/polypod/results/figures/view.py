"""From where a robot is best seen: the view in which its legs hide each other least."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import proj3d

from .skeleton import Skeleton

# In the order of preference: a later one must be that much clearer.
_VIEWS = tuple((elevation, azimuth) for elevation in (20, 28) for azimuth in (-55, -65, -45, -75, -35, -25))
_PREFERENCE = 0.01
_NEAR = 0.02  # of the picture's height; closer lines are taken for one
_SAMPLES = np.linspace(0.05, 0.95, 25)[:, None]


def best_view(axes: Any, lines: Skeleton) -> None:
    """Turn three-dimensional axes with their limits set; legs count at all poses of the skeleton."""

    def cost(number: int) -> float:
        axes.view_init(*_VIEWS[number])
        return crowding(axes, lines) + _PREFERENCE * number

    axes.view_init(*_VIEWS[min(range(len(_VIEWS)), key=cost)])


def crowding(axes: Any, lines: Skeleton) -> float:
    """Mean part of a leg's line that lies on another leg's, on paper."""
    matrix = axes.get_proj()
    drawn = []
    for k in range(len(lines.joints)):
        drawn += [(k, bone.leg, bone.ends[k, 0] + _SAMPLES * np.diff(bone.ends[k], axis=0)) for bone in lines.bones]
    flat = [(k, leg, np.stack(proj3d.proj_transform(*points.T, matrix)[:2], axis=1)) for k, leg, points in drawn]
    spread = np.concatenate([points for _, _, points in flat])
    near = _NEAR * float(np.ptp(spread, axis=0).max())
    hidden = 0.0
    for (k, leg, a), (other, neighbour, b) in combinations(flat, 2):
        if k == other and leg != neighbour:
            distance = np.linalg.norm(a[:, None] - b[None], axis=-1)
            hidden += float((distance.min(axis=1) < near).mean())
    return hidden / len(flat)
