"""Elastic modes of plates by finite elements."""

from .plate import plate_modes

__all__ = ["plate_modes"]
