"""Lagrange: matrices and forces from the energies of the bodies (Lopes)."""

from .dynamics import inverse_dynamics, platform_part
from .legs import LegEnergies
from .parts import PARTS, Matrices, euler_axes

__all__ = ["PARTS", "LegEnergies", "Matrices", "euler_axes", "inverse_dynamics", "platform_part"]
