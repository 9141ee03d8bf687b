"""Robots that are singular in every pose by the arrangement of their joints: found, and proven where possible."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..description import Robot
from ..errors import InputError

_RANK = 1e-9
"""Relative size of a singular value that is zero but for the rounding of a file's numbers."""


class Architecture(NamedTuple):
    """Whether a robot is singular in every pose.

    Attributes
    ----------
    singular : bool
        Whether it is at random poses.
    proven : bool
        Whether that follows from the joints alone.
    dependence : ndarray, shape (n,), or None
        Factors of the legs whose sum then vanishes.
    largest : float
        Largest abs(det J) at the poses, each row of J of unit length, rotations scaled by the platform's size.
    text : str
        The same in words.
    """

    singular: bool
    proven: bool
    dependence: Array | None
    largest: float
    text: str


def architecture(robot: Robot, poses: int = 200, seed: int = 0) -> Architecture:
    """Whether six legs of variable length between fixed points are singular in every pose, and why.

    A row of the Jacobian, times the leg's length, is [v; R b x v] with v = p + R b - a for the base point a and the
    platform point b. It is linear in w = (1, a, b, a b^T), 16 numbers of the leg, with factors that depend on the pose
    alone. If the w of the six legs are linearly dependent, so are the rows in every pose: that is the proof.

    Parameters
    ----------
    robot : Robot
        A robot on six UPS legs.
    poses : int, optional
        Number of random poses.
    seed : int, optional
        Random seed.

    Returns
    -------
    Architecture
        The answer, with proof where there is one.

    Raises
    ------
    InputError
        If the robot does not have six UPS legs.
    """
    points = [(getattr(leg, "base", None), leg.platform) for leg in robot.legs]
    if len(points) != 6 or any(leg.kind != "UPS" for leg in robot.legs):
        raise InputError(
            f"architecture: needs six UPS legs, {robot.name!r} has "
            f"{', '.join(sorted({leg.kind for leg in robot.legs}))} ({len(points)})"
        )
    a, b = (np.array([pair[k] for pair in points], dtype=np.float64) for k in range(2))
    size = float(np.linalg.norm(b, axis=1).mean()) or 1.0
    reach = max(float(np.abs(a).max()), size, 1e-12)
    numbers = np.concatenate(
        [np.ones((6, 1)), a / reach, b / reach, (a[:, :, None] * b[:, None, :]).reshape(6, 9) / reach**2], axis=1
    )
    left, values, _ = np.linalg.svd(numbers)
    proven = bool(values[-1] <= _RANK * values[0])
    largest = _largest_determinant(a, b, robot, size, reach, poses, seed)
    singular = proven or largest < _RANK
    if proven:
        names = ", ".join(
            f"{f:+.3f} {leg.name}" for f, leg in zip(left[:, -1], robot.legs, strict=True) if abs(f) > 1e-9
        )
        text = (
            f"architecturally singular (proven): the legs' vectors (1, a, b, a b^T) are linearly dependent ({names} "
            "= 0), and so are the rows of the Jacobian in every pose. Move a joint off the common curve, or "
            "make base and platform less similar"
        )
    elif singular:
        text = f"singular at all of {poses} random poses, so probably in every pose (not proven)"
    else:
        text = "not architecturally singular"
    return Architecture(singular, proven, left[:, -1] if proven else None, largest, text)


def _largest_determinant(a: Array, b: Array, robot: Robot, size: float, reach: float, count: int, seed: int) -> float:
    """Largest |det J| at poses at random about home, by its formula."""
    rng = np.random.default_rng(seed)
    turns = scipy.spatial.transform.Rotation.random(count, rng=rng).as_matrix()
    places = np.array(robot.home.position) + rng.uniform(-reach, reach, (count, 3))
    arms = np.einsum("nij,kj->nki", turns, b)
    ways = places[:, None] + arms - a
    rows = np.concatenate([ways, np.cross(arms, ways) / size], axis=2)
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    return float(np.abs(np.linalg.det(rows)).max())
