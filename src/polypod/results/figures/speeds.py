"""Speed and power of the actuators over time."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from ..read import actuators
from .style import INK, TIME, dress, figure, leg_line, legend, title


def speeds(result: xr.Dataset) -> Figure:
    """Speed [m/s or rad/s] and power [W] of each actuator over time."""
    made = figure(7.2, 5.6)
    above, below = made.subplots(2, 1, sharex=True)
    for k, name in enumerate(actuators(result)):
        above.plot(result.time.values, result.qdot.values[:, k], label=name, **leg_line(k))
        below.plot(result.time.values, result.power.values[:, k], **leg_line(k))
    for axes in (above, below):
        axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(above, "", f"actuator speed [{result.qdot.attrs['units']}]", title(result, "speed and power"))
    dress(below, TIME, "actuator power [W]")
    legend(made, above)
    return made
