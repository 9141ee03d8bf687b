"""Machine code for expression graphs, and the calls into it."""

from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.graph import Graph
from .block import Signature
from .kernel import Bound, Call, CheckedCall, Kernel, SmallBatch
from .machine import COMPILING

__all__ = [
    "COMPILING",
    "Bound",
    "Call",
    "CheckedCall",
    "Expression",
    "Graph",
    "Iteration",
    "Kernel",
    "Port",
    "Signature",
    "SmallBatch",
    "port",
]
