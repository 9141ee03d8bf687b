"""Arrays of first-order models of one variable, c + g s +- r for |s| <= 1, and linear systems of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from .affine import Affine

_SUM = 1e-14
"""More than what a sum of some dozens of products may have lost, relative to the sizes of its terms."""


@dataclass(frozen=True)
class LinearModels:
    """Models (n, ...) of arrays: ``middle`` c, ``slope`` g, ``remainder`` r."""

    middle: Array
    slope: Array
    remainder: Array

    @staticmethod
    def stacked(parts: list[Affine]) -> LinearModels:
        """Models (n, k) of k numbers."""
        count = max((np.size(part.remainder) for part in parts), default=1)
        shape = count, len(parts)
        found = np.empty(shape), np.empty(shape), np.empty(shape)
        for k, part in enumerate(parts):
            found[0][:, k], found[1][:, k], found[2][:, k] = part.middle, part.derivatives[0], part.remainder
        return LinearModels(*found)

    @property
    def upper_bound(self) -> Array:
        """Upper bounds of the absolute values."""
        return (np.abs(self.middle) + np.abs(self.slope) + self.remainder) * (1 + _SUM)

    @property
    def ends(self) -> tuple[Array, Array]:
        """Lower and upper ends of the values over each interval."""
        off = (np.abs(self.slope) + self.remainder) * (1 + _SUM) + _SUM * np.abs(self.middle)
        return self.middle - off, self.middle + off

    def __getitem__(self, key: Any) -> LinearModels:
        return LinearModels(self.middle[key], self.slope[key], self.remainder[key])

    def reshape(self, *shape: int) -> LinearModels:
        """The same numbers of each interval in another shape."""
        whole = (len(self.middle), *shape)
        return LinearModels(self.middle.reshape(whole), self.slope.reshape(whole), self.remainder.reshape(whole))

    def repeated(self, n: int) -> LinearModels:
        """Broadcast to n intervals."""
        parts = self.middle, self.slope, self.remainder
        return LinearModels(*(np.broadcast_to(part, (n, *part.shape[1:])) for part in parts))

    def transposed(self) -> LinearModels:
        """Matrices with rows and columns exchanged."""
        return LinearModels(*(part.swapaxes(-1, -2) for part in (self.middle, self.slope, self.remainder)))

    @property
    def affine(self) -> list[Affine]:
        """The numbers (k) of (n, k) one by one."""
        return [Affine.exact(c, (g,), r) for c, g, r in zip(self.middle.T, self.slope.T, self.remainder.T, strict=True)]

    def __neg__(self) -> LinearModels:
        return LinearModels(-self.middle, -self.slope, self.remainder)

    def __add__(self, other: LinearModels) -> LinearModels:
        middle, slope = self.middle + other.middle, self.slope + other.slope
        size = np.abs(middle) + np.abs(slope)
        return LinearModels(middle, slope, (self.remainder + other.remainder) * (1 + _SUM) + _SUM * size)

    def __mul__(self, other: LinearModels) -> LinearModels:
        middle = self.middle * other.middle
        slope = self.middle * other.slope + self.slope * other.middle
        off = (np.abs(self.slope) + self.remainder) * (np.abs(other.slope) + other.remainder)
        rest = np.abs(self.middle) * other.remainder + np.abs(other.middle) * self.remainder + off
        size = np.abs(middle) + np.abs(self.middle * other.slope) + np.abs(self.slope * other.middle)
        return LinearModels(middle, slope, rest * (1 + _SUM) + _SUM * size)

    def __matmul__(self, other: LinearModels) -> LinearModels:
        """Products of matrices (n, i, j) and (n, j, k)."""
        a, b = (LinearModels(*(np.abs(part) for part in (x.middle, x.slope, x.remainder))) for x in (self, other))
        middle = self.middle @ other.middle
        slope = self.middle @ other.slope + self.slope @ other.middle
        rest = a.middle @ b.remainder + a.remainder @ b.middle + (a.slope + a.remainder) @ (b.slope + b.remainder)
        size = a.middle @ (b.middle + b.slope) + a.slope @ b.middle
        return LinearModels(middle, slope, rest * (1 + _SUM) + _SUM * size)

    def times(self, vector: LinearModels) -> LinearModels:
        """Products of matrices (n, i, j) and vectors (n, j)."""
        product = self @ LinearModels(vector.middle[..., None], vector.slope[..., None], vector.remainder[..., None])
        return product[..., 0]


def constant(values: Array) -> LinearModels:
    """Numbers that do not depend on s and are exact."""
    return LinearModels(values, np.zeros_like(values), np.zeros_like(values))


def solve(matrix: LinearModels, right: LinearModels) -> tuple[LinearModels, Array]:
    """x of A x = b, A (n, k, k) and b (n, k) or (n, k, r), and the sign (n,) of det A everywhere, 0 if not known.

    With C near the middle of A^-1, E = C A - 1 and x0 = C b,

        x = x0 - E x0 + e,   (1 + E) e = E E x0,

    and any u > 0 with |E| u + |E| |E x0| < u proves that A is regular and that |e| < u: what is not known is of second
    order.
    """
    if right.middle.ndim == 2:
        x, sign = solve(matrix, right[..., None])
        return x[..., 0], sign
    k = matrix.middle.shape[-1]
    good = np.asarray(np.isfinite(matrix.middle + matrix.remainder).all(axis=(1, 2)))
    safe = np.where(good[:, None, None], matrix.middle, np.eye(k))
    # rows of one size: coordinates have different units
    scale = 1 / np.maximum(np.abs(safe).max(axis=2, keepdims=True), 1e-300)
    good &= np.linalg.cond(safe * scale) < 1e12
    safe = np.where(good[:, None, None], safe, np.eye(k))
    inverse = np.linalg.inv(safe)
    first = constant(inverse) @ right
    off = constant(inverse) @ matrix + constant(np.broadcast_to(-np.eye(k), safe.shape))
    change = off @ first
    left = (off.upper_bound @ change.upper_bound) * (1 + _SUM) + 1e-15 * first.upper_bound + 1e-300
    most, sure = majorant(off.upper_bound, left)
    sure &= good
    x = first + -change
    sign = np.where(sure, np.sign(np.linalg.det(safe)), 0.0)
    return LinearModels(x.middle, x.slope, x.remainder + np.where(sure[:, None, None], most, np.inf)), sign


def majorant(size: Array, base: Array) -> tuple[Array, NDArray[np.bool_]]:
    """u (n, k, r) > 0 with G u + b < u for G (n, k, k) and b (n, k, r), not negative, and where (n,) there is one.

    Where there is, G has a spectral radius below 1, and whatever is at most G times itself and b more is below u.
    (1 - G) u = b (1 + 1e-9) has solutions for larger G too: these have negative components and prove nothing.
    """
    eye = np.eye(size.shape[1])
    sure = np.asarray(np.isfinite(size).all(axis=(1, 2)) & np.isfinite(base).all(axis=(1, 2)))
    left = np.where(sure[:, None, None], eye - size, eye)
    left = np.where((np.abs(np.linalg.det(left)) > 1e-9)[:, None, None], left, eye)
    most = np.linalg.solve(left, base) * (1 + 1e-9)
    sure &= (most > 0).all(axis=(1, 2)) & ((size @ most + base) * (1 + _SUM) < most).all(axis=(1, 2))
    return np.asarray(most), sure
