"""How tests compare: differences relative to each state's size, and derivatives by central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# f'(0) = sum_k c_k (f(kh) - f(-kh))/h with an error of h^8 f^(9)/630.
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


def derivative(function: Callable[[float], Any], step: float) -> Any:
    """Derivative of a function of one number at 0, by central differences of eighth order."""
    return (
        sum(c * (np.asarray(function(k * step)) - np.asarray(function(-k * step))) for k, c in _WEIGHTS.items()) / step
    )


def close(got: Any, wanted: Any, tolerance: float, least: float = 0.0) -> None:
    """Largest difference over the largest wanted value of the whole block, or over ``least`` if all are smaller."""
    a, b = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    size = max(np.abs(b).max(), least)
    assert np.abs(a - b).max() <= tolerance * size, f"off by {np.abs(a - b).max() / size:.3g} of the largest"


def assert_close(got: Any, wanted: Any, tolerance: float | Array, scale: Any = None) -> None:
    """Largest difference in each state (leading axis) over that state's largest wanted value, or over ``scale``."""
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    assert got.shape == wanted.shape, f"shape {got.shape} instead of {wanted.shape}"
    assert np.isfinite(got).all(), "not finite"
    n = len(wanted) if wanted.ndim else 1
    rows = wanted.reshape(n, -1)
    size = np.abs(rows).max(axis=1) if scale is None else np.broadcast_to(scale, (n,))
    errors = np.abs(got.reshape(rows.shape) - rows).max(axis=1) / size
    worst = int(np.argmax(errors / tolerance))
    assert (errors <= tolerance).all(), f"state {worst} is off by {errors[worst]:.3g} of its size"
