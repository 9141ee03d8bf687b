"""Trajectories: motions of the platform with exact twist and acceleration; one class a kind."""

from .axis import AxisTurn
from .base import CONVENTIONS, AnyTrajectory, Placed, TrajectoryKind
from .coordinates import OwnCoordinates
from .euler import Euler
from .poses import Poses, Waypoint

__all__ = [
    "CONVENTIONS",
    "AnyTrajectory",
    "AxisTurn",
    "Euler",
    "OwnCoordinates",
    "Placed",
    "Poses",
    "TrajectoryKind",
    "Waypoint",
]
