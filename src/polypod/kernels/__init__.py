"""Machine code for expression graphs, and the calls into it."""

from .expression import Expression, Iteration, Port, port
from .graph import Graph
from .kernel import Bound, Kernel

__all__ = ["Bound", "Expression", "Graph", "Iteration", "Kernel", "Port", "port"]
