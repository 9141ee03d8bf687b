"""What calls of a flexible model return."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class FlexibleForces(NamedTuple):
    """Actuator forces (..., n) [N] and elastic accelerations (..., N)."""

    force: Array
    elastic_acceleration: Array


class FlexibleAccelerations(NamedTuple):
    """Acceleration of the platform frame (..., 6) and elastic accelerations (..., N)."""

    acceleration: Array
    elastic_acceleration: Array


class FlexibleEnergy(NamedTuple):
    """Kinetic, gravity's and elastic energy [J]; gravity's is -sum m g.r from the base origin."""

    kinetic: Array
    potential: Array
    elastic: Array


class FlexibleSystem(NamedTuple):
    """M (..., 6+N, 6+N), bias (..., 6+N) and J (..., n, 6+N) of M (A, q'') + bias = J^T f, base axes, no friction."""

    mass_matrix: Array
    bias: Array
    jacobian: Array


class Equilibrium(NamedTuple):
    """Elastic coordinates (..., N) that stay as they are, and the actuator forces (..., n) of that motion or rest."""

    elastic: Array
    force: Array


class ActuatorMotion(NamedTuple):
    """Rates and accelerations (..., n) [m/s, m/s^2] of the actuated coordinates."""

    qdot: Array
    qddot: Array
