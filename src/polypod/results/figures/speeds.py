"""Speed and power of the actuators over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tables import practical_unit
from ..read import actuator_names, actuators_by_unit
from .curves import draw_curves, most_labelled
from .style import INK, TIME, dress, headline, legend, panels, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def speeds(result: xr.Dataset) -> Figure:
    """Speed [mm/s or deg/s], one panel per unit, and power [W] of each actuator over time.

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
    fig, grid = panels(len(units) + 1)
    for (axes,), ((unit, _), numbers) in zip(grid, units.items(), strict=False):
        factor, shown = practical_unit(f"{unit}/s")
        axes.axhline(0.0, color=INK, linewidth=0.6)
        draw_curves(axes, time, [names[k] for k in numbers], factor * result.qdot.values[:, numbers], shown,
                    numbers=numbers)  # fmt: skip
        dress(axes, "", f"actuator speed [{shown}]")
    (below,) = grid[-1]
    below.axhline(0.0, color=INK, linewidth=0.6)
    draw_curves(below, time, names, result.power.values, "W")
    dress(below, TIME, "actuator power [W]")
    headline(fig, title(result, "speed and power"))
    legend(fig, most_labelled([axes for row in grid for axes in row]))
    return fig
