"""Machine code for expression graphs, and the calls into it."""

from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.graph import Graph
from .kernel import Bound, Kernel

__all__ = ["Bound", "Expression", "Graph", "Iteration", "Kernel", "Port", "port"]
