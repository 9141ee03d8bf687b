"""Direct dynamics forward in time, with controllers, events and an energy audit; linear models about a state."""

from ..analysis.linear import LinearModel, NaturalModes, linearise, natural_modes
from .errors import InterruptedWarning, SimulationError
from .events import Event
from .integrators import METHODS
from .result import events, load_result, save_result
from .simulate import simulate

__all__ = [
    "METHODS",
    "Event",
    "InterruptedWarning",
    "LinearModel",
    "NaturalModes",
    "SimulationError",
    "events",
    "linearise",
    "load_result",
    "natural_modes",
    "save_result",
    "simulate",
]
