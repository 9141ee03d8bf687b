"""Ways from motion to forces, one file each, all with the same contract and all equal to rounding.

A formulation is a function ``(mechanism, friction, loads=None) -> Expression`` with inputs pose, twist, acceleration,
wrench (and loads, where dry friction depends on them) and outputs force and quality.
"""

from __future__ import annotations

from collections.abc import Callable

from ..friction import Loads
from ..mechanism import Mechanism
from ..symbols.expression import Expression
from . import lagrange, newton_euler, recursive_matrix, virtual_power

Formulation = Callable[[Mechanism, bool, Loads | None], Expression]

FORMULATIONS: dict[str, Formulation] = {
    "virtual-power": virtual_power.inverse_dynamics,
    "newton-euler": newton_euler.inverse_dynamics,
    "lagrange": lagrange.inverse_dynamics,
    "recursive-matrix": recursive_matrix.inverse_dynamics,
}

__all__ = ["FORMULATIONS", "Formulation"]
