"""Bounds of the forces of redundant actuators, checked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, Reason, StateWarning, short_repr
from ..limits import RobotLimits
from ..limits.report import ROUNDING
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


def warn_of_tensions(limits: RobotLimits, force: Array) -> None:
    """Warn of states (..., n) in which cables cannot pull as they would have to: which, and by how much."""
    report = limits.only(lambda one: one.kind == "tension").evaluate({"force": force})
    over = report.use.reshape(-1, report.use.shape[-1])
    bad = np.flatnonzero((over > 1 + ROUNDING).any(axis=1))
    if not len(bad):
        return
    state = int(bad[np.argmax(over[bad].max(axis=1))])
    k = int(over[state].argmax())
    value, where = float(report.value.reshape(over.shape)[state, k]), report.names[k][0]
    which = f" of {len(bad)} of {len(over)} states, at worst of state {state}," if force.ndim > 1 else ""
    needs = f"{where} would have to push with {-value:.6g} N" if value < 0 else f"{where} needs {value:.6g} N"
    allowed = f"{report.low[k]:g} to {report.high[k]:g} N are allowed"
    text = f"inverse_dynamics: no tensions{which} within their bounds: {needs}, {allowed}"
    warnings.warn(StateWarning(text, bad, [Reason(text, "bounds")]), stacklevel=4)
