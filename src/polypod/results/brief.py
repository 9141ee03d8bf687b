"""A study in brief: its facts as JSON data, and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tables import short
from .bearings import bearings
from .read import limit_report
from .sizing import actuators, bending, foundation, limits, motors, summary
from .verdict import verdict

if TYPE_CHECKING:
    import xarray as xr


def study_data(result: xr.Dataset) -> dict[str, Any]:
    """All tables and facts of a study as JSON data, SI units."""
    return {
        "robot": result.attrs["robot"],
        "motion": result.attrs["motion"],
        "verdict": verdict(result).data(),
        "summary": summary(result),
        "within_limits": limit_report(result).ok,
        "certified": result.attrs.get("certified", "not tried"),
        "between_samples": result.attrs.get("between_samples", ""),
        "limits": limits(result).records(),
        "actuators": actuators(result).records(),
        "motors": motors(result).records(),
        "bearings": bearings(result).records(),
        "foundation": foundation(result).records(),
    }


def summary_lines(result: xr.Dataset) -> list[str]:
    """Powers of all actuators together, conditioning, numerical error, and what holds between samples."""
    facts = summary(result)
    driving, braking = facts["peak_total_power_W"], -facts["peak_total_braking_power_W"]
    brakes = f"largest braking power {short(braking, 3)} W" if braking else "no braking"
    lines = [
        f"All actuators together: largest driving power {short(driving, 3)} W, {brakes}. Condition number at most "
        f"{facts['worst_condition_number']:.4g}, distance to singularity at least "
        f"{facts['smallest_distance_to_singularity']:.4g} mm/mm (joint motion per platform motion in the "
        "least sensitive direction)."
    ]
    if facts["force_error_bound"] is not None:
        unit = result.force.attrs["units"]
        lines.append(f"Numerical error of forces: at most {facts['force_error_bound']:.1g} {unit}.")
    lines.append(str(result.attrs.get("between_samples", "Checked at the samples only, not between them.")))
    bent = bending(result)
    return lines if bent is None else [*lines, f"Platform: {bent}."]
