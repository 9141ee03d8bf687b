"""Where a robot rests for given actuator forces: the pose at which gravity, springs and forces balance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..description.poses import rotation_from_vector
from ..errors import AS_RIGID, InputError, StateError
from .arguments import Argument, PoseLike

_STEPS, _HALVINGS = 100, 40
_LARGEST = 0.2
"""Part of the platform's size, or radians, of the largest step."""
_STILL = 1e-13
"""Step, by the platform's size or in radians, below which a pose is found."""


class RestingPose(NamedTuple):
    """Poses at which a robot rests.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4)
        Poses of {P} in {B}.
    stable : ndarray of bool, shape (...)
        Whether the robot returns there after a small displacement.
    """

    pose: Array
    stable: NDArray[np.bool_]


def resting_pose(model: Any, force: ArrayLike | None, wrench: ArrayLike | None, start: PoseLike | None) -> RestingPose:
    """By Newton's iteration from ``start``, home unless given: accelerations vanish there.

    With udot = a(x) and A = da/dx, -A is M^-1 K: where it has negative eigenvalues the step goes against them, so that
    stable poses are found where there are any near.
    """
    if model.robot.flexible:
        raise InputError(f"equilibrium: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
    n = len(model.actuators)
    given = [
        Argument("force", np.zeros(n) if force is None else force, (n,)),
        Argument("wrench", np.zeros(6) if wrench is None else wrench, (6,)),
        Argument("pose", model.robot.home.matrix if start is None else start, (4, 4)),
    ]
    states = model._calls.checked(given)
    rows = zip(*(np.broadcast_to(row, (states.size, *a.shape)) for row, a in zip(states.rows, given, strict=True)),
               strict=True)  # fmt: skip
    found = [_rests(model, *row) for row in rows]
    poses = np.array([pose for pose, _ in found]).reshape(*states.shape, 4, 4)
    stable = np.array([good for _, good in found], dtype=bool).reshape(states.shape)
    return RestingPose(poses, stable)


def _rests(model: Any, force: Array, wrench: Array, pose: Array) -> tuple[Array, bool]:
    at = _Coordinates(model, pose)
    scale = at.scale
    for _ in range(_STEPS):
        acceleration, matrix = at.linearised(force, wrench)
        values, shapes = np.linalg.eig(-matrix)
        if not np.isfinite(values).all() or np.abs(values).min() <= 1e-12 * np.abs(values).max():
            break
        step = np.real(shapes @ (np.linalg.solve(shapes, acceleration.astype(complex)) / np.abs(values)))
        size = float(np.abs(step / scale).max())
        if size < _STILL:
            return at.pose, bool((values.real > 0).all())
        part = min(1.0, _LARGEST / size)
        for _ in range(_HALVINGS):
            if at.move(part * step):
                break
            part /= 2
        if part * size < _STILL * 10:
            return at.pose, bool((values.real > 0).all())
    raise StateError(
        "equilibrium: no resting pose was found from this start: nothing may hold some motion of the platform (give "
        "forces, a spring or another start), or the pose is out of reach",
        np.zeros(1, dtype=np.int64),
    )


class _Coordinates:
    """A pose that is moved: by twists on its left, or along the generalized coordinates of a lower-mobility robot."""

    def __init__(self, model: Any, pose: Array) -> None:
        self._model, self._full, self.pose = model, bool(model._dof.full), np.array(pose)
        self._x = np.zeros(0) if self._full else np.asarray(model.coordinates(pose))

    @property
    def scale(self) -> Array:
        """Sizes of coordinates (m): the platform's, or 1 rad."""
        if self._full:
            return np.r_[np.full(3, self._model.size), np.ones(3)]
        turns = np.array(self._model._dof.turns, dtype=bool)
        return np.where(turns, 1.0, self._model.size)

    def linearised(self, force: Array, wrench: Array) -> tuple[Array, Array]:
        """udot (m) at rest and its derivatives (m, m) by the coordinates."""
        model, still = self._model, np.zeros(6)
        wrt = ("pose",) if self._full else ("x",)
        found = model.derivatives("direct_dynamics", self.pose, still, force, wrench, wrt=wrt, friction=False)
        acceleration = np.asarray(model.direct_dynamics(self.pose, still, force, wrench, friction=False))
        if self._full:
            return acceleration, np.asarray(found.pose)
        m = len(self._x)
        motion = model.motion(np.tile(self._x, (m, 1)), np.eye(m), np.zeros((m, m)))
        twists = np.linalg.pinv(np.asarray(motion.twist).T)
        return twists @ acceleration, twists @ np.asarray(found.x)

    def move(self, step: Array) -> bool:
        """Move by a step (m); False, and stay, if a leg does not reach the pose."""
        if self._full:
            pose = self.pose.copy()
            pose[:3, 3] += step[:3]
            pose[:3, :3] = rotation_from_vector(step[3:]) @ pose[:3, :3]
        else:
            pose = np.asarray(self._model.motion(self._x + step, errors="nan").pose)
        if not np.isfinite(np.asarray(self._model.inverse_kinematics(pose, errors="nan"))).all():
            return False
        self.pose = pose
        if not self._full:
            self._x = self._x + step
        return True
