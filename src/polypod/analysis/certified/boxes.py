"""Boxes of coordinates decided for certain, and the largest box around a pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...errors import InputError
from ...model import Model
from ..workspace.extent import outside_message
from ..workspace.pose_coordinates import PoseCoordinates, WorkspaceTest
from ..workspace.travel import travel
from .implicit import AnyEnclosure, enclosure_of
from .intervals import Mask


class CertifiedBox(NamedTuple):
    """A box of coordinates all poses of which are proven to be in the workspace.

    Attributes
    ----------
    low, high : ndarray, shape (m,)
        Ends of the box [m, rad].
    beyond : ndarray, shape (m,)
        Half-widths, in the same proportions, that were not certified.
    beyond_outside : bool
        Whether a box of that size contains a pose outside the workspace; otherwise the effort was too small.
    boxes : int
        Number of boxes examined.
    left_out : mapping of str to str
        Limits of the robot file that are not judged, and why.
    """

    low: Array
    high: Array
    beyond: Array
    beyond_outside: bool
    boxes: int
    left_out: Mapping[str, str]


class Boxes(NamedTuple):
    """Boxes from low to high (n, k).

    ``regular`` (n,): legs are known to close and det J to keep its sign; ``within_cones`` (n,): all cones to hold.
    """

    low: Array
    high: Array
    regular: Mask
    within_cones: Mask

    @staticmethod
    def one(low: Array, high: Array) -> Boxes:
        """A single box (k,) of which nothing is known."""
        nothing = np.zeros(1, dtype=bool)
        return Boxes(low[None].copy(), high[None].copy(), nothing, nothing)

    @staticmethod
    def joined(parts: Sequence[Boxes]) -> Boxes:
        """The boxes of several batches, one batch after the other, copied."""
        low, high, regular, within_cones = zip(*parts, strict=True)
        return Boxes(np.concatenate(low), np.concatenate(high), np.concatenate(regular), np.concatenate(within_cones))

    @property
    def volumes(self) -> Array:
        """Volume of each box (n,)."""
        return np.asarray(np.prod(self.high - self.low, axis=1))

    def only(self, which: slice | Mask | NDArray[np.int64]) -> Boxes:
        """Some of the boxes, by index or mask."""
        return Boxes(self.low[which], self.high[which], self.regular[which], self.within_cones[which])

    def split(self, scale: Array) -> Boxes:
        """Every box in two halves across the coordinate in which it is largest, by a scale (k,) or one a box (n, k)."""
        rows = np.arange(len(self.low))
        widest = ((self.high - self.low) * scale).argmax(axis=1)
        middle = 0.5 * (self.low[rows, widest] + self.high[rows, widest])
        left, right = self.high.copy(), self.low.copy()
        left[rows, widest] = right[rows, widest] = middle
        ends = np.concatenate([self.low, right]), np.concatenate([left, self.high])
        return Boxes(*ends, np.tile(self.regular, 2), np.tile(self.within_cones, 2))


def certify_box(
    enclosure: AnyEnclosure, low: Array, high: Array, scale: Array, most: int = 20_000, pose: Array | None = None
) -> tuple[bool, bool, int]:
    """Whether a box is inside for certain; whether some of it is outside for certain; and how many boxes it took.

    ``pose`` (4, 4) is what a box of displacements is about.
    """
    boxes, taken = Boxes.one(low, high), 0
    while len(boxes.low) and taken < most:
        about = None if pose is None else np.repeat(pose[None], len(boxes.low), axis=0)
        verdict = enclosure(boxes.low, boxes.high, about, boxes.regular)
        taken += len(boxes.low)
        if verdict.outside.any():
            return False, True, taken
        boxes = boxes._replace(regular=verdict.regular).only(~verdict.inside).split(scale)
    return not len(boxes.low), False, taken


def certified_box(
    model: Model,
    at: Mapping[str, float] | None = None,
    half: Mapping[str, float] | None = None,
    pivot: ArrayLike | None = None,
    most: int = 20_000,
) -> CertifiedBox:
    """The largest box around a pose in which the robot provably keeps all limits and meets no singularity.

    Limits are ranges and cones; ``left_out`` of the result names others, clearances among them, that are not proven.
    The largest multiple of the proportions that is certified is found, then each side is moved out as far as possible
    while the others stay.

    Parameters
    ----------
    model : Model
        Model of the robot.
    at : mapping of str to float, optional
        Coordinates as offsets from home [m, rad], such as ``{"z": 0.02}``. Default: home.
    half : mapping of str to float, optional
        Proportions of the box by coordinate; 0 keeps a coordinate fixed. Default: those of the combined travel of all
        coordinates.
    pivot : array_like, shape (3,), optional
        Centre of rotation in the platform frame [m]. Default: the origin of {P}.
    most : int, optional
        Largest number of boxes to examine.

    Returns
    -------
    CertifiedBox
        The box.

    Raises
    ------
    InputError
        If the pose is outside the workspace.
    """
    space = PoseCoordinates(model, pivot)
    test = WorkspaceTest(space)
    start = space.point(at)
    if not test(start[None]).inside[0]:
        raise InputError(outside_message(test, start), code="outside_workspace")
    if half is None:
        found = travel(model, at, pivot)
        shape = np.nan_to_num(found.together.values[-1]) if len(found.group) else found.high.values - start
    else:
        shape = np.abs(space.point(half))
    if not shape.any():
        raise InputError("half: at least one coordinate needs a half-width greater than 0")
    enclosure = enclosure_of(space)
    scale = np.where(space.turns, space.model.size, 1.0)
    boxes, good, bad, outside_ = 0, 0.0, 4.0, False
    for _ in range(14):
        part = 0.5 * (good + bad)
        sure, out, taken = certify_box(enclosure, start - part * shape, start + part * shape, scale, most)
        boxes += taken
        good, bad = (part, bad) if sure else (good, part)
        outside_ = outside_ if sure else out
    low, high = start - good * shape, start + good * shape
    for k in np.flatnonzero(shape):
        for end, sign in ((low, -1.0), (high, 1.0)):
            grown, too_far = end[k], end[k] + sign * shape[k]
            for _ in range(8):
                trial = 0.5 * (grown + too_far)
                bottom, top = low.copy(), high.copy()
                (bottom if sign < 0 else top)[k] = trial
                sure, _, taken = certify_box(enclosure, bottom, top, scale, most // 4)
                boxes += taken
                grown, too_far = (trial, too_far) if sure else (grown, trial)
            end[k] = grown
    return CertifiedBox(low, high, bad * shape, outside_, boxes, test.not_proven)
