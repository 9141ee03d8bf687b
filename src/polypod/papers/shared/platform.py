"""The platform's motion and load as the papers' equations take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...motion import Motion


@dataclass(frozen=True)
class Platform:
    """Motion of the origin of {P} and the external wrench there: R (T, 1, 3, 3), all others (T, 1, 3), base axes.

    The axis of length 1 is that of the legs, so that a platform goes with arrays (T, 6, 3).
    """

    position: Array
    R: Array
    velocity: Array
    omega: Array
    acceleration: Array
    alpha: Array
    force: Array
    moment: Array

    @staticmethod
    def of(motion: Motion, wrench: Array | None = None) -> Platform:
        """From pose, twist and acceleration (T, ...) of a trajectory and an external wrench (6,) or (T, 1, 6)."""
        pose, twist, acceleration = motion.pose[:, None], motion.twist[:, None], motion.acceleration[:, None]
        push = np.broadcast_to(np.zeros(6) if wrench is None else wrench, twist.shape)
        halves = (half for six in (twist, acceleration, push) for half in (six[..., :3], six[..., 3:]))
        return Platform(pose[..., :3, 3], pose[..., :3, :3], *halves)
