"""Poses and rotations in numbers."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from ..arrays import Array
from ..errors import ImplausibleWarning, InputError
from .quantities import Angles, Data, Position, Rotation
from .units import argument_in_si


class Pose(Data):
    """Position and rotation of the platform frame {P} in the base frame {B}.

    ``rotation`` has the axes of {P} as columns. ``angles`` may be given instead, in the order of the robot's ``euler``;
    the robot turns them into ``rotation``.
    """

    position: Position = (0.0, 0.0, 0.0)
    rotation: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    angles: Angles | None = None

    @model_validator(mode="after")
    def _one_rotation(self) -> Pose:
        if self.angles is None:
            return self
        if "rotation" in self.model_fields_set:
            raise ValueError("angles: give rotation or angles, not both")
        return self

    def with_rotation(self, order: str) -> Pose:
        """The same pose by ``rotation`` for ``angles`` in an order such as ``ZYX`` (capitals: about moving axes)."""
        if self.angles is None:
            return self
        return Pose.model_validate({"position": self.position, "rotation": rotation_from_angles(order, self.angles)})

    @property
    def matrix(self) -> Array:
        """Homogeneous matrix (4, 4)."""
        if self.angles is not None:
            raise InputError(
                "angles: their order is defined by the robot's 'euler'; use with_rotation(order) or give rotation"
            )
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.position
        return matrix


def pose(
    x: ArrayLike = 0.0,
    y: ArrayLike = 0.0,
    z: ArrayLike = 0.0,
    roll: ArrayLike = 0.0,
    pitch: ArrayLike = 0.0,
    yaw: ArrayLike = 0.0,
) -> Array:
    """Poses of the platform frame {P} in the base frame {B}, from position and roll, pitch, yaw.

    R = Rz(yaw) Ry(pitch) Rx(roll): first roll about the base x axis, then pitch about the base y axis, then yaw about
    the base z axis (the same as yaw, pitch, roll about the platform's own axes).

    Parameters
    ----------
    x, y, z : array_like or str, optional
        Origin of {P} [m], or texts with a unit, such as ``"450 mm"``. All arguments broadcast against each other.
    roll, pitch, yaw : array_like or str, optional
        Angles about x, y and z [rad], or texts such as ``"5 deg"``. A single angle beyond a half turn, or a single
        position beyond 100 m, gives an ``ImplausibleWarning``: degrees or millimetres are probably meant.

    Returns
    -------
    ndarray, shape (..., 4, 4)
        Homogeneous matrices.

    Examples
    --------
    >>> pose(z=0.5, yaw=np.pi / 2).round(12)
    array([[ 0. , -1. ,  0. ,  0. ],
           [ 1. ,  0. ,  0. ,  0. ],
           [-0. ,  0. ,  1. ,  0.5],
           [ 0. ,  0. ,  0. ,  1. ]])
    >>> bool((pose(z="500 mm", yaw="90 deg") == pose(z=0.5, yaw=np.pi / 2)).all())
    True
    """
    names = ("x", "y", "z", "roll", "pitch", "yaw")
    units = ("m", "m", "m", "rad", "rad", "rad")
    arrays = []
    for name, value, unit in zip(names, (x, y, z, roll, pitch, yaw), units, strict=True):
        arrays.append(_checked(name, value, unit))
    try:
        px, py, pz, a, b, c = np.broadcast_arrays(*arrays)
    except ValueError as error:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in zip(names, arrays, strict=True))
        raise InputError(f"pose: must be numbers or arrays that broadcast, got shapes {shapes}") from error
    (sa, ca), (sb, cb), (sc, cc) = ((np.sin(angle), np.cos(angle)) for angle in (a, b, c))
    zero, one = np.zeros_like(px), np.ones_like(px)
    rows = [
        [cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa, px],
        [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa, py],
        [-sb, cb * sa, cb * ca, pz],
        [zero, zero, zero, one],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


_PLAUSIBLE = {"m": (100.0, "mm", "metres", "millimetres"), "rad": (np.pi, "deg", "radians", "degrees")}
"""Largest plausible single number by unit, the unit that is meant beyond it, and their names."""


def _checked(name: str, value: ArrayLike, unit: str) -> Array:
    """A component of a pose as finite numbers in SI; a single implausible one gives a warning."""
    written = argument_in_si(name, value, unit)
    try:
        array = np.asarray(written, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be a number or an array of numbers, got {value!r}") from error
    if not np.isfinite(array).all():
        raise InputError(f"{name}: must be finite, got {value!r}")
    largest, other, plain, meant = _PLAUSIBLE[unit]
    if array.ndim == 0 and abs(array) > largest and written is value:
        number = f"{float(array):g}"
        instead = f"write {name}='{number} {other}' if {meant} are meant"
        text = f"pose: {name} = {number} {unit}; numbers are in {plain}, {instead}"
        warnings.warn(text, ImplausibleWarning, stacklevel=3)
    return array


def skew(v: Array) -> Array:
    """Matrices (..., 3, 3) v~ with v~ b = v x b, of vectors (..., 3)."""
    result = np.zeros((*v.shape[:-1], 3, 3))
    result[..., 0, 1], result[..., 0, 2], result[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return result - np.swapaxes(result, -1, -2)


def rodrigues(axis: Array, angle: ArrayLike) -> Array:
    """Rotation matrices exp(angle axis~) (..., 3, 3) of unit axes (..., 3) and angles (...) [rad]."""
    cross, angle = skew(axis), np.asarray(angle)[..., None, None]
    result: Array = np.eye(3) + np.sin(angle) * cross + 2 * np.sin(angle / 2) ** 2 * (cross @ cross)
    return result


def rotation_from_vector(vector: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3) [rad]."""
    turn = np.asarray(vector, dtype=np.float64)
    angle = np.linalg.norm(turn, axis=-1)
    return rodrigues(turn / np.where(angle > 0, angle, 1.0)[..., None], angle)


def rotation_vector(rotation: ArrayLike) -> Array:
    """Rotation vectors (..., 3) [rad], at most pi long, of rotation matrices R (..., 3, 3).

    By the quaternion q, from the row of 4 q q^T (which is linear in R) with the largest diagonal entry.
    """
    r = np.asarray(rotation, dtype=np.float64)
    squares = np.empty((*r.shape[:-2], 4, 4))
    squares[..., :3, :3] = r + np.swapaxes(r, -1, -2)
    trace = np.trace(r, axis1=-2, axis2=-1)
    for k in range(3):
        squares[..., k, k] += 1 - trace
        i, j = (k + 1) % 3, (k + 2) % 3
        squares[..., k, 3] = squares[..., 3, k] = r[..., j, i] - r[..., i, j]
    squares[..., 3, 3] = 1 + trace
    largest = np.argmax(np.diagonal(squares, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(squares, largest[..., None, None], axis=-2)[..., 0, :]
    q = q * np.where(q[..., 3:] < 0, -1.0, 1.0) / np.linalg.norm(q, axis=-1, keepdims=True)
    sine = np.linalg.norm(q[..., :3], axis=-1)
    stretch = 2 * np.arctan2(sine, q[..., 3]) / np.where(sine > 0, sine, 1.0)
    result: Array = np.where(sine > 0, stretch, 2.0)[..., None] * q[..., :3]
    return result


def rotation_from_angles(order: str, angles: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of angles (..., 3) [rad] about three axes, ``xyz`` fixed ones or ``ZYX`` moving."""
    values = np.asarray(angles, dtype=np.float64)
    axes = [np.eye(3)["xyz".index(letter)] for letter in order.lower()]
    turns = [rodrigues(axis, values[..., k]) for k, axis in enumerate(axes)]
    first, second, third = turns if order.isupper() else turns[::-1]
    result: Array = first @ second @ third
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Displacements of poses in numbers: a translation and a rotation vector, base axes.


def displace(pose: Array, step: Array) -> Array:
    """Poses (k, 4, 4), or one (4, 4), displaced by [translation; rotation vector] (k, 6)."""
    displaced = np.broadcast_to(pose, (len(step), 4, 4)).copy()
    displaced[:, :3, 3] += step[:, :3]
    displaced[:, :3, :3] = rotation_from_vector(step[:, 3:]) @ pose[..., :3, :3]
    return displaced


def displacement(first: Array, last: Array) -> Array:
    """Displacements (k, 6) from a pose (4, 4) to others (k, 4, 4)."""
    turn = rotation_vector(last[:, :3, :3] @ first[:3, :3].T)
    return np.concatenate([last[:, :3, 3] - first[:3, 3], turn], axis=1)
