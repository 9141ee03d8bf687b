"""Design studies: numbers of a robot varied, motions held, results judged by limits."""

from .evaluate import Evaluator
from .patterns import PATTERNS
from .quantities import QUANTITIES
from .study import Study, StudyFileError, load_study, loads_study
from .sweep import prepare, sweep

__all__ = [
    "PATTERNS",
    "QUANTITIES",
    "Evaluator",
    "Study",
    "StudyFileError",
    "load_study",
    "loads_study",
    "prepare",
    "sweep",
]
