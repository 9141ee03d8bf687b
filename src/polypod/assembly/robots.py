"""Which robots have equations whose solutions are all known: one pattern a file, tried in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..legs import Leg
from ..platforms import DegreesOfFreedom
from .circles import ThreeOnCircles
from .cones import ThreeCones
from .contract import Candidate, Pattern, Solutions
from .five_bar import FiveBar
from .plane import ThreeInAPlane
from .six_struts import SixStruts
from .spheres import ThreeSpheres

PATTERNS: tuple[type[Pattern], ...] = (SixStruts, FiveBar, ThreeCones, ThreeSpheres, ThreeInAPlane, ThreeOnCircles)
"""Every pattern; the first that matches is taken."""


def pose_solver(robot: Robot, dof: DegreesOfFreedom, is_constrained: bool) -> Callable[[Array], Solutions] | None:
    """The function that gives all poses with actuated coordinates (m, n); None for a robot without a pattern."""
    legs = [leg for leg in robot.legs if isinstance(leg, Leg)]
    two = np.arange(2.0)  # what differs between two coordinates is moved by the actuator
    alone = len(legs) == len(robot.legs) and all(len(leg.actuator_names()) == 1 for leg in legs)
    tried = [leg.strut(two) for leg in legs] if alone and not robot.flexible else []
    struts = [strut for strut in tried if strut is not None]
    if not struts or len(struts) != len(tried):
        return None
    candidate = Candidate(robot, dof, is_constrained, struts)
    found = next((one for pattern in PATTERNS if (one := pattern.match(candidate)) is not None), None)
    if found is None:
        return None

    def solve(q: Array) -> Solutions:
        return found.solve([strut for k, leg in enumerate(legs) if (strut := leg.strut(q[:, k])) is not None])

    return solve
