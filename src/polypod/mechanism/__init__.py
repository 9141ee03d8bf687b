"""Robots in symbols: what legs and platform say, joined and differentiated."""

from .leg import LegModel
from .mechanism import Attached, Mechanism
from .platform import Freedoms, Inertia, Motion
from .simplify import SIMPLIFICATIONS, Simplification

__all__ = [
    "SIMPLIFICATIONS",
    "Attached",
    "Freedoms",
    "Inertia",
    "LegModel",
    "Mechanism",
    "Motion",
    "Simplification",
]
