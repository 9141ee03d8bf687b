"""Limits of the forces of redundant actuators, whoever of them carries the load.

Forces f + N y with |f_i + (N y)_i| <= c_i exist if and only if |z.f| <= sum |z_i| c_i for all elementary vectors z of
N (``polypod.symbols.bounded``): in each, r + 1 actuators do together what none can leave to others. Along a path z.f is
affine in acceleration and squared speed as f is, so these combinations are limited instead of the actuators.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..model import Distribution
from ..symbols.bounded import MOST_FREE

if TYPE_CHECKING:
    from ..model import Model

_LARGEST = 1e100


def of_least_norm(model: Model) -> dict[str, Any]:
    """The argument of a model's functions that makes forces affine in the motion: of least norm, without bounds."""
    return {"distribution": Distribution()} if model.robot_limits.redundancy > 0 else {}


class Sharing:
    """Elementary vectors z (..., C, n) of the forces at poses (..., 4, 4), and the actuators of each."""

    def __init__(self, model: Model, pose: Array) -> None:
        free = model.null_space(pose)
        n, r = free.shape[-2:]
        chosen = np.array(list(combinations(range(n), r + 1)))
        rows = free[..., chosen, :]  # (..., C, r + 1, r)
        self.vectors: Array = np.zeros((*pose.shape[:-2], len(chosen), n))
        for k in range(r + 1):
            minor = (-1.0) ** k * np.linalg.det(np.delete(rows, k, axis=-2))
            np.put_along_axis(
                self.vectors, np.broadcast_to(chosen[:, k : k + 1], (*minor.shape, 1)), minor[..., None], -1
            )
        self._sizes = np.abs(self.vectors)

    @staticmethod
    def applies(model: Model) -> bool:
        """Whether a robot shares its forces so."""
        return 0 < model.robot_limits.redundancy <= MOST_FREE

    @staticmethod
    def names(model: Model) -> list[str]:
        """Actuators of each combination, as a text."""
        names = [actuator.name for actuator in model.actuators]
        return [" and ".join(some) for some in combinations(names, model.robot_limits.redundancy + 1)]

    def combined(self, force: Array) -> Array:
        """z.f (..., C) of forces (..., n)."""
        return np.asarray((self.vectors @ force[..., None])[..., 0])

    def bounds(self, limit: Array) -> Array:
        """sum |z_i| c_i (..., C) of limits (n,) or (..., n)."""
        some = np.minimum(np.broadcast_to(limit, self.vectors.shape[:-2] + self.vectors.shape[-1:]), _LARGEST)
        return np.asarray((self._sizes @ some[..., None])[..., 0])

    def spread(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The least and largest (..., C) that parts of forces between two ends (..., n) add."""
        middle, half = self.combined(0.5 * (low + high)), self.bounds(0.5 * (high - low))
        return middle - half, middle + half

    def uses(self, force: Array, largest: Array, limit: Array) -> Array:
        """Shares (..., C) of the limits at forces whose sizes may be as large as ``largest``."""
        size = np.abs(self.combined(force)) + self.bounds(largest - np.abs(force))
        bound = self.bounds(limit)
        return np.asarray(size / np.where(bound > 0, bound, np.inf))

    def of_intervals(self) -> Sharing:
        """The vectors (2, N, C, n) at starts and ends of the N intervals between poses (N + 1,)."""
        some = object.__new__(Sharing)
        some.vectors, some._sizes = (np.stack([part[:-1], part[1:]]) for part in (self.vectors, self._sizes))
        return some
