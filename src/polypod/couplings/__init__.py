"""Relations between displacements of joints, one file a kind: each states its factors."""

from .belt import Belt
from .coupling import Coupling, Relation, Term, parse_coupling
from .differential import Differential
from .gear import Gear
from .linear import Linear
from .mimic import Mimic
from .screw import Screw

__all__ = [
    "Belt",
    "Coupling",
    "Differential",
    "Gear",
    "Linear",
    "Mimic",
    "Relation",
    "Screw",
    "Term",
    "parse_coupling",
]
