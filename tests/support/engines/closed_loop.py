"""Inverse dynamics of a mechanism with loops from any engine's tree: M, bias, the loops' Jacobian; nothing of polypod.

M a + b = B tau + J^T lambda, J v = 0, J a + Jdot v = 0. Jdot v and the platform's own are differences of fourth order.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Rounding of 1e-16/h against truncation of h^4: h of 1e-3 leaves about 1e-12.
STEP = 1e-3


class Tree(Protocol):
    """An engine's open tree; ``driven`` are the numbers of driven velocities, ``held`` of those that stand still."""

    driven: list[int]
    held: list[int]

    def moved(self, q: Array, v: Array) -> Array: ...
    def gap(self, q: Array) -> Array: ...
    def loops(self, q: Array) -> Array: ...
    def platform(self, q: Array) -> tuple[Array, Array]: ...
    def dynamics(self, q: Array, v: Array) -> tuple[Array, Array]: ...


class State(NamedTuple):
    pose: Array
    twist: Array
    acceleration: Array
    force: Array


def closed(tree: Tree, q: Array, driven: Array) -> Array:
    """The configuration near q with all loops closed after the driven joints moved by so much."""
    fixed = [*tree.driven, *tree.held]
    first = np.zeros(tree.loops(q).shape[1])
    first[tree.driven] = driven
    q = tree.moved(q, first)
    for _ in range(30):
        gap, rows = tree.gap(q), tree.loops(q)
        rows[:, fixed] = 0.0
        if np.abs(gap).max() < 1e-14:
            break
        q = tree.moved(q, np.linalg.lstsq(rows, -gap, rcond=1e-9)[0])
    assert np.abs(tree.gap(q)).max() < 1e-10, "the loops stay open"
    return q


def state(tree: Tree, q: Array, rates: Array, accelerations: Array) -> State:
    """The platform's motion and the driven joints' forces, at a closed configuration.

    What nothing drives (rods that spin) has no momentum, and accelerates as no force makes it.
    """
    loops, (pose, along) = tree.loops(q), tree.platform(q)
    mass = tree.dynamics(q, np.zeros(loops.shape[1]))[0]
    free = scipy.linalg.null_space(np.vstack([_columns(tree, loops.shape[1]).T, loops]), rcond=1e-9)
    v = _solve(tree, loops, np.zeros(len(loops)), rates)
    v = v - free @ np.linalg.solve(free.T @ mass @ free, free.T @ mass @ v)

    def by_time(f):
        near, far = (f(tree.moved(q, s * STEP * v)) - f(tree.moved(q, -s * STEP * v)) for s in (1, 2))
        return (8 * near - far) / (12 * STEP)

    a = _solve(tree, loops, -by_time(tree.loops) @ v, accelerations)
    drift = by_time(lambda at: tree.platform(at)[1]) @ v
    bias = tree.dynamics(q, v)[1]
    matrix = np.hstack([_columns(tree, len(v)), loops.T, -mass @ free])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale < 1e-9] = np.inf  # rows of planar loops that are rounding
    solved = np.linalg.lstsq(matrix / scale, mass @ a + bias, rcond=1e-11)[0] / scale
    assert np.abs(matrix @ solved - mass @ a - bias).max() < 1e-7 * np.abs(mass @ a + bias).max()
    return State(pose, along @ v, along @ a + drift, solved[: len(tree.driven)])


def _columns(tree: Tree, size: int) -> Array:
    return np.eye(size)[:, [*tree.driven, *tree.held]]


def _solve(tree: Tree, loops: Array, rest: Array, driven: Array) -> Array:
    rows = _columns(tree, loops.shape[1]).T
    values = np.r_[driven, np.zeros(len(tree.held))]
    return np.linalg.lstsq(np.vstack([rows, loops]), np.r_[values, rest], rcond=1e-11)[0]
