"""Trajectories: motions of the platform with exact twist and acceleration; one class a kind."""

from .axis import AxisTurn
from .base import CONVENTIONS, AnyTrajectory, Placed, TrajectoryKind
from .coordinates import IndependentCoordinates
from .euler import Euler
from .poses import Poses, Waypoint
from .retimed import Retimed

__all__ = [
    "CONVENTIONS",
    "AnyTrajectory",
    "AxisTurn",
    "Euler",
    "IndependentCoordinates",
    "Placed",
    "Poses",
    "Retimed",
    "TrajectoryKind",
    "Waypoint",
]
