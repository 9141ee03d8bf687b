"""A sign that is smooth over a stated width."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .contract import FrictionLaw


@dataclass(frozen=True)
class Smooth(FrictionLaw):
    """w/sqrt(w.w + width^2): short of 1 by (width/|w|)^2/2 at a rate w."""

    width: float = 1e-6

    def direction(self, rate: ca.SX) -> ca.SX:
        """w/sqrt(w.w + width^2)"""
        return rate * (1 / ca.sqrt(ca.dot(rate, rate) + self.width**2))
