"""The exact sign, which jumps."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .contract import FrictionLaw


@dataclass(frozen=True)
class Exact(FrictionLaw):
    """w/|w|, and 0 at rest."""

    width: float = 0.0

    def direction(self, rate: ca.SX) -> ca.SX:
        """w/|w|"""
        return rate * (1 / ca.fmax(ca.sqrt(ca.dot(rate, rate)), 1e-150))
