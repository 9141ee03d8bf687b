"""The contract of a law of dry friction."""

from __future__ import annotations

from abc import ABC, abstractmethod

import casadi as ca


class FrictionLaw(ABC):
    """How the direction of a rate is taken; ``width`` is the rate [m/s or rad/s] over which it changes sign."""

    width: float

    @abstractmethod
    def direction(self, rate: ca.SX) -> ca.SX:
        """The unit vector (or sign) of a rate, between -1 and 1, odd in it."""
