"""Robots in symbols: what legs and platform say, joined and differentiated."""

from .leg import LegModel
from .leg_at_state import LegAtState
from .mechanism import Mechanism
from .simplify import SIMPLIFICATIONS, Simplification

__all__ = ["SIMPLIFICATIONS", "LegAtState", "LegModel", "Mechanism", "Simplification"]
