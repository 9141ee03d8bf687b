"""What actuator forces are for, by actuator."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ..read import actuators
from .axes import PREFIXES, power_of
from .style import COLOURS, DASHES, INK, TIME, dress, figure, legend, title

_NEGLIGIBLE = 5e-3  # of the largest force


def shares(result: xr.Dataset) -> Figure:
    """What each actuator's force is for: inertia, Coriolis, gravity, friction, external wrench [N or N m]."""
    names, unit = actuators(result), result.force.attrs["units"]
    made, grid = _grid(len(names), share_y=True)
    scale = max(float(np.abs(result.force.values).max()), 1e-300)
    # less is a line on the axis, as thick as what it shows, and its place in the legend misleads
    every = dict(zip(map(str, result.part.values), result.force_part.values, strict=True))
    peaks = {name: float(np.abs(part).max()) for name, part in every.items()}
    parts = {name: part for name, part in every.items() if peaks[name] > _NEGLIGIBLE * scale}
    for k, (name, axes) in enumerate(zip(names, grid, strict=False)):
        # the total as a broad band behind: a part that is nearly all of it stays visible
        axes.plot(
            result.time.values,
            result.force.values[:, k],
            label="total",
            color="#CFCFCF",
            linewidth=4.5,
            solid_capstyle="butt",
        )
        for number, (what, part) in enumerate(parts.items()):
            style = {"color": COLOURS[number], "linestyle": DASHES[number], "linewidth": 1.3}
            axes.plot(result.time.values, part[:, k], label=what, **style)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        dress(axes, TIME, f"force [{unit}]", name)
    _inner_labels_off(grid, len(names))
    legend(made, grid[0])
    missing = [f"{name} ({_size(peaks[name], unit)})" for name in every if name not in parts]
    note = f"\nnot drawn, below {100 * _NEGLIGIBLE:g} % of the largest force: {', '.join(missing)}" if missing else ""
    made.suptitle(f"{title(result, 'what the forces are for')}{note}", fontsize=10, x=0.01, ha="left", color=INK)
    return made


def _size(value: float, unit: str) -> str:
    """A number with the prefix that suits it."""
    if value == 0.0:
        return "none"
    power = power_of(value)
    return f"{value / 10.0**power:.2g} {PREFIXES.get(power, f'1e{power} ')}{unit}"


def _grid(count: int, share_y: bool) -> tuple[Figure, list[Any]]:
    columns = min(count, 3)
    rows = ceil(count / columns)
    made = figure(7.2, 1.0 + 2.1 * rows)
    grid = made.subplots(rows, columns, sharex=True, sharey=share_y, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.set_visible(False)
    return made, grid


def _inner_labels_off(grid: list[Any], count: int) -> None:
    columns = min(count, 3)
    for k, axes in enumerate(grid[:count]):
        if k % columns:
            axes.set_ylabel("")
        if k + columns < count:
            axes.set_xlabel("")
