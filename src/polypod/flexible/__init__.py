"""Flexible platforms: elastic modes from a plate or a file, their inertia integrals, and the robot on them."""

from .files import load_modes, save_modes
from .hexagon import compare_table_2, hexagon_modes, hexagon_plate, hexagon_points, table_2_text
from .integrals import Integrals
from .model import (
    Equilibrium,
    FlexibleAccelerations,
    FlexibleEnergy,
    FlexibleForces,
    FlexibleModel,
    FlexibleSystem,
)
from .modes import Modes
from .plate import Plate, plate_modes

__all__ = [
    "Equilibrium",
    "FlexibleAccelerations",
    "FlexibleEnergy",
    "FlexibleForces",
    "FlexibleModel",
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
