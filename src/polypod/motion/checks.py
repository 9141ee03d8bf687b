"""Checks of the numbers of motions: every failure names the argument, what was got and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError

ROUNDING = 1e-12
"""Relative slack for times and durations that were computed: ``np.arange(n)*dt`` may end a little late."""

CLOSE = 1e-9
"""Relative slack for values that must agree where pieces meet, and for matrices that must be rotations."""


def finite(name: str, value: ArrayLike, *shape: int | None) -> Array:
    """Read-only float64 copy of ``value``; ``shape`` fixes its axes (None: any length)."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be numbers in a regular array, got {value!r}") from error
    fits = len(shape) == result.ndim and all(b in (None, a) for a, b in zip(result.shape, shape, strict=True))
    if shape and not fits:
        wanted = ", ".join("n" if length is None else str(length) for length in shape)
        raise InputError(f"{name}: must have shape ({wanted}), got {result.shape}")
    if not np.isfinite(result).all():
        raise InputError(f"{name}: must be finite, got {result.tolist()}")
    result.setflags(write=False)
    return result


def scalar_or_vector(name: str, value: ArrayLike, extra: int = 0) -> Array:
    """One coordinate () or several (k,), k > 0, behind ``extra`` leading axes."""
    result = finite(name, value)
    if result.ndim - extra not in (0, 1) or 0 in result.shape:
        kind = "a number or a vector" if extra == 0 else "one number or one vector per row, at least one row"
        raise InputError(f"{name}: must be {kind}, got an array of shape {result.shape}")
    return result


def knots(name: str, value: ArrayLike, count: int) -> Array:
    """``count`` times, two at least, increasing from 0 s."""
    times = finite(name, value, None)
    if len(times) != count or count < 2:
        raise InputError(f"{name}: must be {max(count, 2)} times (at least two), got {len(times)}")
    if times[0] != 0.0 or not (np.diff(times) > 0).all():
        raise InputError(f"{name}: must start at 0 s and increase strictly, got {times.tolist()}")
    return times


def unit(name: str, value: ArrayLike) -> Array:
    """The direction of a vector (3,) that is not zero."""
    vector = finite(name, value, 3)
    length = np.linalg.norm(vector)
    if length == 0.0:
        raise InputError(f"{name}: must be a non-zero vector, got {vector.tolist()}")
    result: Array = vector / length
    return result


def same_duration(name: str, durations: Iterable[float]) -> float:
    """The one duration that all parts share, to rounding."""
    every = list(durations)
    if max(every) - min(every) > ROUNDING * max(every):
        raise InputError(f"{name}: must have equal durations, got {every} s")
    return every[0]


def distance_to(times: Array, others: Array) -> Array:
    """Distances (m,) of other times (m,) from the nearest of ``times`` (n,), which are in order."""
    right = np.searchsorted(times, others)
    after, before = times[np.minimum(right, len(times) - 1)], times[np.maximum(right - 1, 0)]
    result: Array = np.minimum(np.abs(after - others), np.abs(others - before))
    return result


def inside(t: ArrayLike, duration: float) -> Array:
    """Times in [0, duration]; what lies outside by rounding only is moved to the end it passed."""
    try:
        times = np.asarray(t, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"t: must be numbers in a regular array, got {t!r}") from error
    slack = ROUNDING * duration
    outside = ~((times >= -slack) & (times <= duration + slack))
    if outside.any():
        raise InputError(
            f"t: times must lie in [0, {duration:.12g}] s, got {times[outside].flat[0]:.12g} s"
            f" ({np.count_nonzero(outside)} of {times.size} outside)"
        )
    result: Array = np.clip(times, 0.0, duration)
    return result
