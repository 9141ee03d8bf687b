"""All poses of a platform for given actuated coordinates, from a robot's own equations."""

from .contract import Solved
from .distances import Poses, SixStruts
from .robots import PATTERNS, equations

__all__ = ["PATTERNS", "Poses", "SixStruts", "Solved", "equations"]
