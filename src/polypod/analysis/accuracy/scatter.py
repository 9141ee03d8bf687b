"""Errors drawn at random, the platform found by the exact equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...description.paths import get
from ...description.poses import displace, displacement
from ...errors import InputError
from ...model import Model
from ...model.arguments import PoseLike
from ..tolerances import Tolerances
from .sources import Solver, closures_of, pose_batch, sources_of

_STEPS = 6
_FOUND = 1e-10
_ROUNDING = 1e-15
"""Displacements [m, rad] below this are rounding of a pose, in a robot of one metre."""


class Scatter(NamedTuple):
    """Random displacements of the platform, by the exact equations.

    Attributes
    ----------
    displacement : ndarray, shape (samples, 6)
        Displacements [translation; rotation vector], base axes [m, rad].
    lost : int
        Number of samples without a pose.
    """

    displacement: Array
    lost: int

    @property
    def deviation(self) -> Array:
        """Standard deviation (6) of each component."""
        return np.asarray(self.displacement.std(axis=0))


def scatter(
    model: Model, tolerances: Tolerances, pose: PoseLike | None = None, samples: int = 1000, seed: int = 0
) -> Scatter:
    """Displacements at one pose for errors drawn at random, by Newton's iteration on the exact equations.

    Parameters
    ----------
    model : Model
        Model of the robot.
    tolerances : Tolerances
        What is not exact about the robot.
    pose : array_like or RigidTransform, shape (4, 4), optional
        Pose of {P} in {B}. Default: home.
    samples : int, optional
        Number of random robots.
    seed : int, optional
        Random seed.

    Returns
    -------
    Scatter
        Displacements, and the number of samples without a pose.
    """
    if samples < 1:
        raise InputError(f"samples: at least 1 is needed, got {samples}")
    poses, shape = pose_batch(model, pose)
    if shape:
        raise InputError(f"scatter: needs a single pose, got a batch of shape {shape}")
    draw = np.random.default_rng(seed)
    closures = closures_of(model, tolerances)
    n = len(model.actuators)
    goal = np.zeros((samples, closures.count))
    goal[:, :n] = closures.at(poses).values[:, :n]
    changed: dict[str, Array] = {}
    for source in sources_of(model, tolerances, poses):
        errors = source.tolerance.sample(draw, (samples, source.columns.shape[2]))
        goal[:, :n] += errors @ source.at_actuators.T
        for path, scale in source.scales.items():
            value = np.array(get(model.robot, path), dtype=np.float64)
            old = changed.get(path, np.broadcast_to(value, (samples, *value.shape)))
            changed[path] = old + (errors @ scale.T).reshape(samples, *value.shape)
    at = np.tile(poses[0], (samples, 1, 1))
    good = np.ones(samples, dtype=bool)
    for _ in range(_STEPS):
        held = closures.at(at, changed)
        good &= held.good & np.isfinite(held.values).all(axis=1) & np.isfinite(held.rows).all(axis=(1, 2))
        solver = Solver(model, held.rows[good])
        step, _ = solver((goal - held.values)[good][..., None])
        good[good] = ~solver.singular
        at[good] = displace(at[good], step[~solver.singular, :, 0])
    error = goal - closures.at(at, changed).values
    found = good & (np.abs(error).max(axis=1) <= _FOUND * (1 + model.size))
    drawn = displacement(poses[0], at[found])
    drawn[np.abs(drawn) < _ROUNDING * max(model.robot.farthest, 1.0)] = 0.0
    return Scatter(drawn, int((~found).sum()))
