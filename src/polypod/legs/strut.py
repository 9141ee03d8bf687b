"""What a leg is to its platform while its actuator stands still: a strut between two joints, or a hinged one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array


class Strut(NamedTuple):
    """For coordinates (...,): the platform's joint stays at a distance from a point that only the coordinate moves.

    ``point`` (..., 3) [m], base frame; ``length`` (...,) [m]; ``joint`` (3) on the platform, platform frame. With
    ``axis`` (..., 3) the joint moves on the circle about that axis through ``point``, else on the whole sphere.
    ``ball`` says that the joint lets the platform turn as it likes. A strut without length holds the joint itself.
    Where both joints are hinges, ``hinge`` (3), platform frame, is the axis of the platform's, ``cosine`` that of its
    angle with ``axis``, which stays, and ``start`` (..., 3) where the other is drawn.
    """

    point: Array
    length: Array
    joint: Array
    axis: Array | None = None
    ball: bool = True
    hinge: Array | None = None
    cosine: float = 0.0
    start: Array | None = None

    def at(self, states: NDArray[np.int64]) -> Strut:
        """At some of its coordinates (n,)."""
        axis, start = (None if part is None else part[states] for part in (self.axis, self.start))
        return self._replace(point=self.point[states], length=self.length[states], axis=axis, start=start)
