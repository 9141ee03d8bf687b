"""The time a compiled function takes for one state."""

from __future__ import annotations

import time

import numpy as np

from ..kernels import Kernel
from ..model import Model

STATES = 4096


def seconds_a_state(kernel: Kernel, model: Model) -> float:
    """Time of one state of ``inverse_dynamics`` in a batch on one core [s], the best of five."""
    draw = np.random.default_rng(1)
    inputs = [np.tile(model.robot.home.matrix, (STATES, 1, 1)), *(draw.normal(size=(STATES, 6)) for _ in range(3))]
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        kernel(*inputs, threads=1)
        best = min(best, time.perf_counter() - start)
    return float(best) / STATES
