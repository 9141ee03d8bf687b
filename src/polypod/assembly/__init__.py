"""All poses of a platform for given actuated coordinates, from a robot's own equations."""

from .contract import Solutions
from .robots import PATTERNS, pose_solver
from .six_distances import PathEnds, SixDistances

__all__ = ["PATTERNS", "PathEnds", "SixDistances", "Solutions", "pose_solver"]
