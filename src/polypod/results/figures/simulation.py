"""Figures of simulations: tracking error, forces, energies, bending; each returns a ``matplotlib.figure.Figure``."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...simulation.result import events
from ..read import actuator_names
from .style import COLOURS, DASHES, INK, dress, figure, label_with_prefix, leg_line, legend

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

# What marks an event of each kind: words, and dashes that tell one kind from another.
_EVENTS: dict[str, tuple[str, Any]] = {
    "reversal": ("a joint reverses", (0, (1, 2))),
    "contact": ("a joint meets its stop", (0, (3, 1))),
    "limit": ("a limit is reached", (0, (5, 2))),
    "singularity": ("near a singularity", (0, (5, 2, 1, 2))),
}
_STORED = ("kinetic", "potential", "elastic", "springs")
# A change below this part of the largest is a line on the axis, and its place in the legend misleads.
_NEGLIGIBLE = 1e-4


def tracking(result: xr.Dataset, title: str | None = None) -> Figure:
    """Wanted less actual position and rotation vector over time, by component."""
    _needs(result, "error", "simulate with a controller with a reference")
    fig, (above, below) = _panels(5.0)
    error = result["error"].values
    for k, axis in enumerate("xyz"):
        above.plot(result.time, error[:, k], label=axis, **leg_line(k))
        below.plot(result.time, error[:, 3 + k], **leg_line(k))
    _dress(above, "position error", "m", title or f"{result.attrs['robot']}: tracking error")
    _dress(below, "rotation error", "rad", last=True)
    legend(fig, above)
    return fig


def comparison(results: Mapping[str, xr.Dataset], title: str, logarithmic: bool = True) -> Figure:
    """Size of the position and rotation error over time of several simulations, by name."""
    fig, (above, below) = _panels(5.0)
    for k, (name, result) in enumerate(results.items()):
        _needs(result, "error", "simulate with a controller with a reference")
        error = result["error"].values
        for axes, part, label in ((above, error[:, :3], name), (below, error[:, 3:], None)):
            size = np.linalg.norm(part, axis=1)
            if logarithmic:  # where there is no place for no error at all, nor need for the digits of its rounding
                size = np.where(size > np.finfo(float).eps, size, np.nan)
            axes.plot(result.time, size, label=label, **leg_line(k))
    if logarithmic:
        for axes in (above, below):
            axes.set_yscale("log")
    _dress(above, "position error", "m", title, scaled=not logarithmic)
    _dress(below, "rotation error", "rad", last=True, scaled=not logarithmic)
    legend(fig, above, 5)
    return fig


def forces(result: xr.Dataset, title: str | None = None) -> Figure:
    """Actuator forces and their power over time; upright lines mark events."""
    fig, (above, below) = _panels(5.4)
    force, qdot = result["force"].values, result["qdot"].values
    for k, leg in enumerate(actuator_names(result)):
        above.plot(result.time, force[:, k], label=leg, drawstyle=_drawstyle(result), **leg_line(k))
        below.plot(result.time, force[:, k] * qdot[:, k], **leg_line(k))
    unit = result["force"].attrs["units"]
    _dress(above, "actuator force", unit, title or f"{result.attrs['robot']}: forces and power")
    _dress(below, "actuator power", "W", last=True)
    legend(fig, above)
    _mark_events(result, above, below)
    return fig


def energies(result: xr.Dataset, title: str | None = None) -> Figure:
    """Energy stored, work done and lost since the start, and the residual: what does not add up.

    A broad pale band is what the others add up to: the work of actuators or, with springs in their place, all that is
    stored.
    """
    fig, (above, below) = _panels(5.4, height_ratios=(3, 1))
    changes = _changes(result)
    band = next(iter(changes))
    peaks = {name: float(np.abs(line).max(initial=0.0)) for name, line in changes.items()}
    small = [name for name, peak in peaks.items() if name != band and peak <= _NEGLIGIBLE * max(peaks.values())]
    above.plot(
        result.time, changes[band], label=band, color="#C4C4C4", linewidth=5.5, solid_capstyle="butt", zorder=1.5
    )
    for k, (name, line) in enumerate(changes.items()):
        if name != band and name not in small:
            style = {"color": COLOURS[k - 1], "linestyle": DASHES[k - 1], "linewidth": 2.1 - 0.15 * k}
            above.plot(result.time, line, label=name, **style)
    below.plot(result.time, result["energy_residual"], color=INK, linewidth=1.0)
    named = [name for name in small if peaks[name] > 0]
    note = f"\nnot drawn, below 0.01 % of the largest: {', '.join(named)}" if named else ""
    _dress(above, "change since the start", "J", f"{title or result.attrs['robot'] + ': energies'}{note}")
    _dress(below, "residual", "J", last=True)
    drawn = len(changes) - len(small)
    legend(fig, above, drawn if drawn <= 4 else ceil(drawn / 2))
    return fig


def bending(result: xr.Dataset, title: str | None = None) -> Figure:
    """How far the attachment point of each leg is from where it is on the undeformed platform, over time [m]."""
    _needs(result, "deflection", "the platform is rigid and does not bend; simulate a robot with a flexible platform")
    fig = figure(7.2, 3.8)
    axes = fig.subplots()
    size = np.linalg.norm(result["deflection"].values, axis=-1)
    for k, leg in enumerate(result.leg.values.tolist()):
        axes.plot(result.time, size[:, k], label=leg, **leg_line(k))
    _dress(axes, "deflection", "m", title or f"{result.attrs['robot']}: deflection of the attachment points", last=True)
    if size.any():
        axes.set_ylim(bottom=0.0)
    legend(fig, axes)
    return fig


def _changes(result: xr.Dataset) -> dict[str, Any]:
    """Changes since the start [J] by name, that of the whole first; each of the others at its own place."""
    none = 0.0 * result["energy_kinetic"]
    lines = {
        "kinetic": result["energy_kinetic"],
        "potential": result["energy_potential"],
        "elastic": result["energy_elastic"],
        "springs": result.get("energy_springs", none),
        "lost in friction and damping" if "elastic" in result else "lost in friction": result["work_friction"],
        "work of external wrench": result["work_external"],
        **({"work of the base": result["work_base"]} if "work_base" in result else {}),
        "work of actuators": result["work_actuators"],
    }
    changes = {name: line.values - line.values[:1] for name, line in lines.items()}
    work = changes.pop("work of actuators")
    if "energy_springs" in result:  # then actuators only pass on what springs store
        return {"all stored": sum(changes[name] for name in _STORED), **changes}
    return {"work of actuators": work, **changes}


def _mark_events(result: xr.Dataset, above: Any, below: Any) -> None:
    """Upright lines through both panels, dashed by kind, and what they are above the upper one."""
    found, handles = events(result), {}
    for kind in dict.fromkeys(event.kind for event in found):
        words, dashes = _EVENTS.get(kind, (kind, ":"))
        times = [event.time for event in found if event.kind == kind]
        for axes in (above, below):
            lines = [axes.axvline(t, color=INK, linewidth=0.9, linestyle=dashes, zorder=1.5) for t in times]
        handles[f"{words}, {len(times)} times" if len(times) > 1 else words] = lines[0]
    if handles:
        above.legend(
            handles.values(), handles.keys(), loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1,
            ncols=len(handles), fontsize=8, frameon=False, handlelength=2.4,
        )  # fmt: skip


def _panels(height: float, **options: Any) -> tuple[Figure, Any]:
    fig = figure(7.2, height)
    return fig, fig.subplots(2, 1, sharex=True, **options)


def _dress(axes: Any, label: str, unit: str, title: str = "", last: bool = False, scaled: bool = True) -> None:
    """Labels with units and prefixes, and the line of zero below all others; only the ``last`` panel has times."""
    dress(axes, "", f"{label} [{unit}]", title)
    if last:
        label_with_prefix(axes.xaxis, "time", "s")
    if scaled:
        label_with_prefix(axes.yaxis, label, unit)
        axes.axhline(0.0, color=INK, linewidth=0.6, zorder=1.6)  # after: its rounded place would count as data


def _drawstyle(result: xr.Dataset) -> str:
    return "steps-post" if float(result.attrs.get("rate", 0.0)) > 0 else "default"


def _needs(result: xr.Dataset, name: str, what: str) -> None:
    if name not in result:
        raise InputError(f"result: has no {name!r}; {what}")
