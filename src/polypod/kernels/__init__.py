"""Machine code for expression graphs, and the calls into it."""

from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.graph import Graph
from .block import Signature
from .cache_key import CacheKey
from .kernel import Bound, Call, CheckedCall, Kernel, PlainCall, designs_of_states, row_per_state
from .machine import COMPILING

__all__ = [
    "COMPILING",
    "Bound",
    "CacheKey",
    "Call",
    "CheckedCall",
    "Expression",
    "Graph",
    "Iteration",
    "Kernel",
    "PlainCall",
    "Port",
    "Signature",
    "designs_of_states",
    "port",
    "row_per_state",
]
