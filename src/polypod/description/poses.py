"""Poses from numbers: position and roll, pitch, yaw."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError


def pose(
    x: ArrayLike = 0.0,
    y: ArrayLike = 0.0,
    z: ArrayLike = 0.0,
    roll: ArrayLike = 0.0,
    pitch: ArrayLike = 0.0,
    yaw: ArrayLike = 0.0,
) -> Array:
    """Poses (..., 4, 4) of the platform frame {P} in the base frame {B}, from numbers or arrays that broadcast.

    x, y, z [m] are the origin of {P}. roll, pitch, yaw [rad] are angles about x, y and z in the order ZYX,
    R = Rz(yaw) Ry(pitch) Rx(roll): first roll about the base x, then pitch about the base y, then yaw about the base z
    (the same as yaw, pitch, roll about the platform's own axes).

    >>> pose(z=0.5, yaw=np.pi / 2).round(12)
    array([[ 0. , -1. ,  0. ,  0. ],
           [ 1. ,  0. ,  0. ,  0. ],
           [-0. ,  0. ,  1. ,  0.5],
           [ 0. ,  0. ,  0. ,  1. ]])
    """
    names = ("x", "y", "z", "roll", "pitch", "yaw")
    arrays = [_finite(name, value) for name, value in zip(names, (x, y, z, roll, pitch, yaw), strict=True)]
    try:
        px, py, pz, a, b, c = np.broadcast_arrays(*arrays)
    except ValueError as error:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in zip(names, arrays, strict=True))
        raise InputError(f"pose: numbers, or arrays that broadcast, are needed, got shapes {shapes}") from error
    (sa, ca), (sb, cb), (sc, cc) = ((np.sin(angle), np.cos(angle)) for angle in (a, b, c))
    zero, one = np.zeros_like(px), np.ones_like(px)
    rows = [
        [cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa, px],
        [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa, py],
        [-sb, cb * sa, cb * ca, pz],
        [zero, zero, zero, one],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _finite(name: str, value: ArrayLike) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be a number or an array of numbers, got {value!r}") from error
    if not np.isfinite(array).all():
        raise InputError(f"{name}: must be finite, got {value!r}")
    return array
