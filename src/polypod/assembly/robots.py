"""Which robots have equations whose solutions are all known, and those solutions as poses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..description import Robot
from ..legs import Leg
from ..legs.strut import Strut
from ..platforms import Freedoms
from .circles import circle_points
from .distances import SixStruts
from .plane import circles_meet, plane_poses
from .spheres import common_points

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Flags = NDArray[np.bool_]
Solver = Callable[[list[Strut]], "Solved"]
_SQUARE = 1e-9


class Solved(NamedTuple):
    """Poses (m, k, 4, 4), NaN beyond the last; certified (m, k); every solution found, and proven to be all, (m,)."""

    pose: Array
    certified: Flags
    all_found: Flags
    proven: Flags


def equations(robot: Robot, freedoms: Freedoms, follows_legs: bool) -> Callable[[Array], Solved] | None:
    """All poses as a function of actuated coordinates (m, n); None for a robot whose equations are not known here."""
    legs = [leg for leg in robot.legs if isinstance(leg, Leg)]
    two = np.arange(2.0)  # what differs between two coordinates is moved by the actuator
    alone = len(legs) == len(robot.legs) and all(len(leg.actuator_names()) == 1 for leg in legs)
    tried = [leg.strut(two) for leg in legs] if alone and not robot.flexible else []
    struts = [strut for strut in tried if strut is not None]
    if not struts or len(struts) != len(tried):
        return None
    solver = _solver(robot, freedoms, follows_legs, struts)
    if solver is None:
        return None

    def solve(q: Array) -> Solved:
        return solver([strut for k, leg in enumerate(legs) if (strut := leg.strut(q[:, k])) is not None])

    return solve


def _solver(robot: Robot, freedoms: Freedoms, follows_legs: bool, struts: list[Strut]) -> Solver | None:
    hinged = [strut.axis is not None for strut in struts]
    balls = all(strut.ball for strut in struts)
    if freedoms.full and len(struts) == 6 and not any(hinged) and balls:
        return _SixDistances(struts).solve
    pins = [not strut.length.any() for strut in struts]
    if len(struts) == 2 and freedoms.count == 2 and sum(pins) == 1:
        return _hinged(robot.home.matrix[:3, :3], struts, pins.index(True))
    if any(pins) or len(struts) != 3 or freedoms.count != 3:
        return None
    if follows_legs:
        return _on_circles if all(hinged) and balls else None
    if freedoms.axis is None:
        return partial(_without_turning, robot.home.matrix[:3, :3])
    normal = freedoms.axis
    flat = all(_about(normal, strut) for strut in struts)
    square = np.abs(normal @ freedoms.basis[:3]).max() < _SQUARE
    return partial(_in_a_plane, robot.home.matrix, normal) if flat and square else None


def _about(normal: Array, strut: Strut) -> bool:
    """Whether a strut is hinged about a direction, or about none, whatever its coordinate."""
    return strut.axis is None or bool((np.abs(strut.axis @ normal) > 1 - _SQUARE).all())


class _SixDistances:
    """Six struts; paths to base joints that move with the coordinates start from joints of no meaning."""

    def __init__(self, struts: list[Strut]) -> None:
        platform, base = np.array([s.joint for s in struts]), np.array([s.point for s in struts])
        self._moving = bool((base[:, 0] != base[:, 1]).any())
        size = float(np.ptp(platform, axis=0).max() + np.ptp(base[:, 0], axis=0).max())
        anywhere = size * np.random.default_rng(6).normal(size=(6, 3))
        self._struts = SixStruts(anywhere if self._moving else base[:, 0], platform)

    def solve(self, struts: list[Strut]) -> Solved:
        """At the struts (m,) of m states."""
        base, lengths = (np.stack([getattr(s, name) for s in struts], axis=1) for name in ("point", "length"))
        found = self._struts.poses(lengths, base if self._moving else None)
        pose = np.where(found.real[..., None, None], found.pose, np.nan)
        return Solved(pose, found.certified, found.lost == 0, found.complete)


def _without_turning(axes: Array, struts: list[Strut]) -> Solved:
    """Delta robots: centres of the spheres on which the platform's origin is."""
    centres = np.stack([strut.point - axes @ strut.joint for strut in struts], axis=1)
    points = common_points(centres, np.stack([strut.length for strut in struts], axis=1))
    pose = np.tile(np.eye(4), (*points.shape[:2], 1, 1))
    pose[..., :3, :3], pose[..., :3, 3] = axes, points
    return _uncertified(pose)


