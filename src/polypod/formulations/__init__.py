"""Ways from motion to forces, one file each, all with the same contract and all equal to rounding.

A formulation is a function ``(mechanism, friction) -> Expression`` with inputs pose, twist, acceleration, wrench
and outputs force and quality.
"""

from __future__ import annotations

from collections.abc import Callable

from ..kernels import Expression
from ..mechanism import Mechanism
from . import virtual_power

Formulation = Callable[[Mechanism, bool], Expression]

FORMULATIONS: dict[str, Formulation] = {
    "virtual-power": virtual_power.inverse_dynamics,
}

__all__ = ["FORMULATIONS", "Formulation"]
