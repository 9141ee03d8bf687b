"""Robots as frozen, validated data, and the files they come from."""

from importlib import import_module

from .body import Body
from .files import dumps, library, load, loads, save
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
    "dumps",
    "library",
    "load",
    "loads",
    "save",
]

# Leg kinds register themselves when they are imported, and a robot file may name any of them: whoever reads files has
# them. Last, since they are made from the names above.
import_module("..legs", __name__)
