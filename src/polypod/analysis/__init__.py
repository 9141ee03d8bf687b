"""What a model says beyond one state: linear models, workspaces, certified boxes, singularities."""
"""What a model says beyond one state: linearisation, natural modes, stiffness; the home of maps and workspaces."""

from .certified import CertifiedBox, CertifiedMotion, CertifiedVolume, certified_box, certified_volume, certify_motion
from .linear import LinearModel, NaturalModes, linearise, natural_modes
from .singularity import architecture, nearest_singularity, singularity
from .workspace import (
    Requirements,
    constant_orientation,
    dexterous,
    full_workspace,
    orientations_at,
    reachable,
    straight_reach,
    tilt_by_height,
    travel,
    workspace_map,
)

__all__ = [
    "CertifiedBox",
    "CertifiedMotion",
    "CertifiedVolume",
    "LinearModel",
    "NaturalModes",
    "Requirements",
    "architecture",
    "certified_box",
    "certified_volume",
    "certify_motion",
    "constant_orientation",
    "dexterous",
    "full_workspace",
    "linearise",
    "natural_modes",
    "nearest_singularity",
    "orientations_at",
    "reachable",
    "singularity",
    "straight_reach",
    "tilt_by_height",
    "travel",
    "workspace_map",
from .stiffness import Deflection, Stiffness, deflection, resonances, stiffness

__all__ = [
    "Deflection",
    "LinearModel",
    "NaturalModes",
    "Stiffness",
    "deflection",
    "linearise",
    "natural_modes",
    "resonances",
    "stiffness",
]
