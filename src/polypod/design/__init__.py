"""Design studies: numbers of a robot varied, motions held, results judged by limits."""

from .drives import Candidate, CatalogueFileError, DriveFit, DriveSelection, load_catalogue, select_drives
from .evaluate import Evaluator
from .patterns import PATTERNS
from .prepared import Prepared, prepare
from .quantities import QUANTITIES
from .study import Study, StudyFileError, load_study, loads_study
from .sweep import run, sweep

__all__ = [
    "PATTERNS",
    "QUANTITIES",
    "Candidate",
    "CatalogueFileError",
    "DriveFit",
    "DriveSelection",
    "Evaluator",
    "Prepared",
    "Study",
    "StudyFileError",
    "load_catalogue",
    "load_study",
    "loads_study",
    "prepare",
    "run",
    "select_drives",
    "sweep",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
