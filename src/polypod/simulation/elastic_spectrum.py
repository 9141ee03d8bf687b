"""The elastic equations of a robot, linearised: how fast they are, and whether its frame can follow a motion exactly.

With the frame's acceleration given, the inverse model makes q'' a function of q and qdot. Its eigenvalues say how long
a step may be. They also say whether the frame can follow exactly at all: where the effective mass of a mode, what is
left of it when the actuators hold the frame, is small or negative, a shape error grows however stiff the platform is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..friction import has_dry_friction
from ..model import Model
from ..model.arguments import PoseLike, pose_matrix
from ..motion import Motion

_STATES = 5
_REST = np.zeros(6)


class ElasticSpectrum(NamedTuple):
    """Eigenvalues of the elastic equations along a motion: largest |eigenvalue| and largest real part [1/s], the time
    [s] of the latter, and the largest |eigenvalue| [1/s] that dry friction adds (infinite for its exact sign)."""

    fastest: float
    growth: float
    time: float
    friction: float


def prescribed_motion_spectrum(
    model: Model, motion: Motion, loads: Array, elastic: Array, friction: bool
) -> ElasticSpectrum:
    """Eigenvalues at a few states of a motion whose frame is prescribed, about the shape ``elastic`` (N,)."""
    chosen = np.unique(np.linspace(0, len(motion.time) - 1, _STATES).astype(int)).tolist()
    fastest, growth, when, dry = 0.0, -np.inf, float(motion.time[0]), 0.0
    for k in chosen:
        at = motion.pose[k], motion.twist[k], motion.acceleration[k], loads[k]
        values = _eigenvalues(model, at, elastic, 1e-6 * max(1.0, float(np.abs(elastic).max())), False)
        fastest = max(fastest, float(np.abs(values).max()))
        if values.real.max() > growth:
            growth, when = float(values.real.max()), float(motion.time[k])
    if friction and has_dry_friction(model.kernels.mechanism):
        # the law of dry friction is steepest where joints rest, and all may rest at some instant
        width = model.kernels.options.dry.law.width
        if width == 0.0:
            return ElasticSpectrum(fastest, growth, when, np.inf)
        reach = 1e-3 * width / float(np.abs(model.modes.attachment_shapes).max())
        for k in chosen:
            at = motion.pose[k], _REST, motion.acceleration[k], loads[k]
            dry = max(dry, float(np.abs(_eigenvalues(model, at, elastic, reach, True)).max()))
    return ElasticSpectrum(fastest, growth, when, dry)


def _eigenvalues(
    model: Model, at: tuple[Array, Array, Array, Array], elastic: Array, reach: float, friction: bool
) -> NDArray[np.complex128]:
    """Eigenvalues (2N,) of the first-order system of q and qdot, linearised by central differences of q''."""
    n = len(elastic)
    pose, twist, acceleration, load = at
    states = np.concatenate([elastic, np.zeros(n)]) + reach * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    shape: dict[str, Any] = {"elastic": states[:, :n], "elastic_rate": states[:, n:]}
    found = model.inverse_dynamics(
        pose, twist, acceleration, load, friction, errors="raise", full_output=True, **shape
    ).elastic_acceleration
    derivatives = (found[: 2 * n] - found[2 * n :]).T / (2 * reach)
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [derivatives]])).astype(np.complex128)


def growth_rate(model: Model, pose: PoseLike) -> float:
    """Rate [1/s] at which a shape error grows if the frame is held exactly in a pose; not above 0 if it decays.

    Forces that a controller makes from what it measures are another matter.
    """
    still = np.zeros((1, 6))
    motion = Motion(np.zeros(1), np.asarray(pose_matrix(pose), dtype=np.float64)[None], still, still)
    elastic = model.static_equilibrium(motion.pose[0]).elastic
    return prescribed_motion_spectrum(model, motion, still, elastic, False).growth


def spectral_radius(model: Model, pose: PoseLike, elastic: ArrayLike) -> float:
    """Largest rate [rad/s] of the elastic coordinates of the robot let go in one state: what a step must resolve.

    The spectral radius of M^-1 K and M^-1 D as a first-order system, M that of the whole robot.
    """
    n = model.modes.count
    mass = model.mass_matrix(pose, elastic=elastic)
    inverse = np.linalg.inv(mass)[6:, 6:]
    rows = np.hstack([-inverse * model.modes.stiffness, -inverse * model.modes.generalized_damping])
    system = np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), rows])
    return float(np.abs(np.linalg.eigvals(system)).max())
