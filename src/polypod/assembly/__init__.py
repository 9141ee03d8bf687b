"""All poses of a platform for given actuated coordinates, from a robot's own equations."""

from .contract import Solved
from .robots import PATTERNS, equations
from .six_distances import PathEnds, SixDistances

__all__ = ["PATTERNS", "PathEnds", "SixDistances", "Solved", "equations"]
