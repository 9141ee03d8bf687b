"""What a simulation under a controller came to, as data and in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..control import default_controller
from ..datasets import robot_of, save_result
from ..errors import UnphysicalWarning
from ..limits import left_out_text, within_all
from ..model import Model
from ..output.folder import atomic_folder
from ..simulation import events
from ..simulation.result import completed, excessive_force, remarks
from ..tables import Table, table
from .figures import SIMULATION_FIGURES, figures
from .sizing import by_unit

if TYPE_CHECKING:
    import xarray as xr

FILES = ("simulation.nc", "tracking.png", "forces.png", "energies.png", "bending.png", "motion.gif", "motion.mp4")
"""What the folder of a simulation holds."""


def simulated_limits(result: xr.Dataset) -> str:
    """A sentence on the limits of the robot file at the samples of a simulation: within all, or which are exceeded."""
    robot = robot_of(result)
    if robot.flexible:
        return "Limits are not judged: the platform is flexible."
    model = Model(robot)
    own = model.robot_limits
    if not own.limits:
        return "The robot file gives no limits."
    given = {name: result[name].values for name in ("q", "qdot", "force", "twist") if name in result}
    place: dict[str, Any] = {name: result[name].values for name in ("pose", "internal") if name in result}
    if "limited" in own.needs:
        given["limited"] = model.joint_ranges(**place).value
    if "clearance" in own.needs:
        given["clearance"] = model.clearances.least(**place)
    report = own.evaluate(given, result.time.values if len(result.time) > 1 else None)
    beyond = {one.quantity: one for one in sorted(report.uses(), key=lambda one: one.use) if not one.kept}
    if not beyond:
        return f"At the samples {within_all(len(report.names), own.not_given, report.left_out)}."
    texts = [f"{name} {100 * one.use:.4g} % in {one.where}" for name, one in beyond.items()]
    left = f" Not judged: {left_out_text(report.left_out)}." if report.left_out else ""
    return f"Limits of the robot file are exceeded: {'; '.join(texts)}.{left}"


def tracking_summary(result: xr.Dataset, saturation: float | None = None) -> dict[str, Any]:
    """Facts of a result of ``polypod.simulation.simulate_tracking``, by name.

    Parameters
    ----------
    result : the simulation
    saturation : largest actuator force that was allowed, if it was a number

    Returns
    -------
    dict : how far the simulation came, errors, forces, energies, events, and ``notes`` on what went wrong
    """
    error = np.abs(result["error"].values)
    facts = {
        "robot": result.attrs["robot"],
        "motion": result.attrs["motion"],
        "controller": result.attrs["controller"],
        "rate": result.attrs["rate"],
        "friction": result.attrs["friction"] == "yes",
        "compensation": result.attrs.get("compensation", "none"),
        "reversals": sum(event.kind == "reversal" for event in events(result)),
        "wrench": result.attrs["wrench"] != "none",
        "moving_base": result.attrs.get("moving_base", ""),
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
        "limits": simulated_limits(result),
    }
    notes = remarks(result)
    facts["shakes"] = excessive_force(result)
    return {**facts, "notes": [*notes, *([_advice(facts, "deflection" in result, saturation)] if notes else [])]}


def _advice(facts: dict[str, Any], flexible: bool, saturation: float | None) -> str:
    """What to try if the robot does not follow its motion."""
    best = default_controller(flexible)
    other = f"controller={best!r}" if facts["controller"] != best else "another controller="
    for unit, needed in _by_unit(facts, "needed_force").items():
        most = max(needed.values())
        if saturation is not None and most > saturation:
            return f"The motion needs {most:.4g} {unit}: raise saturation=, or slow the motion."
    if facts["friction"] and facts["compensation"] == "measured" and facts["reversals"]:
        return (
            f"Friction changes sign {facts['reversals']} times and is compensated at the measured speed, which is zero "
            "while a joint sticks: try compensation='reference'."
        )
    if facts["shakes"]:  # gains grow with the rate, and a flexible platform or a delay bears only so much of them
        return f"Try {other}, or a rate= other than {facts['rate']:g}: feedback gains increase with it."
    return f"Try {other}, or a higher rate= than {facts['rate']:g}."


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


def tracking_tables(facts: dict[str, Any]) -> list[Table]:
    """Largest forces beside those that the motion needs, a table for each unit."""
    tables = []
    for unit, needed in _by_unit(facts, "needed_force").items():
        rows = [(name, value, needed[name]) for name, value in _by_unit(facts, "largest_force")[unit].items()]
        tables.append(table("Peak", [("actuator", ""), ("force", unit), ("needed by the motion", unit)], rows))
    return tables


def tracking_text(facts: dict[str, Any]) -> str:
    """Errors and energies in a sentence each."""
    return (
        f"Largest error {1e3 * facts['largest_position_error_m']:.3g} mm and "
        f"{np.degrees(facts['largest_rotation_error_rad']):.3g} deg{'' if facts['completed'] else ' up to there'}. "
        f"Work of the actuators {facts['work_of_actuators_J']:.4g} J, lost in friction "
        f"{facts['lost_in_friction_J']:.4g} J, unaccounted for {facts['energy_residual_J']:.1e} J."
    )


def event_notes(facts: dict[str, Any]) -> list[str]:
    """The first event of each kind and how often it happened, but for the one that ended the simulation."""
    notes = []
    for kind in dict.fromkeys(event["kind"] for event in facts["events"]):
        if facts["ended"].startswith(f"{kind} at t = "):
            continue
        same = [event for event in facts["events"] if event["kind"] == kind]
        where = f"{same[0]['leg']}: " if same[0]["leg"] else ""
        often = f", {len(same)} times, first" if len(same) > 1 else ""
        notes.append(f"{kind}{often} at t = {same[0]['time']:.6g} s: {where}{same[0]['text']}")
    return notes


def write_simulation(
    result: xr.Dataset,
    target: str | Path,
    force: bool = False,
    film: str | None = None,
    progress: Callable[[str], None] = lambda step: None,
    inputs: Mapping[str, Any] | None = None,
) -> None:
    """Write a simulation's folder, whole or not at all: netCDF, figures and, if wanted, an animation.

    Parameters
    ----------
    result : the simulation
    target : the folder; an existing one is replaced with ``force``, or if it holds results of the same ``inputs``
    film : "gif" or "mp4" (needs ffmpeg) for an animation, None for none
    progress : called with the name of each step before it begins
    inputs : what the result comes from, by name
    """
    with atomic_folder(Path(target), force, FILES, inputs) as folder:
        progress("simulation.nc")
        save_result(result, folder / "simulation.nc")
        for name, _, figure in figures(result, SIMULATION_FIGURES):
            progress(f"figure {name}")
            figure.savefig(folder / f"{name}.png")
        if film is not None:
            from .figures.animation import animate  # brings Matplotlib

            progress("animation")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnphysicalWarning)
                animate(
                    result, folder / f"motion.{film}", progress=lambda k, n: progress(f"animation, frame {k} of {n}")
                )
