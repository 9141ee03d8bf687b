"""What a pattern of robots gives: all its poses for given coordinates, and what is proven of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..legs.contract import Strut
from ..platforms import DegreesOfFreedom

ComplexArray = NDArray[np.complex128]
Flags = NDArray[np.bool_]
PERPENDICULAR = 1e-9
"""Cosine below which directions count as perpendicular."""


class Solutions(NamedTuple):
    """Poses (m, k, 4, 4), NaN beyond the last; certified (m, k); every solution found, and proven to be all, (m,)."""

    pose: Array
    certified: Flags
    all_found: Flags
    proven: Flags


class Candidate(NamedTuple):
    """A robot to match with patterns: its legs as struts, at two values of their coordinates, and how it moves."""

    robot: Robot
    dof: DegreesOfFreedom
    is_constrained: bool
    struts: list[Strut]

    @property
    def axes(self) -> Array:
        """Axes of the platform at home, the columns of R (3, 3)."""
        return np.asarray(self.robot.home.matrix[:3, :3])


class Pattern(ABC):
    """Robots whose closure equations have the same form, and how these are solved."""

    @staticmethod
    @abstractmethod
    def match(candidate: Candidate) -> Pattern | None:
        """The pattern for a robot that has it, else None."""

    @abstractmethod
    def solve(self, struts: list[Strut]) -> Solutions:
        """All poses at the struts (m,) of m states."""


def stacked(struts: list[Strut], name: str) -> Array:
    """One field of all struts, (m, legs, ...)."""
    return np.stack([getattr(strut, name) for strut in struts], axis=1)


def hinged_about(normal: Array, strut: Strut) -> bool:
    """Whether a strut turns about a direction at every coordinate, or is not hinged at all."""
    return strut.axis is None or bool((np.abs(strut.axis @ normal) > 1 - PERPENDICULAR).all())


def plane_basis(normal: Array) -> ComplexArray:
    """u + i v (3), unit vectors u, v in the plane perpendicular to a normal: p.(u + i v) is p in that plane."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first = first / np.linalg.norm(first)
    return np.asarray(first + 1j * np.cross(normal, first))


def rotations_about(normal: Array, angle: Array) -> Array:
    """Rotations (..., 3, 3) about a direction by angles (...)."""
    along, skew = np.outer(normal, normal), np.cross(normal, np.eye(3)).T
    cosine, sine = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return np.asarray(along + cosine * (np.eye(3) - along) + sine * skew)


def pose_matrices(rotation: Array, position: Array) -> Array:
    """Poses (..., 4, 4) of rotations (..., 3, 3) and positions (..., 3)."""
    shape = np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1])
    pose = np.tile(np.eye(4), (*shape, 1, 1))
    pose[..., :3, :3], pose[..., :3, 3] = rotation, position
    return pose
