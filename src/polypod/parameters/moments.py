"""Ten moments of a body from its mass, centre of mass and tensor as a file states them, in numbers and in symbols.

Sigma = tr(I)/2 1 - I with the inertia tensor I about the origin, in body axes. A file's tensor is about the point and
in the axes that the body names.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Body
from ..symbols.inertia import SECOND_MOMENTS
from ..symbols.vectors import skew


def moments_of(body: Body, mass: Array, com: Array, tensor: Array) -> Array:
    """Ten moments (D, 10) of bodies that differ from one in mass (D,), com (D, 3) and tensor (D, 3, 3) only."""
    central = central_tensors(body, mass, com, tensor)
    whole = central + _parallel_axis(mass, com)
    second = 0.5 * np.trace(whole, axis1=1, axis2=2)[:, None, None] * np.eye(3) - whole
    size = np.abs(second).max(axis=(1, 2), keepdims=True)
    second = np.where(np.abs(second) < 1e-15 * size, 0.0, second)
    first = mass[:, None] * com
    entries = [second[:, i, j] for i, j in SECOND_MOMENTS]
    return np.column_stack(np.broadcast_arrays(mass, *first.T, *entries))


def _parallel_axis(mass: Array, offset: Array) -> Array:
    """m (d.d 1 - d d^T), (D, 3, 3)."""
    square = (offset * offset).sum(axis=1)[:, None, None] * np.eye(3)
    return np.asarray(mass[:, None, None] * (square - offset[:, :, None] * offset[:, None, :]))


def central_tensors(body: Body, mass: Array, com: Array, tensor: Array) -> Array:
    """Inertia tensors (D, 3, 3) about the centres of mass in body axes: what :attr:`Body.central_inertia` is of one."""
    axes = np.array(body.frames[body.frame]) if body.frame != "body" else np.eye(3)
    central = axes @ tensor @ axes.T
    if body.about != "com":
        point = np.zeros(3) if body.about == "origin" else np.array(body.points[body.about])
        central = central - _parallel_axis(mass, com - point)
    return np.asarray(central)


def symbolic_moments(body: Body, mass: ca.SX, com: ca.SX, tensor: ca.SX) -> list[ca.SX]:
    """:func:`moments_of` one body in symbols: mass, com (3) and tensor (3, 3)."""
    axes = ca.DM(np.array(body.frames[body.frame])) if body.frame != "body" else ca.DM.eye(3)
    whole = axes @ tensor @ axes.T + mass * _square(com)
    if body.about != "com":
        point = np.zeros(3) if body.about == "origin" else np.array(body.points[body.about])
        whole = whole - mass * _square(com - ca.DM(point))
    second = 0.5 * ca.trace(whole) * ca.DM.eye(3) - whole
    first = mass * com
    return [mass, first[0], first[1], first[2], *(second[i, j] for i, j in SECOND_MOMENTS)]


def _square(offset: ca.SX) -> ca.SX:
    """d.d 1 - d d^T = -d~ d~, (3, 3)."""
    return -(skew(offset) @ skew(offset))
