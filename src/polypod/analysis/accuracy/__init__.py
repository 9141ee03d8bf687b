"""Where the platform may be for all that is not exact: by derivatives, by drawing at random, bounds of all orders."""

from .budget import Budget, budget
from .scatter import Scatter, scatter
from .sources import Source
from .worst import Worst, worst_case

__all__ = ["Budget", "Scatter", "Source", "Worst", "budget", "scatter", "worst_case"]
