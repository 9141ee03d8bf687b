"""Actuator forces over time."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from ..read import actuators
from .style import INK, TIME, dress, figure, leg_line, legend, title


def forces(result: xr.Dataset) -> Figure:
    """Force of each actuator over time [N or N m]."""
    made = figure(7.2, 4.2)
    axes = made.subplots()
    for k, name in enumerate(actuators(result)):
        axes.plot(result.time.values, result.force.values[:, k], label=name, **leg_line(k))
    axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(axes, TIME, f"actuator force [{result.force.attrs['units']}]", title(result, "actuator forces"))
    legend(made, axes)
    return made
