"""Lagrange: matrices and forces from the energies of the bodies (Lopes)."""

from .dynamics import body_names, energies, inverse_dynamics, matrices
from .parts import PARTS

__all__ = ["PARTS", "body_names", "energies", "inverse_dynamics", "matrices"]
