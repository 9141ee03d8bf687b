"""Robots near a robot: its numbers changed a little, to tell what holds by its topology from what holds by its numbers.

An entry that is zero for the robot at hand may be something else for another design that the same function serves. It
is left out of the function only if it is zero for these designs too.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...parameters import ParameterVector

# Large against rounding in all that follows from the numbers, too small for a leg to lose its reach.
_CHANGE = 1e-3
_UNIT = 1e-9


def nearby_designs(numbers: ParameterVector, count: int = 2) -> Array:
    """Values (1 + count, k) of a robot's inputs: its own, then random changes of them; only its own if it has none.

    Directions keep their length; the home rotation, and numbers that are no inputs, keep their values.
    """
    own = numbers.values
    if not len(own):
        return own[None]
    draw = np.random.default_rng(0)
    return np.stack([own, *(_changed(numbers, draw) for _ in range(count))])


def _changed(numbers: ParameterVector, draw: np.random.Generator) -> Array:
    own, result = numbers.values, numbers.values.copy()
    fixed: dict[str, list[float]] = {}
    for entry in numbers.constants:
        fixed.setdefault(entry.path, []).append(entry.value)
    places: dict[str, list[int]] = {}
    for k, entry in enumerate(numbers.entries):
        places.setdefault(entry.path, []).append(k)
    for path, mine in places.items():
        if path == "home.rotation":
            continue
        size = float(np.abs(own[mine]).max()) or 1.0
        result[mine] += _CHANGE * size * draw.uniform(-1.0, 1.0, len(mine))
        rest = float(np.square(fixed.get(path, ())).sum())
        if len(mine) + len(fixed.get(path, ())) == 3 and abs(np.square(own[mine]).sum() + rest - 1.0) < _UNIT:
            result[mine] *= np.sqrt((1.0 - rest) / np.square(result[mine]).sum())
    return result
