"""When a motion is sampled: evenly, at its points, and often enough for its shape.

A motion is judged by its samples, so that too few of them are a wrong answer. Whatever the rate, the samples include
the ends of all pieces of a trajectory (its points) and of the wrench's table; a piece with fewer samples than its
shape needs gets as many as that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from .checks import ROUNDING, distance_to
from .contract import Trajectory

DEFAULT_RATE = 200.0
MAX_SAMPLES = 2_000_000
"""More are a slip of a digit rather than a wish: they would take gigabytes."""


def sample_times(trajectory: Trajectory, rate: float = DEFAULT_RATE, also: ArrayLike = ()) -> Array:
    """Sampling times of a motion: evenly spaced, both ends included, refined where the shape of the motion needs it.

    Parameters
    ----------
    trajectory : Trajectory
        The motion.
    rate : float, optional
        Sampling rate [Hz].
    also : array_like, optional
        Times [s] that must be among them, as far as they lie within the motion.

    Returns
    -------
    ndarray, shape (n,)
        Times [s].
    """
    duration, pieces = trajectory.duration, trajectory.pieces
    pieces = pieces[pieces[:, 2] > 0]
    if not rate > 0:
        raise InputError(f"rate: must be greater than 0 samples per second, got {rate}")
    if duration * rate + 1 > MAX_SAMPLES:
        count = f"{duration * rate + 1:.7g}"
        raise InputError(f"rate: {rate:g}/s for {duration:g} s give {count} samples; the limit is {MAX_SAMPLES}")
    if pieces[:, 2].sum() > MAX_SAMPLES:
        raise InputError(
            f"trajectory: its points and periods need {pieces[:, 2].sum():.7g} samples; the limit is {MAX_SAMPLES}"
        )
    even = np.linspace(0.0, duration, max(round(duration * rate), 1) + 1)
    within = np.searchsorted(even, pieces[:, 1], "left") - np.searchsorted(even, pieces[:, 0], "right") + 1
    coarse = pieces[within < pieces[:, 2]]
    finer = [np.linspace(start, end, int(least) + 1) for start, end, least in coarse]
    marks = np.asarray(also, dtype=np.float64)
    marks = np.concatenate([pieces[:, 0], pieces[:, 1], marks[(marks >= 0.0) & (marks <= duration)], *finer])
    return _merged(even, marks, ROUNDING * duration)


def _merged(even: Array, marks: Array, slack: float) -> Array:
    """The even times, and of ``marks`` those that no other time equals to rounding."""
    marks = np.unique(np.clip(marks, even[0], even[-1]))
    marks = marks[distance_to(even, marks) > slack]
    marks = marks[np.diff(marks, prepend=-np.inf) > slack]
    return np.union1d(even, marks)
