"""Coordinates of lower-mobility robots, and motions they cannot make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..errors import InputError
from ..platforms import Freedoms

Array = NDArray[np.float64]
_DIRECTIONS = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")
# Motions come from computations with rounding; a real component is larger than this part of the largest.
_TOLERANCE = 1e-9
# Poses may come from logs, printed with seven digits.
_POSE_TOLERANCE = 5e-7


def platform_motion(freedoms: Freedoms, x: Array, xdot: Array, xddot: Array) -> tuple[Array, Array, Array]:
    """Pose (n, 4, 4), twist and acceleration (n, 6) from coordinates (n, m): p = p_home + S x, R = R(theta) R_home.

    R(theta) = k k^T + cos(theta) (1 - k k^T) + sin(theta) k~ about the axis k of the robot's one rotation.
    """
    move = x @ freedoms.basis.T
    pose = np.tile(freedoms.home, (len(x), 1, 1))
    pose[:, :3, 3] += move[:, :3]
    if freedoms.axis is not None:
        home = freedoms.home[:3, :3]
        along, across = np.outer(freedoms.axis, freedoms.axis), np.cross(freedoms.axis, np.eye(3)).T
        angle = (move[:, 3:] @ freedoms.axis)[:, None, None]
        pose[:, :3, :3] = along @ home + np.cos(angle) * (home - along @ home) + np.sin(angle) * (across @ home)
    return pose, xdot @ freedoms.basis.T, xddot @ freedoms.basis.T


def coordinates_of(freedoms: Freedoms, poses: Array) -> Array:
    """Coordinates (n, m) of poses (n, 4, 4)."""
    move = np.zeros((len(poses), 6))
    move[:, :3] = poses[:, :3, 3] - freedoms.home[:3, 3]
    if freedoms.axis is not None:
        turned = poses[:, :3, :3] @ freedoms.home[:3, :3].T
        twice = turned[:, (2, 0, 1), (1, 2, 0)] - turned[:, (1, 2, 0), (2, 0, 1)]
        angle = np.arctan2(twice @ freedoms.axis, np.trace(turned, axis1=1, axis2=2) - 1)
        move[:, 3:] = angle[:, None] * freedoms.axis
    return move @ freedoms.inverse.T


def check_pose_freedom(freedoms: Freedoms, poses: Array, name: str, batched: bool, size: float) -> None:
    """Raise if a pose is not one the robot can take, naming the component that is off."""
    x = coordinates_of(freedoms, poses)
    near, _, _ = platform_motion(freedoms, x, x, x)
    difference = poses - near
    allowed = max(size, 1.0)
    if np.abs(difference).max(initial=0.0) <= 0.4 * _POSE_TOLERANCE * allowed:  # then no component below is larger
        return
    off = np.concatenate([difference[:, :3, 3], np.zeros((len(poses), 3))], axis=1)
    off[:, 3:] = Rotation.from_matrix(poses[:, :3, :3] @ near[:, :3, :3].transpose(0, 2, 1)).as_rotvec()
    _raise_if_off(freedoms, off, np.full(len(poses), allowed), name, "be at", batched, ("m", "rad"))


def check_motion(freedoms: Freedoms, rows: Array, name: str, batched: bool) -> None:
    """Raise if a twist or acceleration (n, 6) has a component the robot cannot make."""
    off = rows - rows @ (freedoms.basis @ freedoms.inverse).T
    scale = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1.0)
    units = ("m/s", "rad/s") if name == "twist" else ("m/s^2", "rad/s^2")
    _raise_if_off(freedoms, off, scale, name, "move along", batched, units)


def _raise_if_off(
    freedoms: Freedoms, off: Array, scale: Array, name: str, verb: str, batched: bool, units: tuple[str, str]
) -> None:
    tolerance = _TOLERANCE if verb == "move along" else _POSE_TOLERANCE
    over = np.abs(off) > tolerance * scale[:, None]
    if not over.any():
        return
    state, component = np.argwhere(over)[0].tolist()
    where = f" in state {state}" if batched else ""
    amount = f"{off[state, component]:.6g} {units[component >= 3]}"
    raise InputError(
        f"{name}: the robot cannot {verb} {_DIRECTIONS[component]} ({amount}{where}); "
        f"its freedoms are {', '.join(freedoms.names)} (model.motion makes motions from them)"
    )
