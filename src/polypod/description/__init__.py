"""Robots as frozen, validated data."""

from .body import Body, Payload
from .dof import DegreeOfFreedom, InternalCoordinate
from .drive import Bearing, Drive, PlatformLimits
from .element import ElementData
from .flexible import FlexiblePlatform, PlateData
from .leg import ConeLimit, Friction, LegData
from .modes import Integrals, Modes, Plate, load_modes, save_modes
from .poses import Pose
from .robot import Robot

__all__ = [
    "Bearing",
    "Body",
    "ConeLimit",
    "DegreeOfFreedom",
    "Drive",
    "ElementData",
    "FlexiblePlatform",
    "Friction",
    "Integrals",
    "InternalCoordinate",
    "LegData",
    "Modes",
    "Payload",
    "Plate",
    "PlateData",
    "PlatformLimits",
    "Pose",
    "Robot",
    "load_modes",
    "save_modes",
]
