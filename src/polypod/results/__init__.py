"""Results along a motion: studies as labelled datasets, sizing tables, figures, reports.

>>> from polypod.results import actuators, study
>>> actuators(study("kim-ryu", "kim-ryu-circle")).columns[1].header
'peak force [N]'
"""

from ..datasets import load_result, robot_of, save_result
from ..limits import LimitUse
from .bearings import bearings
from .intersample import IntersampleCheck, between, judged_between
from .read import Reaction, limit_report, open_reactions, reactions, violations
from .report import write_results
from .setpoints import SetPoints, read_setpoints, setpoints
from .sizing import actuators, foundation, limits, motors, rotor_notes, summary
from .study import BENDING, PARTS, study
from .verdict import Verdict, verdict

__all__ = [
    "BENDING",
    "PARTS",
    "IntersampleCheck",
    "LimitUse",
    "Reaction",
    "SetPoints",
    "Verdict",
    "actuators",
    "bearings",
    "between",
    "foundation",
    "judged_between",
    "limit_report",
    "limits",
    "load_result",
    "motors",
    "open_reactions",
    "reactions",
    "read_setpoints",
    "robot_of",
    "rotor_notes",
    "save_result",
    "setpoints",
    "study",
    "summary",
    "verdict",
    "violations",
    "write_results",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
