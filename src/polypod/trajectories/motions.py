"""Motions of the platform from coordinate paths: pose, twist and acceleration in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import RigidTransform, Rotation  # type: ignore[import-untyped, unused-ignore]

from ..errors import InputError
from .checks import CLOSE, Array, finite, knots, same_duration, unit
from .contract import Law, Motion, Path, Trajectory
from .laws import quintic
from .paths import SequencePath, progress, through

_SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")

CONVENTIONS = (*_SEQUENCES, *(name.upper() for name in _SEQUENCES))
"""Euler angle conventions, named as in SciPy: lower case turns about base axes, upper case about turned axes."""


def _turn(axis: Array, angle: Array) -> Array:
    """Rotation matrices exp(angle [axis]x) (..., 3, 3); unit ``axis`` (..., 3), ``angle`` (...)."""
    cross = -np.cross(axis[..., None, :], np.eye(3))
    sine, versine = np.sin(angle)[..., None, None], (2 * np.sin(angle / 2) ** 2)[..., None, None]
    result: Array = np.eye(3) + sine * cross + versine * (cross @ cross)
    return result


def _motion(t: Array, rotation: Array, position: tuple[Array, ...], omega: Array, alpha: Array) -> Motion:
    pose = np.zeros((*t.shape, 4, 4))
    pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = rotation, position[0], 1.0
    twist, acceleration = (np.concatenate(pair, axis=-1) for pair in zip(position[1:], (omega, alpha), strict=True))
    return Motion(t, pose, twist, acceleration)


@dataclass(frozen=True, eq=False)
class _EulerMotion(Trajectory):
    duration: float
    path: Path
    convention: str

    def evaluate(self, t: Array) -> Motion:
        x, xdot, xddot = self.path.evaluate(t)
        # turns about base axes are those about turned axes in reverse order
        order = slice(3, None) if self.convention.isupper() else slice(-1, 2, -1)
        names = self.convention if self.convention.isupper() else self.convention[::-1]
        angle, rate, acc = (np.moveaxis(derivative[..., order], -1, 0) for derivative in (x, xdot, xddot))
        a1, a2, a3 = (np.eye(3)["xyz".index(name)] for name in names.lower())
        first = _turn(a1, angle[0])
        second = first @ _turn(a2, angle[1])
        e1, e2, e3 = np.broadcast_to(a1, (*t.shape, 3)), first @ a2, second @ a3
        w1, w2, w3 = (e * w[..., None] for e, w in zip((e1, e2, e3), rate, strict=True))
        # each axis turns with the rotations before it
        alpha = sum(e * a[..., None] for e, a in zip((e1, e2, e3), acc, strict=True))
        alpha = alpha + np.cross(w1, w2) + np.cross(w1 + w2, w3)
        position = (x[..., :3], xdot[..., :3], xddot[..., :3])
        return _motion(t, second @ _turn(a3, angle[2]), position, w1 + w2 + w3, alpha)


@dataclass(frozen=True, eq=False)
class _AxisMotion(Trajectory):
    duration: float
    position: Path
    axis: Array
    angle: Path
    rotation: Array

    def evaluate(self, t: Array) -> Motion:
        angle, rate, acc = self.angle.evaluate(t)
        omega, alpha = rate[..., None] * self.axis, acc[..., None] * self.axis
        return _motion(t, _turn(self.axis, angle) @ self.rotation, self.position.evaluate(t), omega, alpha)


@dataclass(frozen=True, eq=False)
class _PoseMotion(Trajectory):
    duration: float
    position: Path
    progress: SequencePath
    rotations: Array
    axes: Array
    angles: Array

    def evaluate(self, t: Array) -> Motion:
        i = self.progress.index(t)
        axis, angle = self.axes[i], self.angles[i]
        s, sdot, sddot = self.progress.evaluate(t)
        omega, alpha = (sdot * angle)[..., None] * axis, (sddot * angle)[..., None] * axis
        return _motion(t, _turn(axis, s * angle) @ self.rotations[i], self.position.evaluate(t), omega, alpha)


def euler_motion(path: Path, convention: str) -> Trajectory:
    """Motion of coordinates [x y z a1 a2 a3] (6,), the three Euler angles in the order of ``convention``.

    R = R1(a1) R2(a2) R3(a3) about turned axes ("ZYX", "YXZ", ...), R3(a3) R2(a2) R1(a1) about base axes
    ("xyz", ...). omega = E rates, alpha = E accelerations + Edot rates, base axes, with
    E = [e1, R1 e2, R1 R2 e3]; Kim and Ryu (1)-(3) are "YXZ" with angles [theta, Psi, phi].
    """
    if convention not in CONVENTIONS:
        raise InputError(f"convention: must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
    if path.shape != (6,):
        raise InputError(f"path: must have six coordinates [x y z and three angles], got shape {path.shape}")
    return _EulerMotion(path.duration, path, convention)


def axis_motion(position: Path, axis: ArrayLike, angle: Path, rotation: ArrayLike | None = None) -> Trajectory:
    """R = exp(angle(t) [axis]x) R0 about a fixed base-frame ``axis`` (3,), origin on ``position`` (3,).

    ``angle`` is a scalar path in rad; ``rotation`` R0 (3, 3) is the identity unless given.
    """
    if position.shape != (3,) or angle.shape != ():
        got = f"{position.shape} and {angle.shape}"
        raise InputError(f"position, angle: must be a path of shape (3,) and a scalar one, got {got}")
    start = np.eye(3) if rotation is None else _rotations("rotation", finite("rotation", rotation, 3, 3))
    duration = same_duration("position, angle", (position.duration, angle.duration))
    return _AxisMotion(duration, position, unit("axis", axis), angle, start)


def pose_motion(poses: ArrayLike | RigidTransform, times: ArrayLike, law: Law = quintic) -> Trajectory:
    """Through ``poses`` (n, 4, 4) at ``times`` (n,): p = p_i + s (p_i+1 - p_i), R = exp(s [phi_i]x) R_i.

    phi_i is the rotation vector from pose i to pose i + 1 in base axes, so omega = sdot phi_i and
    alpha = sddot phi_i. With the ``quintic`` or ``cosine`` law the platform rests in every pose; a pose given
    twice in a row is a rest between the two times.
    """
    matrices = finite("poses", poses.as_matrix() if isinstance(poses, RigidTransform) else poses, None, 4, 4)
    t = knots("times", times, len(matrices))
    if (matrices[:, 3] != [0.0, 0.0, 0.0, 1.0]).any():
        raise InputError(f"poses: the last row must be 0 0 0 1, got {matrices[:, 3].tolist()}")
    rotations = _rotations("poses", matrices[:, :3, :3])
    vectors = Rotation.from_matrix(rotations[1:] @ rotations[:-1].swapaxes(-1, -2)).as_rotvec()
    angles = np.linalg.norm(vectors, axis=-1)
    if (angles > np.pi - 1e-6).any():
        i = int(np.argmax(angles))
        raise InputError(f"poses: half a turn from {i} to {i + 1} has no single axis; put a pose between them")
    axes = np.where(angles[:, None] > 0, vectors, [1.0, 0.0, 0.0]) / np.where(angles > 0, angles, 1.0)[:, None]
    position = through(matrices[:, :3, 3], t, law)
    return _PoseMotion(float(t[-1]), position, progress(t, law), rotations, axes, angles)


def _rotations(name: str, matrices: Array) -> Array:
    """Rotation matrices (..., 3, 3), checked."""
    error = np.abs(matrices.swapaxes(-1, -2) @ matrices - np.eye(3)).max(initial=0.0)
    if error > CLOSE or (np.linalg.det(matrices) < 0).any():
        raise InputError(
            f"{name}: rotation matrices are orthonormal with determinant +1, got |R^T R - 1| up to {error:.3g}"
            f" and determinants {np.round(np.linalg.det(matrices), 9).tolist()}"
        )
    return matrices