def _hinged(axes: Array, struts: list[Strut], hinge: int) -> Solver | None:
    """Five-bar linkages: the platform turns about a hinge that one actuator carries, held by a strut on the other."""
    pin, strut = struts[hinge], struts[1 - hinge]
    if pin.axis is None:
        return None
    normal, arm = pin.axis[0], axes @ (strut.joint - pin.joint)
    height = (strut.point - pin.point - arm) @ normal
    level = strut.axis is None or np.abs(height).max() < _SQUARE * np.linalg.norm(arm)
    if not (_about(normal, pin) and _about(normal, strut) and level):
        return None
    return lambda at: _about_a_hinge(axes, normal, at[hinge], at[1 - hinge])


def _about_a_hinge(axes: Array, normal: Array, pin: Strut, strut: Strut) -> Solved:
    plane = _across(normal)
    arm, apart = axes @ (strut.joint - pin.joint), strut.point - pin.point
    reach = np.sqrt(strut.length**2 - ((apart - arm) @ normal) ** 2)
    ends, sure = circles_meet(apart @ plane, np.stack([np.full_like(reach, abs(arm @ plane)), reach], axis=1))
    turned = _turns(normal, np.angle(ends / (arm @ plane))) @ axes
    pose = np.tile(np.eye(4), (*ends.shape, 1, 1))
    pose[..., :3, :3], pose[..., :3, 3] = turned, pin.point[:, None] - turned @ pin.joint
    found = _uncertified(pose)
    return found._replace(certified=np.isfinite(found.pose[..., 0, 0]) & sure[:, None], all_found=sure, proven=sure)


def _across(normal: Array) -> Complexes:
    """The direction whose products are places in the plane across another one, as complex numbers."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first = first / np.linalg.norm(first)
    return np.asarray(first + 1j * np.cross(normal, first))


def _turns(normal: Array, angle: Array) -> Array:
    """Rotations (..., 3, 3) about a direction by angles (...)."""
    along, across = np.outer(normal, normal), np.cross(normal, np.eye(3)).T
    cosine, sine = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return np.asarray(along + cosine * (np.eye(3) - along) + sine * across)


def _in_a_plane(home: Array, normal: Array, struts: list[Strut]) -> Solved:
    """3-RRR and its like."""
    plane = _across(normal)
    arms = np.array([home[:3, :3] @ strut.joint for strut in struts])
    points = np.stack([strut.point for strut in struts], axis=1)
    height = (points - arms - home[:3, 3]) @ normal
    lengths = np.sqrt(np.stack([strut.length for strut in struts], axis=1) ** 2 - height**2)
    place, turn = plane_poses(points @ plane, arms @ plane, lengths)
    pose = np.tile(np.eye(4), (*turn.shape, 1, 1))
    pose[..., :3, :3] = _turns(normal, turn) @ home[:3, :3]
    pose[..., :3, 3] = (home[:3, 3] @ normal) * normal + (np.conj(place)[..., None] * plane).real
    return _uncertified(pose)


def _on_circles(struts: list[Strut]) -> Solved:
    """3-RPS, 3-PRS: the frame of three joints."""
    joints = np.array([strut.joint for strut in struts])
    pairs = np.array([np.linalg.norm(joints[i] - joints[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    axes = np.stack([np.asarray(strut.axis) for strut in struts], axis=1)
    centres, radii = (np.stack([getattr(s, name) for s in struts], axis=1) for name in ("point", "length"))
    points = circle_points(centres, axes, radii, pairs)
    turn = _triad(points) @ np.swapaxes(_triad(joints), -1, -2)
    pose = np.tile(np.eye(4), (*points.shape[:2], 1, 1))
    pose[..., :3, :3], pose[..., :3, 3] = turn, points[..., 0, :] - turn @ joints[0]
    return _uncertified(pose)


def _triad(points: Array) -> Array:
    """Orthonormal axes (..., 3, 3), columns, of three points (..., 3, 3)."""
    first, second = points[..., 1, :] - points[..., 0, :], points[..., 2, :] - points[..., 0, :]
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    third = np.cross(first, second)
    third = third / np.linalg.norm(third, axis=-1, keepdims=True)
    return np.stack([first, np.cross(third, first), third], axis=-1)


def _uncertified(pose: Array) -> Solved:
    """All roots of a robot's equations, without proof of each."""
    m, k = pose.shape[:2]
    pose[~np.isfinite(pose).all(axis=(2, 3))] = np.nan
    none = np.zeros((m, k), dtype=bool)
    return Solved(pose, none, np.ones(m, dtype=bool), np.zeros(m, dtype=bool))
