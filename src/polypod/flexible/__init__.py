"""Flexible platforms: elastic modes from a plate or a file, their inertia integrals, and the robot on them."""

from ..description.modes import Integrals, Modes, Plate, load_modes, save_modes
from ..plates.plate import plate_modes
from .model import FlexibleModel
from .path import FlexiblePath
from .results import ActuatorMotion, Equilibrium, FlexibleAccelerations, FlexibleEnergy, FlexibleForces, FlexibleSystem

__all__ = [
    "ActuatorMotion",
    "Equilibrium",
    "FlexibleAccelerations",
    "FlexibleEnergy",
    "FlexibleForces",
    "FlexibleModel",
    "FlexiblePath",
    "FlexibleSystem",
    "Integrals",
    "Modes",
    "Plate",
    "load_modes",
    "plate_modes",
    "save_modes",
]
