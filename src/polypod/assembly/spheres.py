"""Poses of platforms that do not turn, held by three struts (Delta robots): three spheres meet in two points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def common_points(centres: Array, radii: Array) -> Array:
    """Points (m, 2, 3) at radii (m, 3) from centres (m, 3, 3); NaN where the spheres do not meet.

    Differences of the equations are two planes, 2 (c_i - c_1).(p - c_1) = r_1^2 - r_i^2 + |c_i - c_1|^2; their common
    line meets the first sphere.
    """
    first, others = centres[:, 0], centres[:, 1:] - centres[:, :1]
    right = (radii[:, :1] ** 2 - radii[:, 1:] ** 2 + (others * others).sum(axis=2)) / 2
    line = np.cross(others[:, 0], others[:, 1])
    square = (line * line).sum(axis=1)
    with np.errstate(all="ignore"):
        # the point of the line next to the first centre
        near = (right[:, :1] * np.cross(others[:, 1], line) + right[:, 1:] * np.cross(line, others[:, 0])) / square[
            :, None
        ]
        half = np.sqrt((radii[:, 0] ** 2 - (near * near).sum(axis=1)) / square)[:, None] * line
        return np.stack([first + near + half, first + near - half], axis=1)
