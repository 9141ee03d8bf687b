"""Robots as frozen, validated data."""

from .body import Body
from .flexible import FlexiblePlatform, PlateData
from .leg import ConeLimit, Friction, LegData
from .robot import Freedom, Pose, Robot

__all__ = [
    "Body",
    "ConeLimit",
    "FlexiblePlatform",
    "Freedom",
    "Friction",
    "LegData",
    "PlateData",
    "Pose",
    "Robot",
]
