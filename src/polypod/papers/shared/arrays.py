"""Vector algebra on batches, to write equations as the papers print them: vectors (..., 3), matrices (..., 3, 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...motion import Motion


def cross(a: Array, b: Array) -> Array:
    """Cross product a x b."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def dot(a: Array, b: Array) -> Array:
    """a.b with its axis kept, (..., 1), so that it multiplies vectors."""
    product: Array = np.sum(a * b, axis=-1, keepdims=True)
    return product


def norm(a: Array) -> Array:
    """|a| with its axis kept, (..., 1)."""
    return np.sqrt(dot(a, a))


def unit(a: Array) -> Array:
    """Unit vector a/|a|."""
    result: Array = a / norm(a)
    return result


def direction(a: Array) -> Array:
    """a/|a|, and zero for zero: the sense of a rate, which friction opposes."""
    length = norm(a)
    result: Array = a / np.where(length > 0, length, 1.0)
    return result


def times(matrix: Array, a: Array) -> Array:
    """Matrix times vector, M a."""
    product: Array = (matrix @ a[..., None])[..., 0]
    return product


def solve(matrix: Array, right: Array) -> Array:
    """x of M x = b for batches of M (..., n, n) and b (..., n)."""
    solution: Array = np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0], dtype=np.float64)
    return solution


def outer(a: Array, b: Array) -> Array:
    """Outer product a b^T, (..., 3, 3)."""
    return a[..., :, None] * b[..., None, :]


def skew(a: Array) -> Array:
    """a~ with a~ b = a x b."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    zero = np.zeros_like(x)
    rows = [np.stack(row, axis=-1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))]
    return np.stack(rows, axis=-2)


def rotated_tensor(axes: Array, tensor: Array) -> Array:
    """A tensor in other axes, T I T^T."""
    product: Array = axes @ tensor @ np.swapaxes(axes, -1, -2)
    return product


def peak(a: Array) -> float:
    """Largest magnitude of all entries."""
    return float(np.abs(a).max())


def norm_ratio(error: Array, whole: Array) -> float:
    """Size of an error over the size of the whole, both the root of the sum of squares."""
    return float(np.linalg.norm(error) / np.linalg.norm(whole))


def peak_ratio(error: Array, whole: Array) -> float:
    """Largest error over the largest value, both over time and legs."""
    return peak(error) / peak(whole)


# ----------------------------------------------------------------------------------------------------------------------
# The platform's motion and load as the papers' equations take them.


@dataclass(frozen=True)
class Platform:
    """Motion of the origin of {P} and the external wrench there: R (T, 1, 3, 3), all others (T, 1, 3), base axes.

    The axis of length 1 is that of the legs, so that a platform goes with arrays (T, 6, 3).
    """

    position: Array
    R: Array
    velocity: Array
    omega: Array
    acceleration: Array
    alpha: Array
    force: Array
    moment: Array

    @staticmethod
    def of(motion: Motion, wrench: Array | None = None) -> Platform:
        """From pose, twist and acceleration (T, ...) of a trajectory and an external wrench (6,) or (T, 1, 6)."""
        pose, twist, acceleration = motion.pose[:, None], motion.twist[:, None], motion.acceleration[:, None]
        push = np.broadcast_to(np.zeros(6) if wrench is None else wrench, twist.shape)
        halves = (half for six in (twist, acceleration, push) for half in (six[..., :3], six[..., 3:]))
        return Platform(pose[..., :3, 3], pose[..., :3, :3], *halves)
