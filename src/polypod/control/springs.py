"""Linear springs and dampers in place of actuators: f = f_0 - k (q - q_0) - c qdot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from .contract import Measurement, each, gain


class Springs:
    """A step function (time, measurement) -> forces that knows the energy it stores."""

    def __init__(
        self, stiffness: ArrayLike, rest: ArrayLike, damping: ArrayLike = 0.0, preload: ArrayLike = 0.0
    ) -> None:
        """``stiffness`` [N/m], ``damping`` [N s/m], ``preload`` f_0 [N] are numbers or (n,); ``rest`` q_0 (n,) [m]."""
        self.rest: Array = np.array(rest, dtype=np.float64)
        if self.rest.ndim != 1 or not np.isfinite(self.rest).all():
            raise InputError(f"rest: finite actuated coordinates (n,) are needed, got {self.rest.tolist()}")
        count = len(self.rest)
        self.stiffness, self.damping = gain("stiffness", stiffness, count), gain("damping", damping, count)
        self.preload = each("preload", preload, count)

    def __call__(self, time: float, measurement: Measurement) -> Array:
        """Forces (n,) [N]."""
        stretch = measurement.q - self.rest
        return self.preload - self.stiffness * stretch - self.damping * measurement.qdot

    def energy(self, q: Array) -> Array:
        """Energy stored (...) [J] at coordinates (..., n): sum k (q - q_0)^2/2 - f_0 (q - q_0)."""
        stretch = q - self.rest
        stored: Array = (0.5 * self.stiffness * stretch**2 - self.preload * stretch).sum(axis=-1)
        return stored
