"""States that all rivals are timed on: around a robot's home, the same for the same seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from polypod.model import Model

Array = NDArray[np.float64]


def relative_difference(got: Array, wanted: Array) -> float:
    """Largest difference of two answers, as a part of the largest number wanted."""
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


class States(NamedTuple):
    """Poses (n, 4, 4), twists and accelerations (n, 6), forces (n, 6)."""

    pose: Array
    twist: Array
    acceleration: Array
    force: Array


def states(model: Model, count: int, seed: int = 0) -> States:
    """Poses within 5 % of the platform's size and 0.1 rad of home, with motions of order one and their own forces."""
    random = np.random.default_rng(seed)
    size = float(np.mean([np.linalg.norm(leg.platform) for leg in model.robot.legs]))
    pose = np.tile(model.robot.home.matrix, (count, 1, 1))
    pose[:, :3, 3] += 0.05 * size * random.uniform(-1, 1, (count, 3))
    turns = Rotation.from_rotvec(0.1 * random.uniform(-1, 1, (count, 3))).as_matrix()
    pose[:, :3, :3] = turns @ pose[:, :3, :3]
    twist, acceleration = random.normal(size=(2, count, 6))
    force = model.inverse_dynamics(pose, twist, acceleration, friction=False)
    return States(pose, twist, acceleration, force)
