"""How far around a pose no pose is singular, for certain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..workspace.pose_coordinates import PoseCoordinates
from .boxes import Boxes
from .hexapod_jacobian import HexapodJacobian
from .implicit import enclosure_of
from .legs import Chart, is_ups_hexapod

_AT_ONCE = 2048
_ALL_BUT = 0.99
"""Part of the distance asked for that is proven at most: at the distance itself there is a singular pose."""


def singularity_free_distance(
    space: PoseCoordinates, pose: Array, used: NDArray[np.bool_], farthest: float, most: int = 40_000
) -> float:
    """Distance [m] from a pose (4, 4) below which none is singular, for certain; at most 0.99 of ``farthest``.

    Displacements are along and about the coordinates ``used`` (m,); the distance of one by d [m] and a turn by a [rad]
    is hypot(d, size a). Boxes of displacements are bisected, nearest first, until those nearer than
    ``farthest`` are known to be regular or ``most`` boxes were looked at: the nearest that is left is the bound. Of
    robots of fewer than six degrees of freedom displacements are those of their coordinates.
    """
    if not used.any() or not np.isfinite(farthest):
        return 0.0
    test = _Test(space, pose)
    size = space.model.size
    angle = min(farthest / size, 0.9 * np.pi)
    half = np.where(space.turns, np.tan(0.5 * angle) if space.full else angle, farthest) * used
    scale = np.where(space.turns, (2.0 if space.full else 1.0) * size, 1.0)
    boxes, taken, target = Boxes.one(-half, half), 0, _ALL_BUT * min(farthest, size * angle)
    near = np.zeros(1)
    while taken < most and len(near) and near.min() < target:
        order = np.argsort(near)
        first, rest = order[:_AT_ONCE], order[_AT_ONCE:]
        part = boxes.only(first)
        taken += len(first)
        halves = part.only(~test(part)).split(scale)
        boxes = Boxes.joined([halves, boxes.only(rest)])
        near = _nearest(boxes, space, size)
        kept = near < target
        boxes, near = boxes.only(kept), near[kept]
    return float(min(near.min(initial=target), target)) * (1 - 1e-12)


def _nearest(boxes: Boxes, space: PoseCoordinates, size: float) -> Array:
    """Distance (n,) of the nearest displacement of each box."""
    nearest = np.maximum(np.maximum(boxes.low, -boxes.high), 0.0)
    move, turn = (np.linalg.norm(nearest[:, part], axis=1) for part in (~space.turns, space.turns))
    return np.asarray(np.hypot(move, size * (2 * np.arctan(turn) if space.full else turn)))


class _Test:
    """Whether all poses of boxes of displacements about a pose are regular."""

    def __init__(self, space: PoseCoordinates, pose: Array) -> None:
        self.pose, self.full = pose, space.full
        self.start = np.zeros(6) if space.full else np.asarray(space.model.coordinates(pose))
        chart: Chart = "about" if space.full else "coordinates"
        self.jacobian = HexapodJacobian(space, "about") if is_ups_hexapod(space) else None
        self.enclosure = None if self.jacobian else enclosure_of(space, chart)

    def __call__(self, boxes: Boxes) -> NDArray[np.bool_]:
        poses = np.repeat(self.pose[None], len(boxes.low), axis=0)
        if self.jacobian is not None:
            return np.asarray(self.jacobian(boxes.low, boxes.high, poses).sign != 0)
        assert self.enclosure is not None
        ends = self.start + boxes.low, self.start + boxes.high
        return self.enclosure(*ends, poses if self.full else None).regular
