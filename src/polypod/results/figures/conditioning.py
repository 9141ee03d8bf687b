"""Distance to singularity and place in limited ranges along the path."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ...model.results import LimitReport
from ..read import limit_report
from .limits import draw_limits
from .style import COLOURS, TIME, dress, figure, legend, title


def conditioning(result: xr.Dataset) -> Figure:
    """Condition number and distance to singularity along the path, and how much of each limited range is used."""
    limits = limit_report(result)
    made = figure(7.2, 7.0 if limits.names else 4.8)
    ratios = [1, 1, 1.4][: 3 if limits.names else 2]
    rows = made.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    rows[0].plot(result.time.values, result.condition, color=COLOURS[0], linewidth=1.6)
    rows[1].plot(result.time.values, result.distance, color=COLOURS[1], linewidth=1.6)
    for axes, values in zip(rows, (result.condition.values, result.distance.values), strict=False):
        axes.set_ylim(0.0, 1.1 * float(np.max(values)))
    dress(rows[0], "", "condition number [1]", title(result, "distance to singularity and to limits"))
    dress(rows[1], "", "distance to\nsingularity [1]")
    if limits.names:
        draw_limits(rows[2], result.time.values, limits)
        dress(rows[2], "", f"{_kind(limits)}place\nin allowed range [%]")
        legend(made, rows[2], 6)
    rows[-1].set_xlabel(TIME, fontsize=9)
    return made


def _kind(limits: LimitReport) -> str:
    """What is limited and a colon, if it is one kind of quantity."""
    kinds = {name for _, name in limits.names}
    return f"{kinds.pop()}: " if len(kinds) == 1 else ""
