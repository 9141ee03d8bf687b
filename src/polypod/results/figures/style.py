"""How figures look: colours of legs as on live pages, dashes that survive a grey print."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...view.colours import COLOURS as COLOURS

DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2.2)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1.4)),
    (0, (8, 2, 1, 2, 1, 2)),
)
INK, FAINT = "#222222", "#B8B8B8"
TIME = "time [s]"
PRINT_DPI = 160


def figure(width: float = 7.2, height: float = 4.0, fitted: bool = True) -> Figure:
    """An empty figure (inches), room made for its labels if ``fitted``; never touches a window system."""
    layout: Any = "constrained" if fitted else None
    made = Figure(figsize=(width, height), dpi=PRINT_DPI, layout=layout, facecolor="white")
    FigureCanvasAgg(made)
    return made


def dress(axes: Axes, xlabel: str = "", ylabel: str = "", title: str = "") -> None:
    """Labels with units, a light grid, no box."""
    axes.set_xlabel(xlabel, fontsize=9)
    axes.set_ylabel(ylabel, fontsize=9)
    if title:
        axes.set_title(title, fontsize=10, loc="left", color=INK)
    axes.grid(True, color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)


def leg_line(number: int) -> dict[str, Any]:
    """Colour, dashes and width of a leg's line; later ones are thinner, so that one below them shows at its edges."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number % len(DASHES)],
        "linewidth": max(2.0 - 0.16 * number, 1.2),
    }


def legend(figure_: Figure, axes: Axes, columns: int = 6) -> None:
    """One legend for the whole figure, below it, read in rows: Matplotlib fills columns."""
    handles, labels = axes.get_legend_handles_labels()
    order = [k for column in range(columns) for k in range(column, len(labels), columns)]
    figure_.legend(
        [handles[k] for k in order], [labels[k] for k in order], loc="outside lower center",
        ncols=min(columns, len(labels)), fontsize=8, frameon=False, handlelength=2.8,
    )  # fmt: skip


def title(result: xr.Dataset, what: str) -> str:
    """What a figure of a study shows, of which robot and motion."""
    return f"{result.attrs['robot']}, {result.attrs['motion']}: {what}"
