"""Actuator forces over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...tables import called
from ..read import actuator_names, actuators_by_unit, forces_or_torques, rms
from .curves import draw_curves, most_labelled, three_digits
from .style import FAINT, INK, TIME, dress, headline, legend, panels, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def forces(result: xr.Dataset) -> Figure:
    """Force of each actuator over time [N or N m], one panel per unit, with peak and rms; equal curves are merged.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    names, time = actuator_names(result), result.time.values
    units = actuators_by_unit(result)
    means: list[str] = []
    fig, grid = panels(len(units), height=2.9 if len(units) == 1 else 2.2, legend_rows=1)
    for (axes,), ((_, unit), numbers) in zip(grid, units.items(), strict=True):
        values = result.force.values[:, numbers]
        axes.axhline(0.0, color=INK, linewidth=0.6)
        own = [names[k] for k in numbers]
        draw_curves(axes, time, own, values, unit, numbers=numbers)
        effective = rms(time, values)
        most = int(effective.argmax())
        sign = 1.0 if np.trapezoid(values[:, most], time) >= 0 else -1.0
        axes.axhline(sign * effective[most], color=FAINT, linewidth=1.2, linestyle=(0, (6, 3)), zorder=2)
        means.append(f"{three_digits(float(effective[most]))} {unit} in {own[most]}")
        dress(axes, "", f"actuator {called('force', unit)} [{unit}]")
    grid[-1][0].set_xlabel(TIME, fontsize=9)
    headline(fig, title(result, f"actuator {forces_or_torques(result)}; grey: largest rms, {' and '.join(means)}"))
    legend(fig, most_labelled([axes for row in grid for axes in row]))
    return fig
