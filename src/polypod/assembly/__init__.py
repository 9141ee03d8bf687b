"""All poses of a platform for given actuated coordinates, from a robot's own equations."""

from .architecture import Architecture, architecture
from .contract import Solutions
from .modes import Assembly
from .results import AssemblyModes, Completeness, Reachability
from .robots import PATTERNS, pose_solver
from .six_distances import PathEnds, SixDistances

__all__ = [
    "PATTERNS",
    "Architecture",
    "Assembly",
    "AssemblyModes",
    "Completeness",
    "PathEnds",
    "Reachability",
    "SixDistances",
    "Solutions",
    "architecture",
    "pose_solver",
]
