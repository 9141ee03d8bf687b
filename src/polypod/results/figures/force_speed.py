"""Force against speed of the actuators, with what their drives can give."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ..envelope import envelope
from ..read import actuators, drives, groups
from ..time_means import rms
from .style import INK, dress, figure, leg_line, legend, title


def force_speed(result: xr.Dataset) -> Figure:
    """Size of force over size of speed of each actuator, one panel a unit; grey: what drives can give."""
    panels = groups(result)
    made = figure(7.2, 0.6 + 4.0 * len(panels))
    names, given, time = actuators(result), drives(result), result.time.values
    speed, force = np.abs(result.qdot.values), np.abs(result.force.values)
    all_axes = made.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axes, ((unit, push), numbers) in zip(all_axes, panels.items(), strict=True):
        for k in numbers:
            axes.plot(speed[:, k], force[:, k], label=names[k], **leg_line(k))
        top = 1.1 * float(speed[:, numbers].max()) or 1.0
        for drive in dict.fromkeys(given[k] for k in numbers):
            limit = envelope(drive, max(top, drive.max_speed or 0.0))
            if limit is not None:
                at, most = limit
                axes.fill_between(at, 0.0, most, color="#F0F0F0", zorder=0)
                axes.plot([*at, at[-1]], [*most, 0.0], color=INK, linewidth=1.0, label="drive's envelope")
            if drive.rms_force is not None:
                axes.axhline(drive.rms_force, color=INK, linewidth=0.8, linestyle=":", label="continuous force")
                mean = float(rms(time, force[:, numbers]).max())
                axes.plot([0.0], [mean], marker=">", color=INK, linestyle="none", label="largest rms force")
        axes.set_ylim(bottom=0.0)
        axes.set_xlim(left=0.0)
        what = title(result, "force against speed") if axes is all_axes[0] else ""
        dress(axes, f"actuator speed [{unit}/s]", f"actuator force [{push}]", what)
    legend(made, all_axes[0])
    return made
