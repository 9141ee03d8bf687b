"""Direct dynamics forward in time, with controllers, events and an energy audit."""

from ..datasets import load_result, save_result
from .errors import EnergyWarning, InterruptedWarning, SimulationError
from .events import Event
from .follow import FlexiblePath, follow
from .integrators import METHODS
from .machine import Machine
from .result import Sample, events
from .simulate import simulate, simulate_tracking
from .vector import VectorSimulation

__all__ = [
    "METHODS",
    "EnergyWarning",
    "Event",
    "FlexiblePath",
    "InterruptedWarning",
    "Machine",
    "Sample",
    "SimulationError",
    "VectorSimulation",
    "events",
    "follow",
    "load_result",
    "save_result",
    "simulate",
    "simulate_tracking",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
