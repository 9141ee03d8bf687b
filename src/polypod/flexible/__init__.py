"""Flexible platforms: elastic modes from a plate or a file, their inertia integrals, and the robot on them."""

from ..description.modes import Integrals, Modes, Plate, load_modes, save_modes
from .hexagon import compare_table_2, hexagon_modes, hexagon_plate, hexagon_points, table_2_text
from .model import FlexibleModel
from .path import FlexiblePath
from .plate import plate_modes
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
    "compare_table_2",
    "hexagon_modes",
    "hexagon_plate",
    "hexagon_points",
    "load_modes",
    "plate_modes",
    "save_modes",
    "table_2_text",
]
