"""The fastest motion along a path within the limits of actuators and joints."""

from .limits import KINDS, Limits
from .solve import Fastest, fastest, way
from .way import Way

__all__ = ["KINDS", "Fastest", "Limits", "Way", "fastest", "way"]
