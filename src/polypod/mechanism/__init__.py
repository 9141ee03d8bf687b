"""Robots in symbols: what legs and platform say, joined and differentiated."""

from .leg import LegModel
from .mechanism import LegAtState, Mechanism
from .simplify import SIMPLIFICATIONS, Simplification

__all__ = ["SIMPLIFICATIONS", "LegAtState", "LegModel", "Mechanism", "Simplification"]
