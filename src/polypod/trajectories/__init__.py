"""Trajectories: time laws, coordinate paths and platform motions with exact first and second derivatives.

A ``Path`` gives coordinates: ``x, xdot, xddot = path.at(t)``. A ``Trajectory`` gives the platform's motion:
``trajectory.at(t)`` is a ``Motion`` of pose, twist and acceleration. Both last from 0 to ``duration`` s and take
any array of times in between. ``polypod.trajectories.published`` holds the motions of the papers.
"""

from . import published
from .contract import Coordinates, Law, Motion, Path, Trajectory
from .elementary import circle, constant_accelerations, hermite, polynomial, rest, sine, spline
from .laws import constant_speed, cosine, quintic, trapezoid
from .motions import CONVENTIONS, axis_motion, euler_motion, pose_motion
from .paths import line, piecewise, stack, through

__all__ = [
    "CONVENTIONS",
    "Coordinates",
    "Law",
    "Motion",
    "Path",
    "Trajectory",
    "axis_motion",
    "circle",
    "constant_accelerations",
    "constant_speed",
    "cosine",
    "euler_motion",
    "hermite",
    "line",
    "piecewise",
    "polynomial",
    "pose_motion",
    "published",
    "quintic",
    "rest",
    "sine",
    "spline",
    "stack",
    "through",
    "trapezoid",
]
