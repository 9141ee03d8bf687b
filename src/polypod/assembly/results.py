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
    """Poses with the same actuated coordinates; of a batch all have as many rows as the state with most, NaN beyond.

    ``pose`` (..., k, 4, 4), nearest to home first. ``certified`` (..., k): proven to be one, to within rounding.
    ``own_branch`` (..., k): the legs are in the working mode of the robot's file; other poses hold together as well,
    but the model's functions do not apply there. ``within_limits`` (..., k), of poses of the own branch. ``reachable``
    (..., k) is a ``Reachability``. ``complete`` (...,) is a ``Completeness``.
    """

    pose: Array
    certified: Flags
    own_branch: Flags
    within_limits: Flags
    reachable: NDArray[np.int64]
    complete: NDArray[np.int64]
