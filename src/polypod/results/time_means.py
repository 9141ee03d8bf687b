"""Means over time by the trapezoidal rule."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def mean(time: Array, values: Array) -> Array:
    """Average over time (k,) of values (n, k) at times (n,), linear between samples."""
    result: Array = np.trapezoid(values, time, axis=0) / (time[-1] - time[0])
    return result


def rms(time: Array, values: Array) -> Array:
    """Root mean square over time (k,) of values (n, k) at times (n,).

    >>> t = np.linspace(0.0, 1.0, 1001)
    >>> rms(t, np.sin(2 * np.pi * t)[:, None]).round(6)
    array([0.707107])
    """
    result: Array = np.sqrt(mean(time, values**2))
    return result


def power_mean(time: Array, values: Array, power: float) -> Array:
    """Power mean over time (k,), (average of |values|^p)^(1/p): the constant load that wears a bearing as much."""
    result: Array = mean(time, np.abs(values) ** power) ** (1 / power)
    return result
