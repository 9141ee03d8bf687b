"""Limits: what a robot may do, stated once and judged once."""

from .kinds import DRIVE_KINDS, KINDS, Kind, curve_use
from .limits import BEST_SHARING, OPEN, Limit, RobotLimits, judge
from .report import ROUNDING, LimitReport, LimitUse, left_out_text, within_all

__all__ = [
    "BEST_SHARING",
    "DRIVE_KINDS",
    "KINDS",
    "OPEN",
    "ROUNDING",
    "Kind",
    "Limit",
    "LimitReport",
    "LimitUse",
    "RobotLimits",
    "curve_use",
    "judge",
    "left_out_text",
    "within_all",
]
