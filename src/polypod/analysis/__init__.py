"""What a model says beyond one state: linear models, workspaces, singularities, stiffness, accuracy."""

from ..assembly import Architecture, architecture
from .accuracy import Budget, Scatter, Worst, budget, scatter, worst_case
from .cables import CableSag, sag
from .certified import (
    CertifiedBox,
    CertifiedMotion,
    CertifiedVolume,
    MotionBounds,
    bound_motion,
    certified_box,
    certified_volume,
    certify_motion,
)
from .linear import LinearModel, NaturalModes, linearise, natural_modes
from .redundancy import internal_coordinates
from .singularity import Nearest, NearestSingularities, Screw, SingularityReport, nearest_singularity, singularity
from .stiffness import Deflection, Stiffness, deflection, resonances, stiffness
from .tolerances import Growth, Tolerance, Tolerances, load_tolerances
from .transmission import transmission
from .workspace import (
    Requirements,
    constant_orientation,
    dexterous,
    full_workspace,
    orientations_at,
    reachable,
    straight_reach,
    surface_triangles,
    tilt_by_height,
    travel,
    workspace_map,
)
from .wrenches import WrenchClosure, WrenchFeasibility, wrench_closure, wrench_feasible

__all__ = [
    "Architecture",
    "Budget",
    "CableSag",
    "CertifiedBox",
    "CertifiedMotion",
    "CertifiedVolume",
    "Deflection",
    "Growth",
    "LinearModel",
    "MotionBounds",
    "NaturalModes",
    "Nearest",
    "NearestSingularities",
    "Requirements",
    "Scatter",
    "Screw",
    "SingularityReport",
    "Stiffness",
    "Tolerance",
    "Tolerances",
    "Worst",
    "WrenchClosure",
    "WrenchFeasibility",
    "architecture",
    "bound_motion",
    "budget",
    "certified_box",
    "certified_volume",
    "certify_motion",
    "constant_orientation",
    "deflection",
    "dexterous",
    "full_workspace",
    "internal_coordinates",
    "linearise",
    "load_tolerances",
    "natural_modes",
    "nearest_singularity",
    "orientations_at",
    "reachable",
    "resonances",
    "sag",
    "scatter",
    "singularity",
    "stiffness",
    "straight_reach",
    "surface_triangles",
    "tilt_by_height",
    "transmission",
    "travel",
    "workspace_map",
    "worst_case",
    "wrench_closure",
    "wrench_feasible",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
