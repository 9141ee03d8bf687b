"""What actuator forces are for, by actuator."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ...tables import called
from ..read import actuator_names, forces_or_torques
from .curves import merge_equal
from .style import COLOURS, DASHES, INK, PREFIXES, TIME, dress, headline, legend, panels, prefix_power, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_NEGLIGIBLE = 5e-3  # of the largest force
_TOTAL = "#9AA3AB"


def shares(result: xr.Dataset) -> Figure:
    """Parts of each actuator's force: inertia, Coriolis, gravity, friction, external wrench [N or N m].

    Actuators whose forces are equal share a panel.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    names = actuator_names(result)
    every = dict(zip(map(str, result.part.values), result.force_part.values, strict=True))
    whole = np.concatenate([result.force.values, *every.values()])
    alike = merge_equal(names, whole)
    scale = max(float(np.abs(result.force.values).max()), 1e-300)
    # less is a line on the axis, as thick as what it shows, and its place in the legend misleads
    peaks = {name: float(np.abs(part).max()) for name, part in every.items()}
    parts = {name: part for name, part in every.items() if peaks[name] > _NEGLIGIBLE * scale}
    unit = result.force.attrs["units"]
    missing = [f"{name} ({_size(peaks[name], scale, unit)})" for name in every if name not in parts]
    note = f"\nnot drawn, below {100 * _NEGLIGIBLE:g} % of the largest force: {', '.join(missing)}" if missing else ""
    columns = min(len(alike), 3 if len(alike) != 4 else 2)
    fig, grid = panels(ceil(len(alike) / columns), columns, height=1.55, each=True, head=0.5 if missing else 0.3)
    every_panel = [axes for row in grid for axes in row]
    for curve, axes in zip(alike, every_panel, strict=False):
        _panel(axes, result, curve.number, parts)
        unit = str(result.force_unit.values[curve.number])
        first = axes in [row[0] for row in grid]
        dress(axes, TIME if axes in grid[-1] else "", f"{called('force', unit)} [{unit}]" if first else "", curve.label)
    for axes in every_panel[len(alike) :]:
        axes.set_visible(False)
    _one_scale(result, alike, every_panel)
    headline(fig, f"{title(result, f'contributions to the {forces_or_torques(result)}')}{note}")
    legend(fig, every_panel[0])
    return fig


def _panel(axes: Any, result: xr.Dataset, number: int, parts: dict[str, Any]) -> None:
    time = result.time.values
    # the total as a broad band behind: a part that is nearly all of it stays visible
    axes.plot(time, result.force.values[:, number], label="total", color=_TOTAL, linewidth=4.5, solid_capstyle="butt")
    for k, (what, part) in enumerate(parts.items()):
        style = {"color": COLOURS[k], "linestyle": DASHES[k], "linewidth": 1.3}
        axes.plot(time, part[:, number], label=what, **style)
    axes.axhline(0.0, color=INK, linewidth=0.5)


def _one_scale(result: xr.Dataset, alike: list[Any], grid: list[Any]) -> None:
    """Panels of one unit have one scale."""
    units = [str(result.force_unit.values[curve.number]) for curve in alike]
    for unit in set(units):
        own = [axes for axes, other in zip(grid, units, strict=False) if other == unit]
        ends = [axes.get_ylim() for axes in own]
        for axes in own:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _size(value: float, scale: float, unit: str) -> str:
    """A number with the prefix that suits it; rounding is none."""
    if value <= 1e-12 * scale:
        return "none"
    power = prefix_power(value)
    return f"{value / 10.0**power:.2g} {PREFIXES.get(power, f'1e{power} ')}{unit}"
