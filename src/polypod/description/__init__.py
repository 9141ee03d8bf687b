"""Robots as frozen, validated data, and the files they come from."""

from .body import Body
from .files import dumps, library, load, loads, save
from .leg import ConeLimit, Friction, LegData
from .robot import Freedom, Pose, Robot

__all__ = [
    "Body",
    "ConeLimit",
    "Freedom",
    "Friction",
    "LegData",
    "Pose",
    "Robot",
    "dumps",
    "library",
    "load",
    "loads",
    "save",
]
