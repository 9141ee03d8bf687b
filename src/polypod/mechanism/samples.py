"""Poses around home, for choices and checks that must hold wherever the robot goes."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..description.poses import rotation_from_vector
from ..mobility.numeric_robot import poses_from_home
from ..platforms import DegreesOfFreedom
from .mechanism import Mechanism


def around_home(robot: Robot, count: int, reach: float, seed: int = 0) -> list[Array]:
    """Poses (4, 4) a random small displacement from home that the robot's degrees of freedom allow.

    Displacements are uniform within ``reach`` times the platform's size, and ``reach`` rad, in every degree of freedom.
    """
    dof, size = DegreesOfFreedom(robot), robot.platform_size
    poses = []
    for step in np.random.default_rng(seed).uniform(-reach, reach, (count, dof.count)):
        move = dof.basis @ step
        pose = dof.home.copy()
        pose[:3, 3] += size * move[:3]
        pose[:3, :3] = rotation_from_vector(move[3:]) @ pose[:3, :3]
        poses.append(pose)
    return poses


def closed_around_home(mechanism: Mechanism, count: int, reach: float, seed: int = 0) -> list[tuple[Array, Array]]:
    """The same for any robot: poses that its legs allow, with the places of unknowns that are found by iterating."""
    robot = mechanism.robot
    if mechanism.platform.is_constrained or mechanism.implicit_legs:

        def followed() -> list[tuple[Array, Array]]:
            targets = np.random.default_rng(seed).uniform(-reach, reach, (count, DegreesOfFreedom(robot).count))
            used = () if mechanism.mobility is None else mechanism.mobility.used
            return poses_from_home(robot, used, targets, robot.platform_size)

        # it takes as long as deriving a function, and each function asks for the same
        return mechanism.kept((__name__, count, reach, seed), followed)
    return [(pose, np.zeros(0)) for pose in around_home(robot, count, reach, seed)]
