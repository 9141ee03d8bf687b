"""Figures of simulations: tracking error, forces, energies; each returns a ``matplotlib.figure.Figure``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ..errors import InputError
from ..plots.style import COLOURS, DASHES, INK, dress, figure, leg_line, legend
from .result import events

_TIME = "time [s]"


def tracking(result: xr.Dataset, title: str | None = None) -> Figure:
    """Wanted less actual position [m] and rotation vector [rad] over time, by axis."""
    _needs(result, "error", "a controller with a reference")
    made = figure(7.2, 5.0)
    above, below = made.subplots(2, 1, sharex=True)
    error = result["error"].values
    for k, axis in enumerate("xyz"):
        above.plot(result.time, error[:, k], label=axis, **leg_line(k))
        below.plot(result.time, error[:, 3 + k], **leg_line(k))
    dress(above, "", "position error [m]", title or f"{result.attrs['robot']}: tracking error")
    dress(below, _TIME, "rotation error [rad]")
    _finish(made, (above, below), above)
    return made


def comparison(results: Mapping[str, xr.Dataset], title: str, logarithmic: bool = True) -> Figure:
    """Size of the position and rotation error over time of several simulations, by name."""
    made = figure(7.2, 5.0)
    above, below = made.subplots(2, 1, sharex=True)
    for k, (name, result) in enumerate(results.items()):
        _needs(result, "error", "a controller with a reference")
        error = result["error"].values
        for axes, part, label in ((above, error[:, :3], name), (below, error[:, 3:], None)):
            size = np.linalg.norm(part, axis=1)
            if logarithmic:  # where there is no place for no error at all
                size = np.where(size > 0, size, np.nan)
            axes.plot(result.time, size, label=label, **leg_line(k))
    for axes in (above, below):
        axes.set_yscale("log" if logarithmic else "linear")
    dress(above, "", "position error [m]", title)
    dress(below, _TIME, "rotation error [rad]")
    legend(made, above, 5)
    return made


def forces(result: xr.Dataset, title: str | None = None) -> Figure:
    """Actuator forces [N] and their power [W] over time, with the events."""
    made = figure(7.2, 5.4)
    above, below = made.subplots(2, 1, sharex=True)
    force, qdot = result["force"].values, result["qdot"].values
    for k, leg in enumerate(result.leg.values.tolist()):
        above.plot(result.time, force[:, k], label=leg, drawstyle=_drawstyle(result), **leg_line(k))
        below.plot(result.time, force[:, k] * qdot[:, k], **leg_line(k))
    unit = result["force"].attrs["units"]
    dress(above, "", f"actuator force [{unit}]", title or f"{result.attrs['robot']}: forces and power")
    dress(below, _TIME, "actuator power [W]")
    _finish(made, (above, below), above)
    for event in events(result):
        for axes in (above, below):
            axes.axvline(event.time, color=INK, linewidth=0.6, linestyle=":")
    return made


def energies(result: xr.Dataset, title: str | None = None) -> Figure:
    """Energy stored, work done and lost since the start [J], and what does not add up."""
    made = figure(7.2, 5.4)
    above, below = made.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    lines = {
        "kinetic": result["energy_kinetic"],
        "potential": result["energy_potential"],
        "elastic": result["energy_elastic"],
        "springs": result.get("energy_springs"),
        "work of actuators": result["work_actuators"],
        "work of external wrench": result["work_external"],
        "lost in friction": result["work_friction"],
    }
    if lines["springs"] is not None:  # then actuators only pass on what springs store
        lines["work of actuators"] = None
    changes = {name: line - line[0] for name, line in lines.items() if line is not None}
    if lines["springs"] is not None:
        parts = (changes[name] for name in ("kinetic", "potential", "elastic", "springs"))
        changes["all stored"] = sum(parts, 0.0 * changes["kinetic"])
    largest = max(float(np.abs(line).max()) for line in changes.values()) or 1.0
    seen = [name for name, line in changes.items() if float(np.abs(line).max()) > 1e-6 * largest]
    shown = {name: line for name, line in changes.items() if name in (*seen, "all stored")}
    for k, (name, line) in enumerate(shown.items()):
        style: dict[str, Any] = {"color": COLOURS[k], "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.5}
        above.plot(result.time, line, label=name, **style)
    below.plot(result.time, result["energy_residual"], color=INK, linewidth=1.0)
    dress(above, "", "change since the start [J]", title or f"{result.attrs['robot']}: energies")
    dress(below, _TIME, "residual [J]")
    _finish(made, (above, below), above, 4)
    return made


def _finish(made: Figure, panels: tuple[Any, ...], labelled: Any, columns: int = 6) -> None:
    for axes in panels:
        axes.axhline(0.0, color=INK, linewidth=0.6)
    legend(made, labelled, columns)


def _drawstyle(result: xr.Dataset) -> str:
    return "steps-post" if float(result.attrs.get("rate", 0.0)) > 0 else "default"


def _needs(result: xr.Dataset, name: str, what: str) -> None:
    if name not in result:
        raise InputError(f"result: has no {name!r}; simulate with {what}")
