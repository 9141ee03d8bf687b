"""Motion that is made while it runs: to targets that may change every cycle, along streams of lines, from a vehicle's
cues.

Each is a step of bounded time, in Python and as exported C: ``polypod export c ROBOT online_step``.
"""

from .path import PathState, PathStream
from .targets import OnlineMotion, OnlinePlan, OnlineState, actuator_ranges
from .washout import Washout, WashoutState

__all__ = [
    "OnlineMotion",
    "OnlinePlan",
    "OnlineState",
    "PathState",
    "PathStream",
    "Washout",
    "WashoutState",
    "actuator_ranges",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
