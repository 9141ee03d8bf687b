"""How figures look: colours of legs as on live pages, dashes that survive a grey print."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...drawing import COLOURS as COLOURS
from . import light

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    """An empty figure (inches), room made for its labels if ``fitted``; never touches a window system.

    Within ``.light.light_figures`` one with fixed places is light.
    """
    if light.wanted() and not fitted:
        fig: Any = light.LightFigure(width, height)
        return fig
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    layout: Any = "constrained" if fitted else None
    fig = _shown_figure()(figsize=(width, height), dpi=PRINT_DPI, layout=layout, facecolor="white")
    FigureCanvasAgg(fig)
    return fig


@cache
def _shown_figure() -> type[Figure]:
    """A figure that a notebook shows without any setting; Matplotlib is imported when the first one is drawn."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure whose picture is its representation in a notebook."""

        def _repr_png_(self) -> bytes:
            with BytesIO() as out:
                self.savefig(out, format="png")
                return out.getvalue()

    return ShownFigure


def panels(
    rows: int, columns: int = 1, height: float = 1.9, head: float = 0.3, legend_rows: int = 1, *, each: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of panels in fixed places [inch], which costs a fraction of a layout engine's time.

    ``height`` is that of a panel's frame, ``head`` the room for the figure's title. With ``each`` every panel has its
    own title; time is written below the last row alone.
    """
    left, right, between, above, foot = 0.72, 0.14, 0.78, 0.24 if each else 0.12, 0.42 + 0.26 * legend_rows
    total = head + rows * (height + above) + foot
    fig = figure(7.2, total, fitted=False)
    width = (7.2 - left - right - (columns - 1) * between) / columns
    grid: list[list[Axes]] = []
    for row in range(rows):
        y = (total - head - (row + 1) * (height + above)) / total
        line = []
        for column in range(columns):
            x = (left + column * (width + between)) / 7.2
            axes = fig.add_axes((x, y, width / 7.2, height / total), sharex=grid[0][0] if grid else None)
            axes.tick_params(labelbottom=row == rows - 1)
            line.append(axes)
        grid.append(line)
    return fig, grid


def last_with_time(cells: Sequence[Any], columns: int) -> None:
    """Numbers and name of time below the lowest panel of each column of a grid whose last row may be short."""
    for axes in cells[:-columns]:
        axes.set_xlabel("")
    for axes in cells[-columns:]:
        axes.tick_params(labelbottom=True)


def headline(fig: Figure, text: str) -> None:
    """The title of a figure of panels."""
    fig.text(0.012, 1.0 - 0.07 / fig.get_figheight(), text, fontsize=10, color=INK, va="top")


def add_polygons(
    axes: Any, corners: Sequence[Array], faces: Array, edges: Array, widths: Sequence[float], zorder: float = 2.0
) -> None:
    """Filled polygons (m, 2) in turn, with colours (n, 4) of faces and edges and widths of the edges.

    Those of a ``zorder`` below 2 lie behind curves.
    """
    if isinstance(axes, light.LightAxes):
        axes.polygons(corners, faces, edges, widths, zorder)
        return
    from matplotlib.collections import PolyCollection

    axes.add_collection(PolyCollection(corners, facecolors=faces, edgecolors=edges, linewidths=widths, zorder=zorder))


def add_circle(axes: Any, centre: Array, radius: float, **style: Any) -> None:
    """A circle that is not filled."""
    turn = np.linspace(0.0, 2 * np.pi, 73)
    axes.plot(centre[0] + radius * np.cos(turn), centre[1] + radius * np.sin(turn), **style)


def add_name(axes: Any, place: Array, name: str, **style: Any) -> None:
    """Words that stay readable over lines."""
    if isinstance(axes, light.LightAxes):
        axes.text(float(place[0]), float(place[1]), name, halo=True, **style)
        return
    from matplotlib import patheffects

    axes.text(*place, name, **style).set_path_effects([patheffects.withStroke(linewidth=2.0, foreground="white")])


def dress(axes: Axes, xlabel: str = "", ylabel: str = "", title: str = "") -> None:
    """Labels with units, a light grid, no box."""
    axes.set_xlabel(xlabel, fontsize=9)
    axes.set_ylabel(ylabel, fontsize=9)
    if title:
        axes.set_title(title, fontsize=10, loc="left", color=INK)
    if isinstance(axes, light.LightAxes):
        return
    axes.grid(True, color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)
    if axes.figure.get_layout_engine() is None:  # panels are low
        axes.locator_params(axis="y", nbins=5)


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
    if not labels:
        return
    columns = ceil(len(labels) / ceil(len(labels) / columns))  # rows of one length
    order = [k for column in range(columns) for k in range(column, len(labels), columns)]
    figure_.legend(
        [handles[k] for k in order], [labels[k] for k in order],
        loc="lower center" if figure_.get_layout_engine() is None else "outside lower center",
        ncols=min(columns, len(labels)), fontsize=8, frameon=False, handlelength=2.8,
    )  # fmt: skip


def title(result: xr.Dataset, what: str) -> str:
    """What a figure of a study shows, of which robot and motion."""
    return f"{result.attrs['robot']}, {result.attrs['motion']}: {what}"


# ----------------------------------------------------------------------------------------------------------------------
# Axes of figures whose numbers are small or large: a prefix of the unit takes the powers of ten.

PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}


def label_with_prefix(axis: Any, label: str, unit: str) -> None:
    """Label an axis of plain SI numbers by what it shows; ticks and unit get the prefix that suits what is drawn."""
    from matplotlib.ticker import FuncFormatter

    drawn, upright = axis.axes.dataLim, axis.axis_name == "y"
    ends = np.abs(drawn.intervaly if upright else drawn.intervalx)
    largest = float(ends.max()) if np.isfinite(ends).all() else 0.0
    power = prefix_power(largest)
    axis.set_major_formatter(FuncFormatter(lambda value, _: _text(value / 10.0**power)))
    prefix = PREFIXES.get(power, f"1e{power} ")
    axis.set_label_text(f"{label} [{prefix}{unit}]", fontsize=9)
    if upright and largest == 0.0:  # numbers beside a line of zeros mean nothing
        axis.axes.set_ylim(-1.0, 1.0)
        axis.set_ticks([0.0])


def prefix_power(largest: float) -> int:
    """Power of ten, a multiple of three, that leaves 0.1 to 100 of a small number and 1 to 1000 of a large one.

    Examples
    --------
    >>> [prefix_power(number) for number in (0.0, 3e-6, 0.05, 0.2, 1500.0, 30000.0)]
    [0, -6, -3, 0, 0, 3]
    """
    if largest == 0.0 or 0.1 <= largest < 1e4:
        return 0
    return 3 * floor((log10(largest) + (1 if largest < 1 else 0)) / 3)


def _text(number: float) -> str:
    """A tick's number, without the rounding of its place."""
    return f"{round(number, 9) + 0.0:g}".replace("-", "\N{MINUS SIGN}")
