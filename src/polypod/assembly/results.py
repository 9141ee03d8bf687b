"""What a model says of assembly modes."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

Flags = NDArray[np.bool_]


class Completeness(IntEnum):
    """What is known of a set of assembly modes."""

    NOT_PROVEN = 0
    ALL_FOUND = 1
    PROVEN = 2

    @property
    def meaning(self) -> str:
        """What the code means, in words."""
        return {
            Completeness.NOT_PROVEN: "not proven complete: there may be more modes than these",
            Completeness.ALL_FOUND: "all solutions found numerically (not certified)",
            Completeness.PROVEN: "proven complete: there are no other modes",
        }[self]


class Reachability(IntEnum):
    """Whether a mode can be reached from home without crossing a singularity."""

    NO = -1
    UNKNOWN = 0
    YES = 1


class AssemblyModes(NamedTuple):
    """Poses with the same actuated coordinates, nearest to home first.

    In a batch all states have as many rows as the one with most; the others end with NaN.

    Attributes
    ----------
    pose : ndarray, shape (..., k, 4, 4)
        Poses of {P} in {B}.
    certified : ndarray of bool, shape (..., k)
        Whether each is proven to be a solution, to within rounding.
    own_branch : ndarray of bool, shape (..., k)
        Whether the legs are in the working mode of the robot's file; the model's functions do not apply to other poses.
    within_limits : ndarray of bool, shape (..., k)
        Whether poses of the own branch are within the robot's limits of poses: ranges, cones and clearances.
    reachable : ndarray of int, shape (..., k)
        A ``Reachability``.
    complete : ndarray of int, shape (...)
        A ``Completeness``.
    """

    pose: Array
    certified: Flags
    own_branch: Flags
    within_limits: Flags
    reachable: NDArray[np.int64]
    complete: NDArray[np.int64]
