"""Figures written as SVG at once: that part of Matplotlib's figures which ours use, in a tenth of the time.

A report has some thirty panels. Matplotlib takes seconds to load and to lay out the ticks of so many, longer than all
that they show takes to compute. :class:`LightFigure` and :class:`LightAxes` answer to the same calls, so that one
function draws a figure for a report, as SVG, or for a program, as a Matplotlib figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...arrays import Array
from .light_frame import DrawnMark, Frame
from .svg import LETTER, arrow, colour, legend_items, svg_text

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_POINTS = 72.0  # an inch
_wanted: ContextVar[bool] = ContextVar("light", default=False)


@contextmanager
def light_figures() -> Iterator[None]:
    """Figures that are made in this block are light ones."""
    token = _wanted.set(True)
    try:
        yield
    finally:
        _wanted.reset(token)


def wanted() -> bool:
    """Whether figures are to be light ones."""
    return _wanted.get()


class LightFigure:
    """A sheet of a size [inch] with axes, words and legends."""

    def __init__(self, width: float, height: float) -> None:
        self.size = np.array([width, height])
        self.axes: list[LightAxes] = []
        self._words: list[str] = []

    def add_axes(self, rectangle: Sequence[float], sharex: Any = None) -> LightAxes:
        """Axes in a rectangle (left, bottom, width, height) of shares of the sheet."""
        axes = LightAxes(self, rectangle, sharex)
        self.axes.append(axes)
        return axes

    def get_figheight(self) -> float:
        """Height [inch]."""
        return float(self.size[1])

    def get_layout_engine(self) -> None:
        """Nothing: places of axes are fixed."""

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        """Words at shares of the sheet."""
        self._words.append(svg_text(x * self.width, (1 - y) * self.height, text, **style))

    def legend(self, handles: Sequence[DrawnMark], labels: Sequence[str], ncols: int = 1, fontsize: float = 8.0,
               bbox_to_anchor: tuple[float, float] = (0.5, 0.0), **style: Any) -> None:  # fmt: skip
        """Lines and what they are, in rows at the lower edge."""
        ncols = max(min(ncols, len(labels)), 1)
        rows = -(-len(labels) // ncols)
        y = self.height * (1 - bbox_to_anchor[1]) - 1.6 * fontsize * rows + 0.4 * fontsize
        self._words += legend_items(handles, labels, bbox_to_anchor[0] * self.width, y, ncols, fontsize)

    @property
    def width(self) -> float:
        """Width [point]."""
        return float(self.size[0] * _POINTS)

    @property
    def height(self) -> float:
        """Height [point]."""
        return float(self.size[1] * _POINTS)

    def svg(self) -> str:
        """The sheet as an SVG document."""
        inside = [part for axes in self.axes for part in axes.svg()]
        size = f'width="{self.width:.5g}pt" height="{self.height:.5g}pt"'
        box = f'viewBox="0 0 {self.width:.5g} {self.height:.5g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="{FONT}" stroke-linejoin="round">'
        return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *inside, *self._words, "</svg>\n"])


class LightAxes(Frame):
    """Axes in a rectangle of a sheet; what is not stated of their limits follows from what is drawn."""

    transAxes = "axes"  # noqa: N815  Matplotlib's name

    # -- what is drawn -------------------------------------------------------------------------------------------------

    def plot(self, x: Any, y: Any, form: str = "", **style: Any) -> list[DrawnMark]:
        """A line through points, or marks at them."""
        if form:
            style.setdefault("marker", form)
            style.setdefault("linestyle", "none")
        xs, ys = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
        known = np.isfinite(xs) & np.isfinite(ys)
        if known.any():
            self._data.append((xs[known].min(), xs[known].max(), ys[known].min(), ys[known].max()))
        mark = DrawnMark(
            lambda axes: axes._line(xs, ys, style), style.get("zorder", 2.0), style, style.get("label", "")
        )
        self.marks.append(mark)
        return [mark]

    def axhline(self, y: float, zorder: float = 2.0, **style: Any) -> None:
        """A level line through the whole width."""
        whole = np.array([0.0, 1.0])
        self._data.append((np.nan, np.nan, y, y))
        self.marks.append(DrawnMark(lambda axes: axes._line(whole, np.array([y, y]), style, across=True), zorder))

    def axhspan(
        self, low: float, high: float, color: str = "", alpha: float = 1.0, zorder: float = 0.0, **_: Any
    ) -> None:
        """A band through the whole width."""

        def svg(axes: LightAxes) -> str:
            a, b = sorted(axes.place(np.zeros(2), np.array([low, high]))[:, 1])
            return (
                f'<rect x="{axes.left:.1f}" y="{a:.1f}" width="{axes.wide:.1f}" height="{b - a:.1f}" fill="{color}" '
                f'fill-opacity="{alpha}"/>'
            )

        self.marks.append(DrawnMark(svg, zorder))

    def text(self, x: float, y: float, text: str, transform: str = "", zorder: float = 3.0, **style: Any) -> None:
        """Write a text at a point."""
        where = ("axes fraction",) * 2 if transform == "axes" else ("data",) * 2

        def svg(axes: LightAxes) -> str:
            left, top = axes._point((x, y), where)
            return svg_text(left, top, text, **style)

        self.marks.append(DrawnMark(svg, zorder))

    def annotate(self, text: str, xy: Any, xytext: Any = (0.0, 0.0), xycoords: Any = "data", textcoords: str = "data",
                 arrowprops: Any = None, zorder: float = 3.0, **style: Any) -> None:  # fmt: skip
        """Words beside a point, or an arrow to it."""
        where = (xycoords, xycoords) if isinstance(xycoords, str) else xycoords

        def svg(axes: LightAxes) -> str:
            x, y = axes._point(xy, where)
            if arrowprops is not None:
                return arrow(axes._point(xytext, where), (x, y), arrowprops)
            return svg_text(x + xytext[0], y - xytext[1], text, **style)

        self.marks.append(DrawnMark(svg, zorder))

    def polygons(
        self, corners: Sequence[Array], faces: Array, edges: Array, widths: Sequence[float], zorder: float
    ) -> None:
        """Filled polygons (m, 2) in turn, their colours (n, 4) and the width of their edges."""

        def svg(axes: LightAxes) -> str:
            parts = []
            for ring, face, edge, width in zip(corners, faces, edges, widths, strict=True):
                points = " ".join(f"{x:.1f},{y:.1f}" for x, y in axes.place(ring[:, 0], ring[:, 1]).tolist())
                line = (
                    f' stroke="{colour(edge)}" stroke-width="{width}" stroke-opacity="{edge[3]:.2g}"' if width else ""
                )
                see = f' fill-opacity="{face[3]:.2g}"' if face[3] < 1 else ""
                parts.append(f'<polygon points="{points}" fill="{colour(face)}"{see}{line}/>')
            return "\n".join(parts)

        self.marks.append(DrawnMark(svg, zorder))

    # -- how they look -------------------------------------------------------------------------------------------------

    def set_xlim(self, low: float, high: float) -> None:
        """Ends of the level axis."""
        self._x = low, high

    def set_ylim(self, bottom: float | None = None, top: float | None = None) -> None:
        """Ends of the upright axis."""
        self._low, self._high = self._low if bottom is None else bottom, self._high if top is None else top

    def get_ylim(self) -> tuple[float, float]:
        """Ends of the upright axis."""
        (_, low), (_, high) = self._limits()
        return low, high

    def set_xlabel(self, text: str, **_: Any) -> None:
        """What the level axis shows."""
        self._names["x"] = text

    def set_ylabel(self, text: str, **_: Any) -> None:
        """What the upright axis shows."""
        self._names["y"] = text

    def set_title(self, text: str, **_: Any) -> None:
        """Words above the axes, at their left."""
        self._names["title"] = text

    def set_axis_off(self) -> None:
        """No frame and no numbers."""
        self._framed = False

    def set_visible(self, visible: bool) -> None:
        """Whether anything is drawn."""
        self._visible = visible

    def set_aspect(self, kind: str) -> None:
        """The whole of the stated limits is shown, in one scale for both axes."""
        if self._x is None or self._low is None or self._high is None:
            raise ValueError(f"aspect {kind!r}: set the limits first")
        across, upright = self._x[1] - self._x[0], self._high - self._low
        scale = min(self.wide / across, self.tall / upright)
        more = 0.5 * (self.wide / scale - across), 0.5 * (self.tall / scale - upright)
        self._x = self._x[0] - more[0], self._x[1] + more[0]
        self._low, self._high = self._low - more[1], self._high + more[1]

    def tick_params(self, labelbottom: bool | None = None, **_: Any) -> None:
        """Whether numbers stand below the level axis."""
        self._numbers = self._numbers if labelbottom is None else labelbottom

    def legend(self, fontsize: float = 8.0, ncols: int = 1, **_: Any) -> None:
        """Lines and what they are, above the axes at their right."""
        handles, labels = self.get_legend_handles_labels()
        long = sum(len(label) for label in labels) * LETTER * fontsize + len(labels) * 3.4 * fontsize
        x, y = self.left + self.wide - 0.5 * long, self.top - 0.5 * fontsize
        self._legend = legend_items(handles, labels, x, y, ncols, fontsize)

    def get_legend_handles_labels(self) -> tuple[list[DrawnMark], list[str]]:
        """Lines that have a name."""
        named = [mark for mark in self.marks if mark.label]
        return named, [mark.label for mark in named]
