"""What a pattern of robots gives: all its poses for given coordinates, and what is proven of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..legs.strut import Strut
from ..platforms import Freedoms

Complexes = NDArray[np.complex128]
Flags = NDArray[np.bool_]
SQUARE = 1e-9
"""Cosine below which directions count as square."""


class Solved(NamedTuple):
    """Poses (m, k, 4, 4), NaN beyond the last; certified (m, k); every solution found, and proven to be all, (m,)."""

    pose: Array
    certified: Flags
    all_found: Flags
    proven: Flags


class Machine(NamedTuple):
    """A robot as patterns look at it: its legs as struts, at two values of their coordinates, and how it moves."""

    robot: Robot
    freedoms: Freedoms
    follows_legs: bool
    struts: list[Strut]

    @property
    def axes(self) -> Array:
        """Of the platform at home (3, 3)."""
        return np.asarray(self.robot.home.matrix[:3, :3])


class Pattern(ABC):
    """Robots with the same equations."""

    @staticmethod
    @abstractmethod
    def of(machine: Machine) -> Pattern | None:
        """The pattern of a robot; None if it is another."""

    @abstractmethod
    def solve(self, struts: list[Strut]) -> Solved:
        """All poses at the struts (m,) of m states."""


def stacked(struts: list[Strut], name: str) -> Array:
    """One field of all struts, (m, legs, ...)."""
    return np.stack([getattr(strut, name) for strut in struts], axis=1)


def hinged_about(normal: Array, strut: Strut) -> bool:
    """Whether a strut is hinged about a direction, or about none, whatever its coordinate."""
    return strut.axis is None or bool((np.abs(strut.axis @ normal) > 1 - SQUARE).all())


def across(normal: Array) -> Complexes:
    """The direction whose products are places in the plane across another one, as complex numbers."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first = first / np.linalg.norm(first)
    return np.asarray(first + 1j * np.cross(normal, first))


def turns(normal: Array, angle: Array) -> Array:
    """Rotations (..., 3, 3) about a direction by angles (...)."""
    along, skew = np.outer(normal, normal), np.cross(normal, np.eye(3)).T
    cosine, sine = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return np.asarray(along + cosine * (np.eye(3) - along) + sine * skew)


def pose_of(turn: Array, place: Array) -> Array:
    """Poses (..., 4, 4) of rotations (..., 3, 3) and places (..., 3)."""
    shape = np.broadcast_shapes(turn.shape[:-2], place.shape[:-1])
    pose = np.tile(np.eye(4), (*shape, 1, 1))
    pose[..., :3, :3], pose[..., :3, 3] = turn, place
    return pose
