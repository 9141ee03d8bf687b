"""Motions: what a platform does over time, as functions with exact first and second derivatives and as files.

Functions and files are one thing: a kind of path, trajectory, time law or wrench is a class whose fields are those of a
motion file, ``pp.motion.Circle(centre=..., radius=..., ...)`` or ``{kind: circle, centre: ..., radius: ..., ...}``.
A ``Path`` gives coordinates, ``x, xdot, xddot = path.at(t)``; a ``Trajectory`` gives the platform's motion,
``pose, twist, acceleration`` of ``trajectory.at(t)``. Both last from 0 to ``duration`` s and take any array of times in
between. A ``Task`` is a trajectory and the wrench on the platform, sampled for a robot.

>>> up = Euler(path=Line(start=[0, 0, 1, 0, 0, 0], end=[0, 0, 2, 0, 0, 0], duration=2), convention="ZYX")
>>> up.at(1.0).pose[:3, 3]
array([0. , 0. , 1.5])
"""

from . import paths
from .arc_length import ArcLengthPath, PathSample
from .contract import Coordinates, Motion, Path, Trajectory
from .files import MotionFile, Task, dumps_motion, load_motion, loads_motion, motion_fault, with_motion_lines
from .laws import ConstantSpeed, Cosine, Quintic, TimeLaw, Trapezoid
from .moving_base import BaseTrajectory, MovingBase
from .paths import *  # noqa: F403 - all kinds, as their own list has them
from .sampling import sample_times
from .tasks import AROUND_HOME, PUBLISHED, Published, around_home, default_motion, find_motion, make_task
from .trajectories import CONVENTIONS, AxisTurn, Euler, IndependentCoordinates, Poses, Retimed, TrajectoryKind, Waypoint
from .wrench import ConstantWrench, Wrench, WrenchTable

__all__ = [
    "AROUND_HOME",
    "CONVENTIONS",
    "PUBLISHED",
    "ArcLengthPath",
    "AxisTurn",
    "BaseTrajectory",
    "ConstantSpeed",
    "ConstantWrench",
    "Coordinates",
    "Cosine",
    "Euler",
    "IndependentCoordinates",
    "Motion",
    "MotionFile",
    "MovingBase",
    "Path",
    "PathSample",
    "Poses",
    "Published",
    "Quintic",
    "Retimed",
    "Task",
    "TimeLaw",
    "Trajectory",
    "TrajectoryKind",
    "Trapezoid",
    "Waypoint",
    "Wrench",
    "WrenchTable",
    "around_home",
    "default_motion",
    "dumps_motion",
    "find_motion",
    "load_motion",
    "loads_motion",
    "make_task",
    "motion_fault",
    "sample_times",
    "with_motion_lines",
]
__all__ += paths.__all__


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
