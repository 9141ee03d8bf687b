"""What model calls return where one array is not enough."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

DIAGNOSTICS = ("quality", "converged", "verdict")
"""Outputs of a kernel about its results, not among them."""


class Energy(NamedTuple):
    """Kinetic and potential energy [J], each of the batch's shape; potential is -sum m g.r from the base origin."""

    kinetic: Array
    potential: Array


class InverseDynamics(NamedTuple):
    """Actuator forces (..., n) [N or N m] and elastic accelerations (..., N) of a flexible robot."""

    force: Array
    elastic_acceleration: Array


class DirectDynamics(NamedTuple):
    """Acceleration of the platform frame (..., 6) and elastic accelerations (..., N) of a flexible robot."""

    acceleration: Array
    elastic_acceleration: Array


class FlexibleEnergy(NamedTuple):
    """Kinetic, gravity's and elastic energy [J]; gravity's is -sum m g.r from the base origin."""

    kinetic: Array
    potential: Array
    elastic: Array


class Equilibrium(NamedTuple):
    """Elastic coordinates (..., N) that stay as they are, and the actuator forces (..., n) of that motion or rest."""

    elastic: Array
    force: Array


class Distribution(NamedTuple):
    """How more actuators than degrees of freedom share their work: the forces nearest to ``preload`` in a weighted
    norm.

    Forces f minimise sum w_i (f_i - p_i)^2; ``weights`` w (..., n) are one and ``preload`` p (..., n) zero if left out.
    """

    weights: Array | None = None
    preload: Array | None = None


class PlatformMotion(NamedTuple):
    """Pose (..., 4, 4), twist (..., 6) and acceleration (..., 6) of the platform."""

    pose: Array
    twist: Array
    acceleration: Array


class Conditioning(NamedTuple):
    """How far a pose is from singular, from the Jacobian in lengths.

    Rows are motions of the actuated joints themselves, gears and screws left out; rotations of joints and platform are
    arcs at the platform's size (the mean distance of its joints from its origin). ``condition`` is the ratio of the
    largest to the smallest singular value, ``distance`` the smallest one [1, i.e. mm/mm]: how far the joints move for
    each millimetre of the platform's motion that they feel least. It is 0 in a singular pose, where they feel nothing.
    """

    condition: Array
    distance: Array


class ClosureStatus(IntEnum):
    """Whether the legs close at a pose."""

    CLOSED = 0
    OUT_OF_REACH = 1
    SINGULAR_LEG = 2
    OTHER_BRANCH = 3
    NOT_CONVERGED = 4
    SINGULAR = 5


class Closure(NamedTuple):
    """How a pose (...) is closed: a ``ClosureStatus``, the number of the first leg at fault (-1: none, or the
    whole platform is singular) and by how much its condition is exceeded [m, or the unit of the condition; nan:
    none]."""

    status: NDArray[np.int64]
    leg: NDArray[np.int64]
    excess: Array


class ForwardKinematicsStatus(IntEnum):
    """How forward kinematics ended."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    SINGULAR = 2
    BAD_GUESS = 3
    OTHER_SIDE = 4
    OUTSIDE_LIMITS = 5

    @property
    def message(self) -> str:
        """What it means and what to do."""
        return {
            ForwardKinematicsStatus.CONVERGED: "converged",
            ForwardKinematicsStatus.NOT_CONVERGED: "no pose with these coordinates was found from the guess; "
            "check the coordinates or give a closer guess",
            ForwardKinematicsStatus.SINGULAR: "the iteration ended in a singular pose; give a closer guess or "
            "stay away from the singularity",
            ForwardKinematicsStatus.BAD_GUESS: "the legs do not close at the guess; start from a pose inside the "
            "workspace",
            ForwardKinematicsStatus.OTHER_SIDE: "every pose found with these coordinates lies beyond a "
            "singularity from the guess (det J has the opposite sign); give "
            "a guess on its side, or check the assembly mode of the robot",
            ForwardKinematicsStatus.OUTSIDE_LIMITS: "the pose has these coordinates but is outside the robot's limits",
        }[self]


class ForwardKinematics(NamedTuple):
    """Poses (..., 4, 4), NaN where there is none; code, largest coordinate error [m] and steps of each state.

    A pose outside the robot's limits is given, with its code.
    """

    pose: Array
    status: NDArray[np.int64]
    residual: Array
    steps: NDArray[np.int64]
