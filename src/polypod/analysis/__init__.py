"""What a model says beyond one state: linear models, workspaces, certified boxes, singularities."""
"""What a model says beyond one state: linearisation, natural modes, stiffness; the home of maps and workspaces."""

from .certified import CertifiedBox, CertifiedMotion, CertifiedVolume, certified_box, certified_volume, certify_motion
"""What a model says beyond one state: linear models, stiffness, accuracy; the home of maps and workspaces."""

from .accuracy import Budget, Scatter, Worst, budget, scatter, worst_case
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
from .tolerances import Growth, Tolerance, Tolerances, load_tolerances

__all__ = [
    "Budget",
    "Deflection",
    "Growth",
    "LinearModel",
    "NaturalModes",
    "Scatter",
    "Stiffness",
    "Tolerance",
    "Tolerances",
    "Worst",
    "budget",
    "deflection",
    "linearise",
    "load_tolerances",
    "natural_modes",
    "resonances",
    "scatter",
    "stiffness",
    "worst_case",
]
