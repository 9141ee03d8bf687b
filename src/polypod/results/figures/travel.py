"""Actuated coordinates between their stops, limited angles below theirs, and force amplification along the path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...limits import LimitReport
from ...tables import practical_unit
from ..read import actuator_names, actuators_by_unit, limit_report
from .curves import draw_curves, mark_peak, most_labelled
from .style import COLOURS, TIME, dress, headline, legend, panels, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

STOP = "#D55E00"


def travel(result: xr.Dataset) -> Figure:
    """Each actuated coordinate over time [mm or deg] with both stops, and every other limited quantity with its limit.

    Limits of equal legs are one line; what lies beyond a stop is shaded.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    names, time, limits = actuator_names(result), result.time.values, limit_report(result)
    units, kinds, legs = actuators_by_unit(result), _others(result, limits), list(map(str, result.leg.values))
    fig, grid = panels(len(units) + len(kinds))
    rows = iter(grid)
    for (unit, _), numbers in units.items():
        (axes,) = next(rows)
        factor, shown = practical_unit(unit)
        draw_curves(axes, time, [names[k] for k in numbers], factor * result.q.values[:, numbers], shown, "largest",
                    numbers)  # fmt: skip
        ends = [pair for k in numbers if (pair := _stops(result, limits, k)) is not None]
        _draw_stops(axes, factor, sorted({end[0] for end in ends}), sorted({end[1] for end in ends}))
        dress(axes, "", f"coordinate [{shown}]")
    for kind, columns in kinds.items():
        (axes,) = next(rows)
        factor, shown = practical_unit(limits.units[columns[0]])
        own = [limits.names[k][0] for k in columns]
        numbers = [legs.index(leg) for leg in own]  # a leg has its colour, whichever others have such a limit
        draw_curves(axes, time, own, factor * limits.value[:, columns], shown, numbers=numbers)
        low, high = ({float(end[k]) for k in columns} for end in (limits.low, limits.high))
        angle = shown == "deg" and low == {0.0}
        _draw_stops(axes, factor, [] if angle else sorted(low), sorted(high))
        if angle:
            axes.set_ylim(bottom=0.0)
        dress(axes, "", f"{kind} [{shown}]")
    grid[-1][0].set_xlabel(TIME, fontsize=9)
    headline(fig, title(result, "travel within the limits" if limits.names else "travel; the robot file has no limits"))
    legend(fig, most_labelled([axes for row in grid for axes in row]))
    return fig


def _stops(result: xr.Dataset, limits: LimitReport, number: int) -> tuple[float, float] | None:
    """Lowest and highest value of an actuated coordinate, if a limit of its leg is on that coordinate itself."""
    leg, q = str(result.actuator_leg.values[number]), result.q.values[:, number]
    for k, (owner, _) in enumerate(limits.names):
        if owner == leg and np.allclose(limits.value[:, k], q, rtol=1e-12, atol=1e-12):
            return float(limits.low[k]), float(limits.high[k])
    return None


def _others(result: xr.Dataset, limits: LimitReport) -> dict[str, list[int]]:
    """Numbers of the limited quantities that are no actuated coordinate, by kind."""
    q, kinds = result.q.values, {}  # type: ignore[var-annotated]
    for k, (_, kind) in enumerate(limits.names):
        if not np.isclose(limits.value[:, [k]], q, rtol=1e-12, atol=1e-12).all(axis=0).any():
            kinds.setdefault(kind, []).append(k)
    return kinds


def _draw_stops(axes: Any, factor: float, low: list[float], high: list[float]) -> None:
    """Lines at the stops, and what is beyond them shaded."""
    bottom, top = axes.get_ylim()
    ends = [factor * end for end in (*low, *high) if np.isfinite(end)]
    if not ends:
        return
    margin = 0.12 * (max(top, *ends) - min(bottom, *ends))
    axes.set_ylim(min(bottom, *(end - margin for end in ends)), max(top, *(end + margin for end in ends)))
    bottom, top = axes.get_ylim()
    for end, beyond in [*((factor * e, bottom) for e in low[:1]), *((factor * e, top) for e in high[-1:])]:
        axes.axhspan(end, beyond, color=STOP, alpha=0.08, linewidth=0, zorder=0)
    for end in ends:
        axes.axhline(end, color=STOP, linewidth=1.2, zorder=2.5)
        axes.annotate(f"stop {end:.4g}", (0.0, end), (3, 2), xycoords=("axes fraction", "data"),
                      textcoords="offset points", fontsize=7.5, color=STOP, va="bottom")  # fmt: skip


def amplification(result: xr.Dataset) -> Figure:
    """Largest forces in the actuated joints for a load of 1 N on the platform in its worst direction, over time.

    It is 1/sigma, with sigma the smallest singular value of the Jacobian in lengths: the norm of the forces in the
    joints, torques divided by the platform's size r, relative to that of [f; m/r]. It grows without bound towards a
    singular pose.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    fig, ((axes,),) = panels(1, height=2.0, legend_rows=0)
    values = 1.0 / result.distance.values
    axes.plot(result.time.values, values, color=COLOURS[0], linewidth=1.8)
    mark_peak(axes, result.time.values, values, "largest {}")
    axes.set_ylim(bottom=0.0)
    dress(axes, TIME, "force amplification [1]")
    headline(fig, title(result, "force in actuated joints for a load of 1 N in the worst direction"))
    return fig
