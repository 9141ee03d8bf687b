"""What ``polypod simulate`` tells of a simulation, as data and in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from ..results.tables import table
from .terminal import note, out, show_table

if TYPE_CHECKING:
    import xarray as xr


def usual(flexible: bool) -> str:
    """The controller that is taken if none is named."""
    return "joint-computed-torque" if flexible else "computed-torque"


def summary(result: xr.Dataset, saturation: float | None = None) -> dict[str, Any]:
    """What ``--json`` prints."""
    from ..simulation import events
    from ..simulation.judgement import completed, remarks, shakes

    error = np.abs(result["error"].values)
    legs = result.leg.values.tolist()
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
        "largest_force_N": dict(zip(legs, np.abs(result["force"].values).max(axis=0).tolist(), strict=True)),
        "needed_force_N": dict(zip(legs, result["needed_force"].values.tolist(), strict=True)),
        "work_of_actuators_J": float(result["work_actuators"][-1]),
        "lost_in_friction_J": float(result["work_friction"][-1]),
        "energy_residual_J": float(np.abs(result["energy_residual"]).max()),
        "events": [event._asdict() for event in events(result)],
    }
    told = remarks(result)
    facts["shakes"] = shakes(result)
    return {**facts, "notes": [*told, *([_advice(facts, "deflection" in result, saturation)] if told else [])]}


def _advice(facts: dict[str, Any], flexible: bool, saturation: float | None) -> str:
    """What to try if the robot does not follow."""
    best = usual(flexible)
    other = f"--controller {best}" if facts["controller"] != best else "another --controller"
    needed = max(facts["needed_force_N"].values())
    if saturation is not None and needed > saturation:
        return f"The motion needs {needed:.4g} N: raise --saturation, or slow the motion."
    if facts["shakes"]:  # gains grow with the rate, and a flexible platform or a delay bears only so much of them
        return f"Try {other}, or a --rate other than {facts['rate']:g}: gains of the feedback grow with it."
    return f"Try {other}, or a higher --rate than {facts['rate']:g}."


def extent(facts: dict[str, Any]) -> str:
    """How much of the motion was simulated, in words.

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
    needed = facts["needed_force_N"]
    rows = [(leg, value, needed[leg]) for leg, value in facts["largest_force_N"].items()]
    show_table(table("Peak", [("leg", ""), ("force", "N"), ("needed by the motion", "N")], rows))
    console.print(
        f"\nLargest error {facts['largest_position_error_m']:.3g} m and {facts['largest_rotation_error_rad']:.3g} rad"
        f"{'' if facts['completed'] else ' until then'}. "
        f"Work of the actuators {facts['work_of_actuators_J']:.4g} J, lost in friction "
        f"{facts['lost_in_friction_J']:.4g} J, unaccounted for {facts['energy_residual_J']:.1e} J."
    )
    for kind in dict.fromkeys(event["kind"] for event in facts["events"]):
        if facts["ended"].startswith(f"{kind} at t = "):  # told above
            continue
        same = [event for event in facts["events"] if event["kind"] == kind]
        where = f"{same[0]['leg']}: " if same[0]["leg"] else ""
        often = f", {len(same)} times, first" if len(same) > 1 else ""
        note(f"{kind}{often} at t = {same[0]['time']:.6g} s: {where}{same[0]['text']}")
    if target is not None:
        console.print(f"Results: {escape(str(target))}")
    else:
        console.print("Nothing was written; --out FOLDER keeps results and figures.")
