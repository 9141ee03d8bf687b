"""Limits of reactions as lines: tangents to what they allow in the plane of acceleration u and squared speed x.

The force in a joint is a u + b x + c, with friction's part frozen in c. That its size stays below a limit R is an
ellipse in this plane, or a strip. From rest, u = x = 0, rays go out to where the first of all joints meets its limit;
the tangent there, n . (a u + b x + c) <= R with n along the force, leaves out nothing that is allowed. Rays go to all
sides of x >= 0, and through the last answers, where the tangents must be exact.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array

ConstraintRows = tuple[Array, Array, Array]
"""Factors of u and x and bounds of constraints, (N, 2, k) each: a pair bounds one quantity above and below."""
FREE = 1e100
"""A bound that says nothing."""
_SIDES = np.linspace(0.0, np.pi, 8)
_KEPT = 3
"""Last answers through which rays go."""


class Reactions:
    """Reactions of joints at starts and ends of N intervals of lengths ``step`` (N,): parts a, b, c (N + 1, joints, 3)
    without friction, and the ``limit`` [N] of their size."""

    def __init__(self, parts: tuple[Array, Array, Array], limit: float, step: Array) -> None:
        self.limit = limit
        self._step = step
        self._a, self._b, self._c = (np.stack([part[:-1], part[1:]]) for part in parts)
        self._aa, self._ab, self._bb = _dot(self._a, self._a), _dot(self._a, self._b), _dot(self._b, self._b)
        most = [np.sqrt(part.max(axis=-1, keepdims=True)) for part in (self._aa, self._bb)]
        u, x = (limit / np.where(size > 0, size, 1.0) for size in most)
        self._rays = u * np.cos(_SIDES), x * np.sin(_SIDES)  # (2, N, sides) each
        self._last: list[tuple[Array, Array]] = []

    def update(self, found: Array, u: Array, squares: Array) -> None:
        """Take friction's part from the full model's reactions (2, N, joints, 3) at an answer."""
        self._c = found - u[:, None, None] * self._a - squares[..., None, None] * self._b
        self._last = [*self._last, (np.broadcast_to(u, squares.shape), squares)][-_KEPT:]

    def rows(self, margin: Array | None) -> list[ConstraintRows]:
        """Constraints at starts and ends; ``margin`` (N, joints) is the share of the limit that is allowed."""
        du, dx = (
            np.concatenate([side, *(ray[k][..., None] for ray in self._last)], axis=-1)
            for k, side in enumerate(self._rays)
        )
        most = np.broadcast_to(self.limit * (1.0 if margin is None else margin), self._aa.shape)
        ca, cb, cc = _dot(self._c, self._a), _dot(self._c, self._b), _dot(self._c, self._c)
        u, x = du[..., None], dx[..., None]  # (2, N, rays, 1)
        aa, ab, bb, ac, bc, room = (
            part[:, :, None] for part in (self._aa, self._ab, self._bb, ca, cb, np.maximum(most**2 - cc, 0.0))
        )
        rise, size = u * ac + x * bc, u * (u * aa + 2 * x * ab) + x * x * bb
        far = np.where(size > 0, (np.sqrt(rise**2 + size * room) - rise) / np.where(size > 0, size, 1.0), FREE)
        first = far.argmin(axis=-1)  # the joint that meets its limit first, (2, N, rays)
        along = np.take_along_axis(far, first[..., None], axis=-1)[..., 0]
        along = np.where((along < FREE) & (along > 0), along, 0.0)

        def of(part: Array) -> Array:
            return np.take_along_axis(part, first, axis=-1)

        tu, tx = along * du, along * dx
        by_u = of(ca) + tu * of(self._aa) + tx * of(self._ab)  # the force there times a, b, c and itself
        by_x = of(cb) + tu * of(self._ab) + tx * of(self._bb)
        rest = of(cc) + tu * of(ca) + tx * of(cb)
        force = np.sqrt(np.maximum(rest + tu * by_u + tx * by_x, 0.0))
        force = np.where(force > 0, force, 1.0)
        by_u, by_x, bound = by_u / force, by_x / force, of(most) - rest / force
        by_u[1] += 2 * self._step[:, None] * by_x[1]  # at an interval's end x is x + 2 d u
        return [_one_sided(by_u[end], by_x[end], bound[end]) for end in (0, 1)]


def _dot(one: Array, other: Array) -> Array:
    return np.asarray((one * other).sum(axis=-1))


def _one_sided(u: Array, x: Array, bound: Array) -> ConstraintRows:
    """Constraints (N, k) each as one of a pair, of which the other says nothing."""
    return np.stack([u, 0 * u], axis=1), np.stack([x, 0 * x], axis=1), np.stack([bound, np.full_like(bound, FREE)], 1)
