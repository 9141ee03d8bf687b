"""What the base carries over time: the whole wrench, and the part that shakes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .curves import draw_curves, most_labelled
from .style import INK, TIME, dress, headline, legend, panels, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_AXES = ("x", "y", "z")


def foundation(result: xr.Dataset) -> Figure:
    """Force [N] and moment [N m] on the base at the origin of {B}, base axes, and the shaking part of both.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    columns = [("on the base", result.base_wrench.values)]
    if "shaking" in result:
        columns.append(("shaking part", result.shaking.values))
    fig, grid = panels(2, len(columns))
    for line, (what, unit, part) in zip(grid, (("force", "N", slice(3)), ("moment", "N m", slice(3, 6))), strict=True):
        for axes, (name, values) in zip(line, columns, strict=True):
            axes.axhline(0.0, color=INK, linewidth=0.6)
            draw_curves(axes, result.time.values, list(_AXES), values[:, part], unit)
            dress(axes, TIME if what == "moment" else "", f"{what} {name} [{unit}]")
    headline(fig, title(result, "foundation loads"))
    legend(fig, most_labelled([axes for line in grid for axes in line]))
    return fig
