"""The hexagonal plate of the paper on flexible platforms, which many tests of flexible robots use."""

from polypod.papers.long.cases import hexagon_modes, hexagon_plate, hexagon_points

__all__ = ["hexagon_modes", "hexagon_plate", "hexagon_points"]
