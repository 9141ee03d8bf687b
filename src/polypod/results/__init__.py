"""Results along a motion: studies as labelled datasets, sizing tables, figures, reports.

>>> from polypod.results import actuators, study
>>> actuators(study("kim-ryu", "kim-ryu-circle")).columns[1].header
'peak force [N]'
"""

from ..datasets import load_result, robot_of, save_result
from .read import Reaction, limit_report, open_reactions, reactions, violations
from .sizing import actuators, bearings, limits, summary
from .study import BENDING, PARTS, study

__all__ = [
    "BENDING",
    "PARTS",
    "Reaction",
    "actuators",
    "bearings",
    "limit_report",
    "limits",
    "load_result",
    "open_reactions",
    "reactions",
    "robot_of",
    "save_result",
    "study",
    "summary",
    "violations",
]
