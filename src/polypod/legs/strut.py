"""What a leg is to its platform while its actuator stands still: a strut between two joints, or a hinged one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Strut(NamedTuple):
    """For coordinates (...,): the platform's joint stays at a distance from a point that only the coordinate moves.

    ``point`` (..., 3) [m], base frame; ``length`` (...,) [m]; ``joint`` (3) on the platform, platform frame. With
    ``axis`` (..., 3) the joint moves on the circle about that axis through ``point``, else on the whole sphere.
    ``ball`` says that the joint lets the platform turn as it likes. A strut without length holds the joint itself.
    """

    point: Array
    length: Array
    joint: Array
    axis: Array | None = None
    ball: bool = True
