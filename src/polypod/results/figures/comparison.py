"""Several robots along a motion in one figure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ...arrays import Array
from ...tables import called, practical_unit
from ..read import actuators_by_unit
from .style import INK, TIME, dress, figure, leg_line, legend


def comparison(results: Mapping[str, xr.Dataset]) -> Figure:
    """Largest force and speed of any actuator (a panel for each unit), total power and condition number over time."""
    units = list(dict.fromkeys(pair for one in results.values() for pair in actuators_by_unit(one)))
    panels: list[tuple[str, str, tuple[str, str] | None]] = []
    for unit, push in units:
        panels += [
            ("force", f"largest {called('force', push)} [{push}]", (unit, push)),
            ("qdot", f"largest speed [{practical_unit(f'{unit}/s')[1]}]", (unit, push)),
        ]
    panels += [("power", "total power [W]", None), ("condition", "condition number", None)]
    fig = figure(10.0, 2.6 * (len(panels) // 2) + 0.6)
    all_axes = fig.subplots(len(panels) // 2, 2, squeeze=False, sharex=True).ravel()
    for k, (axes, (name, label, pair)) in enumerate(zip(all_axes, panels, strict=True)):
        for number, (robot, result) in enumerate(results.items()):
            values = _over_time(result, name, pair)
            if values is not None:
                axes.plot(result.time.values, values, label=robot, **leg_line(number))
        if name == "power":
            axes.axhline(0.0, color=INK, linewidth=0.6)
        dress(axes, TIME if k >= len(panels) - 2 else "", label)  # the rows share their times
    legend(fig, all_axes[len(panels) - 1])
    return fig


def _over_time(result: xr.Dataset, name: str, pair: tuple[str, str] | None) -> Array | None:
    """What a panel shows of a robot (n,); None for a robot without such actuators."""
    values: Array = result[name].values
    if name == "condition":
        return values
    if pair is None:
        total: Array = values.sum(axis=1)
        return total
    numbers = actuators_by_unit(result).get(pair)
    factor = practical_unit(f"{pair[0]}/s")[0] if name == "qdot" else 1.0
    return None if numbers is None else np.asarray(factor * np.abs(values[:, numbers]).max(axis=1))
