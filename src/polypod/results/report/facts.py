"""A study in a few numbers, and what a reader must know before trusting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...datasets import robot_of
from ...model.suspected_unit_errors import suspected_unit_errors
from ...tables import called, practical_unit
from ..read import actuator_names, actuators_by_unit, limit_report, open_reactions
from ..sizing import bending, limits

if TYPE_CHECKING:
    import xarray as xr


def facts(result: xr.Dataset) -> list[tuple[str, str]]:
    """Names and values: how the platform moves, what the actuators must do, how near limits and singularities are."""
    power, report = result.power.values.sum(axis=1), limit_report(result)
    state = "none given" if not report.names else "all kept" if report.ok else f"{_exceeded(result)} exceeded"
    largest = []
    for (unit, push), numbers in actuators_by_unit(result).items():
        force = np.abs(result.force.values[:, numbers]).max(axis=0)
        rates = np.abs(result.qdot.values[:, numbers]).max(axis=0)
        factor, rate = practical_unit(f"{unit}/s")
        most, fastest = (actuator_names(result)[numbers[int(values.argmax())]] for values in (force, rates))
        largest += [(f"Largest {called('force', push)}", f"{_short(force.max())} {push} in {most}")]
        largest += [("Largest actuator speed", f"{_short(factor * rates.max())} {rate} in {fastest}")]
    acceleration = result.acceleration.values
    speed, spin = _longest(result.twist.values[:, :3]), _longest(result.twist.values[:, 3:])
    return [
        *largest,
        ("Largest total power", f"{_short(max(power.max(), 0.0))} W"),
        ("Largest tilt", f"{_short(np.degrees(_tilt(result).max()))} deg from home"),
        ("Platform speed", f"{_short(1e3 * speed)} mm/s, {_short(np.degrees(spin))} deg/s"),
        ("Platform acceleration", f"{_short(_longest(acceleration[:, :3]))} m/s\N{SUPERSCRIPT TWO}"),
        ("Force amplification", f"at most {_short(1.0 / float(result.distance.min()))}"),
        ("Limits", state),
        *_between(result),
        *_bending(result),
    ]  # fmt: skip


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return "0" if abs(value) < 1e-9 else text


def _longest(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=1).max())


def _tilt(result: xr.Dataset) -> np.ndarray:
    """Angle (n,) [rad] between the platform's z axis and where that axis points at home."""
    home = robot_of(result).home.matrix[:3, 2]
    z = result.pose.values[:, :3, 2]
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(z, home), axis=1), z @ home))


def _bending(result: xr.Dataset) -> list[tuple[str, str]]:
    shape = bending(result)
    return [] if shape is None else [("Platform", shape)]


def _between(result: xr.Dataset) -> list[tuple[str, str]]:
    """Whether the motion is proven between its samples, where that was looked at."""
    words = {"yes": "kept, proven", "no": "not proven", "not tried": "not judged"}
    state = "broken" if result.attrs.get("broken_between_samples") else words.get(result.attrs.get("certified", ""), "")
    return [("Limits between samples", state)] if state else []


def _exceeded(result: xr.Dataset) -> str:
    return f"{len(limits(result).rows)} of {len(limit_report(result).names)}"


def notes(result: xr.Dataset) -> list[str]:
    """What a reader must know before trusting the numbers."""
    found = []
    if not limit_report(result).ok:
        found.append(
            f"The motion exceeds {_exceeded(result)} limits of the robot: a real machine would stop. See the table."
        )
        found += [f"Limits in another unit? {text}." for text in suspected_unit_errors(limit_report(result))]
    unphysical = robot_of(result).unphysical
    if unphysical:
        listed = "; ".join(f"{path} {problem}" for path, problem in list(unphysical.items())[:2])
        more = f" and {len(unphysical) - 2} more" if len(unphysical) > 2 else ""
        found.append(f"The robot file opts out of the check of inertias no real body has: {listed}{more}.")
    left_open = open_reactions(result)
    if left_open:
        found.append(
            "Inner stresses of this overconstrained robot leave these reactions open, so they are blank: "
            + "; ".join(left_open)
            + "."
        )
    held = str(result.attrs.get("held_at_rest", ""))
    return found + ([f"{held}."] if held else []) + bending_notes(result) + near_singularity(result)


def bending_notes(result: xr.Dataset) -> list[str]:
    """Sentences if the platform was taken not to vibrate, or bends by more than small-deflection theory is good for."""
    if "deflection" not in result:
        return []
    from ...platforms.modes import large_deflection  # brings finite elements along

    vibrates, _, why = str(result.attrs["vibration"]).partition(", ")
    found = [] if vibrates == "yes" else [f"The platform is taken not to vibrate, {why}."]
    robot = robot_of(result)
    return found + large_deflection(robot, result.deflection.values, robot.platform_size)


def near_singularity(result: xr.Dataset) -> list[str]:
    """A sentence if the motion comes near a singular pose."""
    worst = float(result.condition.max())
    return [f"The path comes near a singularity: condition number up to {worst:.3g}."] if worst > 100 else []
