"""Bounds of the forces of redundant actuators, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, short_repr
from ..limits import RobotLimits
from ..symbols.bounded import UNLIMITED

CRITERIA = ("least norm", "middle", "lowest", "highest")
"""What forces within bounds stay near."""


def force_bounds(limits: RobotLimits, bounds: Any) -> tuple[Array, Array]:
    """Lowest and highest forces (..., n) of the actuators; those without a bound have one that they never reach."""
    names = [actuator.name for actuator in limits.actuators]
    if isinstance(bounds, str):
        if bounds != "drives":
            raise InputError(f"distribution: bounds are 'drives' or (low, high), got {bounds!r}")
        low, high = limits.force_range_at_rest
        if not np.isfinite(np.r_[low, high]).any():
            raise InputError(
                "distribution: bounds='drives' needs limits of the drives in the robot file, such as max_force; "
                "give them, or pass bounds=(low, high)",
                code="no_limits",
            )
    else:
        if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
            raise InputError(f"distribution: bounds are 'drives' or (low, high), got {short_repr(bounds)}")
        try:
            low, high = (np.asarray(bound, dtype=np.float64) for bound in bounds)
            low, high = np.broadcast_arrays(low, high, np.zeros(len(names)))[:2]
        except (TypeError, ValueError) as error:
            raise InputError(
                f"distribution: bounds (low, high) are numbers or arrays (..., {len(names)}), one for each of "
                f"{', '.join(names)}, got {short_repr(bounds)}"
            ) from error
    wrong = ~(low <= high)  # or not a number
    if wrong.any():
        *_, k = np.argwhere(wrong)[0].tolist()
        raise InputError(
            f"distribution: bounds of {names[k]} exclude each other: {low[wrong][0]:g} to {high[wrong][0]:g}; the "
            "lowest force must not be above the highest",
            code="bounds",
        )
    return np.clip(low, -UNLIMITED, UNLIMITED), np.clip(high, -UNLIMITED, UNLIMITED)
