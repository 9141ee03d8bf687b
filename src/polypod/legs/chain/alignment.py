"""What the numbers of a chain's joints have in common at home, to the rounding of their arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def parallel(a: Any, b: Any) -> bool:
    """Whether two directions are one, or opposite: tilts beyond rounding are kept."""
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-11)


def square(a: Any, b: Any) -> bool:
    """Whether two directions are perpendicular to each other."""
    return bool(abs(np.dot(a, b)) < 1e-12)


def on_line(point: Any, at: Any, axis: Any) -> bool:
    """Whether a point lies on a line."""
    return bool(np.linalg.norm(np.cross(np.subtract(point, at), axis)) < 1e-9)


def meet(lines: Sequence[tuple[Any, Any]]) -> bool:
    """Whether lines, each a point and a direction, pass through one point."""
    rows, right = [], []
    for at, axis in lines:
        across = np.eye(3) - np.outer(axis, axis)
        rows.append(across)
        right.append(across @ np.array(at))
    matrix, wanted = np.vstack(rows), np.concatenate(right)
    point = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    return bool(np.abs(matrix @ point - wanted).max() < 1e-9)
