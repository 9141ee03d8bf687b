"""Vectors, frames and rotations in CasADi symbols: the few operations per leg needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np


def vector(value: Any) -> ca.SX:
    """A column of three from numbers or symbols."""
    return value if isinstance(value, ca.SX) else ca.SX(ca.DM(np.asarray(value, dtype=float)))


def absent(value: Any) -> bool:
    """Whether a number is zero by the robot's topology; a symbol is not, whatever its value may be."""
    return bool(value.is_zero()) if isinstance(value, ca.SX) else value == 0


def dot(a: ca.SX, b: ca.SX) -> ca.SX:
    """a . b"""
    return ca.dot(a, b)  # written out in Python it takes seven times the time


def cross(a: ca.SX, b: ca.SX) -> ca.SX:
    """a x b"""
    return ca.cross(a, b)


def symmetric(matrix: ca.SX) -> ca.SX:
    """A matrix known to be symmetric, its lower triangle the very expressions of its upper one."""
    return ca.triu(matrix) + ca.triu(matrix, False).T


def skew(a: ca.SX) -> ca.SX:
    """The matrix a~ with a~ b = a x b."""
    zero = ca.SX(0)
    rows = [[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]]
    return ca.vertcat(*[ca.horzcat(*row) for row in rows])


def axis_rotation(axis: int, angle: ca.SX) -> ca.SX:
    """Rotation (3, 3) about a coordinate axis: 0, 1 or 2 for x, y or z."""
    c, s = ca.cos(angle), ca.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = ca.SX.eye(3)
    matrix[i, i], matrix[j, j], matrix[i, j], matrix[j, i] = c, c, -s, s
    return matrix


def axial(matrix: ca.SX) -> ca.SX:
    """sum x_k x y_k for a matrix sum y_k x_k^T: the moment of forces y at positions x."""
    return ca.vertcat(matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1])


def norm(a: ca.SX) -> ca.SX:
    """|a|"""
    return ca.sqrt(dot(a, a))


def unit(a: ca.SX) -> ca.SX:
    """a / |a|, with one division."""
    return a * (1 / norm(a))


def columns(*vectors: ca.SX) -> ca.SX:
    """Matrix of columns."""
    return ca.horzcat(*vectors)


def total(parts: Sequence[ca.SX], shape: tuple[int, int]) -> ca.SX:
    """Sum of matrices of one shape; zeros for none."""
    result = ca.SX.zeros(*shape)
    for part in parts:
        result = result + part
    return result


def cayley(a: ca.SX) -> ca.SX:
    """Cayley's rotation (3, 3) by 2 atan|a| about a: 1 + 2/(1 + a.a) (a~ + a~ a~), a rotation for every a."""
    tilde = skew(a)
    return ca.SX.eye(3) + (2 / (1 + dot(a, a))) * (tilde + tilde @ tilde)


def orthonormalised(axes: ca.SX) -> ca.SX:
    """Axes (3, 3) that are orthonormal but for rounding or a few printed digits, made so: R (3 - R^T R)/2."""
    return axes @ (1.5 * ca.SX.eye(3) - 0.5 * (axes.T @ axes))


@dataclass(frozen=True)
class Frame:
    """A frame in the base: origin (3) and axes (3x3, columns)."""

    origin: ca.SX
    axes: ca.SX

    @staticmethod
    def symbols(name: str) -> Frame:
        """A frame of twelve free symbols."""
        return Frame(ca.SX.sym(f"{name}_origin", 3), ca.SX.sym(f"{name}_axes", 3, 3))
