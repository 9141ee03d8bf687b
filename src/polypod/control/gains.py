"""Gains of controllers: numbers, or one for each component, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError


def gain(name: str, value: ArrayLike, count: int) -> Array:
    """A gain for each of ``count`` components, not negative."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name}: a number or an array of {count} is needed, got shape {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"{name}: finite numbers of at least 0 are needed, got {array.tolist()}")
    return np.broadcast_to(array, (count,)).copy()
