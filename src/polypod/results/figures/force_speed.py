"""Force against speed of the actuators, with what their drives can give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...description import Drive
from ...description.drive import force_at
from ...tables import called, practical_unit
from ..read import actuator_names, actuators_by_unit, drives, forces_or_torques, rms
from .curves import merge_equal
from .style import INK, add_polygons, dress, figure, headline, leg_line, legend, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


_PANEL, _ABOVE, _BELOW = 3.2, 0.3, 0.92  # inches: height of a panel, room above and below
_GIVEN = np.array([[0.94, 0.94, 0.94, 1.0]])


def force_speed(result: xr.Dataset) -> Figure:
    """Force over speed of each actuator, as magnitudes, one panel per unit, with the drives' limits in grey.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    units = actuators_by_unit(result)
    total = len(units) * (_PANEL + _ABOVE + _BELOW)
    fig = figure(7.2, total, fitted=False)
    for k, ((unit, push), numbers) in enumerate(units.items()):
        bottom = total - (k + 1) * (_PANEL + _ABOVE + _BELOW) + _BELOW
        axes: Any = fig.add_axes((0.1, bottom / total, 0.88, _PANEL / total))
        factor, shown = practical_unit(f"{unit}/s")
        _panel(axes, result, numbers, factor, push)
        dress(axes, f"actuator speed [{shown}]", f"actuator {called('force', push)} [{push}]")
    headline(fig, title(result, f"{forces_or_torques(result, one=True)} against speed"))
    legend(fig, fig.axes[0])
    return fig


def _panel(axes: Any, result: xr.Dataset, numbers: list[int], factor: float, unit: str) -> None:
    names, given, time = actuator_names(result), drives(result), result.time.values
    speed, force = np.abs(result.qdot.values[:, numbers]), np.abs(result.force.values[:, numbers])
    right, highest = 1.1 * float(speed.max()) or 1.0, float(force.max())
    scale = float(speed.max()) or 1.0, highest or 1.0
    both = np.concatenate([speed / scale[0], force / scale[1]])
    for line in merge_equal([names[k] for k in numbers], both, numbers):
        at, push = np.split(line.values, 2)
        axes.plot(factor * scale[0] * at, scale[1] * push, label=line.label,
                  **{**leg_line(line.number), "linewidth": 1.2})  # fmt: skip
    for drive in dict.fromkeys(given[k] for k in numbers):
        right = max(right, 1.05 * (drive.max_speed or 0.0))
        limit = envelope(drive, max(right, drive.max_speed or 0.0))
        if limit is not None:
            at, most = factor * np.asarray(limit[0]), np.asarray(limit[1])
            highest = max(highest, float(most.max()))
            ring = np.array([[0.0, 0.0], *zip(at, most, strict=True), [at[-1], 0.0]])
            add_polygons(axes, [ring], _GIVEN, _GIVEN, [0.0], zorder=0.5)  # or it hides the curves
            axes.plot([*at, at[-1]], [*most, 0.0], color=INK, linewidth=1.0, label="drive envelope")
        if drive.rms_force is not None:
            axes.plot([0.0, factor * right], [drive.rms_force] * 2, color=INK, linewidth=0.8, linestyle=(0, (2, 2)),
                      label=f"continuous {called('force', unit)}")  # fmt: skip
            mean = float(rms(time, force).max())
            axes.plot([0.0], [mean], "o", color=INK, markersize=7, label=f"largest rms {called('force', unit)}")
    axes.set_xlim(0.0, factor * right)
    axes.set_ylim(0.0, 1.08 * highest or 1.0)


# ----------------------------------------------------------------------------------------------------------------------
# The force that a drive gives at a speed: its limits as one envelope over the speed.


def envelope(drive: Drive, top: float, count: int = 200) -> tuple[Array, Array] | None:
    """Speeds (k,) and the largest forces (k,) there; None for a drive without limits of force.

    The envelope ends at the largest speed that is allowed, or at ``top`` where none is.
    """
    ends = [x for x in (drive.max_speed, drive.force_speed[-1][0] if drive.force_speed else None) if x is not None]
    if drive.max_force is None and drive.force_speed is None and drive.max_power is None:
        return None
    corners = [point[0] for point in drive.force_speed or ()]
    end = min(ends, default=top)
    speeds = np.unique(np.concatenate([np.linspace(0.0, end, count), [x for x in corners if x <= end]]))
    forces = force_at(drive, speeds)
    seen = np.isfinite(forces)
    return speeds[seen], forces[seen]
