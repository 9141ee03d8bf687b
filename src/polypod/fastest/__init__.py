"""The fastest motion along a path within the limits of actuators and joints."""

from .limits import KINDS, Limits
from .path_grid import PathGrid
from .solve import Fastest, fastest, prepare_grid

__all__ = ["KINDS", "Fastest", "Limits", "PathGrid", "fastest", "prepare_grid"]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
