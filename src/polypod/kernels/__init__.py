"""Machine code for expression graphs, and the calls into it."""

from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.graph import Graph
from .call import Call
from .kernel import Bound, Kernel

__all__ = ["Bound", "Call", "Expression", "Graph", "Iteration", "Kernel", "Port", "port"]
