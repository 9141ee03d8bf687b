"""What ``polypod simulate`` says of a simulation, as data and in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from ..tables import table
from .terminal import note, out, show_table

if TYPE_CHECKING:
    import xarray as xr


def summary(result: xr.Dataset, saturation: float | None = None) -> dict[str, Any]:
    """What ``--json`` prints."""
    from ..results.sizing import by_unit
    from ..simulation import events
    from ..simulation.result import completed, excessive_force, remarks

    error = np.abs(result["error"].values)
    facts = {
        "robot": result.attrs["robot"],
        "motion": result.attrs["motion"],
        "controller": result.attrs["controller"],
        "rate": result.attrs["rate"],
        "friction": result.attrs["friction"] == "yes",
        "wrench": result.attrs["wrench"] != "none",
        "duration_s": result.attrs["duration"],
        "simulated_s": float(result.time[-1]) if len(result.time) else 0.0,
        "completed": completed(result),
        "ended": result.attrs["ended"],
        "largest_position_error_m": float(error[:, :3].max(initial=0.0)),
        "largest_rotation_error_rad": float(error[:, 3:].max(initial=0.0)),
        **by_unit("largest_force", result, np.abs(result["force"].values).max(axis=0, initial=0.0)),
        **by_unit("needed_force", result, result["needed_force"].values),
        "work_of_actuators_J": float(result["work_actuators"][-1]),
        "lost_in_friction_J": float(result["work_friction"][-1]),
        "energy_residual_J": float(np.abs(result["energy_residual"]).max()),
        "events": [event._asdict() for event in events(result)],
    }
    notes = remarks(result)
    facts["shakes"] = excessive_force(result)
    return {**facts, "notes": [*notes, *([_advice(facts, "deflection" in result, saturation)] if notes else [])]}


def _advice(facts: dict[str, Any], flexible: bool, saturation: float | None) -> str:
    """What to try if the robot does not follow."""
    from ..control import default_controller

    best = default_controller(flexible)
    other = f"--controller {best}" if facts["controller"] != best else "another --controller"
    for unit, needed in _by_unit(facts, "needed_force").items():
        most = max(needed.values())
        if saturation is not None and most > saturation:
            return f"The motion needs {most:.4g} {unit}: raise --saturation, or slow the motion."
    if facts["shakes"]:  # gains grow with the rate, and a flexible platform or a delay bears only so much of them
        return f"Try {other}, or a --rate other than {facts['rate']:g}: gains of the feedback grow with it."
    return f"Try {other}, or a higher --rate than {facts['rate']:g}."


def _by_unit(facts: dict[str, Any], name: str) -> dict[str, dict[str, float]]:
    """Forces of the actuators by their unit."""
    return {key.removeprefix(f"{name}_").replace("_", " "): facts[key] for key in facts if key.startswith(f"{name}_")}


def extent(facts: dict[str, Any]) -> str:
    """How much of the motion was simulated, in words.

    Examples
    --------
    >>> extent({"completed": False, "simulated_s": 0.2021, "duration_s": 2.0})
    'stopped after 0.202 of 2 s (10 %)'
    """
    done, whole = facts["simulated_s"], facts["duration_s"]
    if facts["completed"]:
        return f"simulated {whole:.4g} s"
    return f"stopped after {done:.3g} of {whole:.4g} s ({100 * done / whole:.0f} %)"


def show(facts: dict[str, Any], target: Path | None) -> None:
    """Print what a simulation came to, how far it came first."""
    console = out()
    how = f"{facts['controller']} at {facts['rate']:g} samples/s, {'with' if facts['friction'] else 'without'} friction"
    how += ", pushed by the motion's wrench, which the controller does not know" if facts["wrench"] else ""
    console.print(f"[bold]{escape(facts['robot'])}[/] on {escape(facts['motion'])}: {how}")
    if facts["completed"]:
        console.print(f"{extent(facts)}, the whole motion\n".capitalize())
    else:
        console.print(f"[bold yellow]{extent(facts).capitalize()}[/]: {escape(facts['ended'])}\n")
    for unit, needed in _by_unit(facts, "needed_force").items():
        rows = [(name, value, needed[name]) for name, value in _by_unit(facts, "largest_force")[unit].items()]
        show_table(table("Peak", [("actuator", ""), ("force", unit), ("needed by the motion", unit)], rows))
    console.print(
        f"\nLargest error {1e3 * facts['largest_position_error_m']:.3g} mm and "
        f"{np.degrees(facts['largest_rotation_error_rad']):.3g} deg"
        f"{'' if facts['completed'] else ' until then'}. "
        f"Work of the actuators {facts['work_of_actuators_J']:.4g} J, lost in friction "
        f"{facts['lost_in_friction_J']:.4g} J, unaccounted for {facts['energy_residual_J']:.1e} J."
    )
    for kind in dict.fromkeys(event["kind"] for event in facts["events"]):
        if facts["ended"].startswith(f"{kind} at t = "):  # said above
            continue
        same = [event for event in facts["events"] if event["kind"] == kind]
        where = f"{same[0]['leg']}: " if same[0]["leg"] else ""
        often = f", {len(same)} times, first" if len(same) > 1 else ""
        note(f"{kind}{often} at t = {same[0]['time']:.6g} s: {where}{same[0]['text']}")
    if target is not None:
        console.print(f"Results: {escape(str(target))}")
    else:
        console.print("Nothing was written; --out FOLDER keeps results and figures.")
