"""Motion files and tasks: what a robot is to do, sampled in time."""

from .files import load_motion, loads_motion, located_motion, motion_fault
from .motion import MotionData, Task, sampled
from .published import PUBLISHED, default_motion, published
from .tables import read_table
from .tasks import AROUND_HOME, around_home, make_task

__all__ = [
    "AROUND_HOME",
    "PUBLISHED",
    "MotionData",
    "Task",
    "around_home",
    "default_motion",
    "load_motion",
    "loads_motion",
    "located_motion",
    "make_task",
    "motion_fault",
    "published",
    "read_table",
    "sampled",
]
