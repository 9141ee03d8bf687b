"""Singularities: which kind, how far away, what the platform does there; robots that are singular in every pose."""

from ...model.architecture import Architecture, architecture
from .nearest import Nearest, NearestSingularities, nearest_singularity
from .report import Screw, SingularityReport, screw_of, singularity

__all__ = [
    "Architecture",
    "Nearest",
    "NearestSingularities",
    "Screw",
    "SingularityReport",
    "architecture",
    "nearest_singularity",
    "screw_of",
    "singularity",
]
