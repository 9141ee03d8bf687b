"""Hexapods that are their own mirror image: half of the poses tell of all."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..workspace.pose_coordinates import PoseCoordinates
from .legs import leg_numbers

_SAME = 1e-13
"""Differences, in sizes of the robot, below which joints and lengths count as mirrored.

They turn a leg of a tenth of that size by less than cosines of cones are widened; what else they change is below the
slack for rounding of lengths (1e-9) and of determinants (1e-11).
"""
_FLIPS = np.array([[1, -1, 1, -1, 1, -1], [-1, 1, 1, 1, -1, -1]], dtype=np.float64)
"""Signs of the coordinates under a reflection of y, and of x, M = diag(1, -1, 1) and diag(-1, 1, 1):

p -> M p and Rz(yaw) Ry(pitch) Rx(roll) -> M Rz Ry Rx M = Rz(-yaw) Ry(+-pitch) Rx(-+roll).
"""


def mirrored(space: PoseCoordinates) -> Array | None:
    """Signs (6,) of the coordinates in a reflection that takes a robot on telescopic legs to itself; None without one.

    With M in base axes and M' = Rh^T M Rh in those of the platform, home is its own image, and each leg's joints,
    lengths and cones are those of another leg (or its own) reflected: the image of a pose has the same lengths and
    angles. The sign of det J is that of the pose too, as it is at home.
    """
    legs, size = leg_numbers(space), space.model.size
    frame, origin = space.home[:3, :3], space.home[:3, 3]
    if (legs[:, 9] < 0.1 * size).any():
        return None  # legs that get so short turn by more than cones are widened
    for signs in _FLIPS:
        across = np.diag(signs[:3])
        own = frame.T @ across @ frame
        still = np.abs(np.r_[across @ origin - origin, own @ space.pivot - space.pivot]).max() < _SAME * size
        image = legs.copy()
        for part, by in ((slice(0, 3), across), (slice(3, 6), own), (slice(11, 14), across), (slice(16, 19), own)):
            image[:, part] = legs[:, part] @ by.T
        unused = legs[:, [21, 22]] == 0
        for k, part in enumerate((slice(11, 16), slice(16, 21))):
            image[unused[:, k], part] = legs[unused[:, k], part]
        off = np.abs(image[:, None] - legs[None]).max(axis=2) < _SAME * min(size, 1.0)
        if still and (off.sum(axis=0) == 1).all() and (off.sum(axis=1) == 1).all():
            return np.asarray(signs)
    return None
