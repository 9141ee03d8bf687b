"""Linear springs and dampers in place of actuators: f = f_0 - k (q - q_0) - c qdot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from .contract import Measurement, each, gain


class Springs:
    """Linear springs and dampers in place of actuators: f = f_0 - k (q - q_0) - c qdot.

    Call it as ``springs(time, measurement)``, which gives the forces (n,).

    Parameters
    ----------
    stiffness : array_like
        k [N/m or N m/rad], one number or (n,).
    rest : array_like, shape (n,)
        q_0 [m or rad].
    damping : array_like, optional
        c [N s/m or N m s/rad], one number or (n,).
    preload : array_like, optional
        f_0 [N or N m], one number or (n,).
    """

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
        """Stored energy: sum k (q - q_0)^2/2 - f_0 (q - q_0).

        Parameters
        ----------
        q : ndarray, shape (..., n)
            Coordinates of the actuators [m or rad].

        Returns
        -------
        ndarray, shape (...)
            Energy [J].
        """
        stretch = q - self.rest
        stored: Array = (0.5 * self.stiffness * stretch**2 - self.preload * stretch).sum(axis=-1)
        return stored
