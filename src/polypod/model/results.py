"""What model calls return where one array is not enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..mechanism import Mechanism

DIAGNOSTICS = ("quality", "converged", "verdict")
"""Outputs of a kernel about its results, not among them."""


class Energy(NamedTuple):
    """Kinetic and potential energy [J], each of the batch's shape.

    Potential is -sum m g.r from the base origin, and that of springs and other elements.
    """

    kinetic: Array
    potential: Array


class ElementState(NamedTuple):
    """An element: its displacements (..., k) and their rates, what it applies along them, its potential and loss.

    ``axes`` names the displacements: its length, or those of its joint [m or rad]. ``force`` (..., k) [N or N m] is
    positive along growing displacements: negative where a spring pulls. ``potential`` (...) [J]; ``loss`` (...) [W] is
    the power that it takes.
    """

    axes: tuple[str, ...]
    displacement: Array
    rate: Array
    force: Array
    potential: Array
    loss: Array


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


@dataclass(frozen=True)
class LimitReport:
    """Limited quantities of a batch of poses: which, how much, how much is allowed.

    ``names`` are (leg, quantity); ``value``, ``inside`` are (..., k), ``low``, ``high`` (k,) or, of several designs,
    (..., k), ``units`` k texts.
    """

    names: tuple[tuple[str, str], ...]
    value: Array
    low: Array
    high: Array
    units: tuple[str, ...]

    @staticmethod
    def of(mechanism: Mechanism, values: Array, ranges: Array | None = None) -> LimitReport:
        """From the limited quantities (..., k) of a kernel, angles as cosines; ``ranges`` (..., k, 2) of designs."""
        limits = mechanism.limits
        low, high = np.moveaxis(mechanism.limit_ranges if ranges is None else ranges, -1, 0).copy()
        angles = np.array([limit.angle for _, limit in limits], dtype=bool)
        reported = values.copy()
        reported[..., angles] = np.arccos(np.clip(values[..., angles], -1.0, 1.0))
        low[..., angles], high[..., angles] = 0.0, np.arccos(low[..., angles])
        names = tuple((leg, limit.name) for leg, limit in limits)
        return LimitReport(names, reported, low, high, tuple(limit.unit for _, limit in limits))

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each quantity is within its range; a value that is not a number is not."""
        return (self.value >= self.low) & (self.value <= self.high)

    @property
    def ok(self) -> bool:
        """Whether every quantity is within its range in every state."""
        return bool(self.inside.all())

    def violations(self, which: Callable[[int], str] = "state {}".format) -> list[str]:
        """A sentence for each quantity that leaves its range in any state, at its worst; ``which`` names a state."""
        sentences = []
        values, low, high = (
            np.broadcast_to(v, self.value.shape).reshape(
                int(np.prod(self.value.shape[:-1], dtype=int)), len(self.names)
            )
            for v in (self.value, self.low, self.high)
        )
        for k, (leg, quantity) in enumerate(self.names):
            over = np.fmax(low[:, k] - values[:, k], values[:, k] - high[:, k])
            over = np.where(np.isnan(values[:, k]), np.inf, over)
            if len(over) and over.max() > 0:
                state = int(over.argmax())
                where = f" ({which(state)})" if self.value.ndim > 1 else ""
                sentences.append(
                    f"{leg}: {quantity} {values[state, k]:.6g} {self.units[k]} is outside "
                    f"{low[state, k]:.6g} to {high[state, k]:.6g} {self.units[k]}{where}"
                )
        return sentences
