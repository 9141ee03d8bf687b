"""Elastic modes of a platform as data: nodes, masses, shapes and stiffness, their files, and plates that have some."""

from .files import load_modes, save_modes
from .integrals import Integrals
from .modes import Modes
from .plate import Plate

__all__ = ["Integrals", "Modes", "Plate", "load_modes", "save_modes"]
