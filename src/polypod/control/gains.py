"""Gains of controllers: numbers, or one for each component, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError


def gain(name: str, value: ArrayLike, count: int) -> Array:
    """A gain for each of ``count`` components, not negative."""
    array = each(name, value, count)
    if not (array >= 0).all():
        raise InputError(f"{name}: finite numbers of at least 0 are needed, got {np.asarray(value).tolist()}")
    return array


def each(name: str, value: ArrayLike, count: int) -> Array:
    """A finite number for each of ``count`` components, from one for all or an array of them."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name}: a number or an array of {count} is needed, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: finite numbers are needed, got {array.tolist()}")
    return np.broadcast_to(array, (count,)).copy()
