"""All poses of a platform for given actuated coordinates, from a robot's own equations."""

from .distances import Poses, SixStruts
from .robots import Solved, equations

__all__ = ["Poses", "SixStruts", "Solved", "equations"]
