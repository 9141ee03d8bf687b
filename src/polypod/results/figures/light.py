"""Figures written as SVG at once: that part of Matplotlib's figures which ours use, in a tenth of the time.

A report has some thirty panels. Matplotlib takes seconds to load and to lay out the ticks of so many, longer than all
that they show takes to compute. ``LightFigure`` and ``LightAxes`` answer to the same calls, so that one
function draws a figure for a report, as SVG, or for a program, as a Matplotlib figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# ----------------------------------------------------------------------------------------------------------------------
# Axes of a light figure as SVG: where values are on the sheet, and the grid, numbers and names around them.


class DrawnMark:
    """Something drawn: SVG text by a function of the axes, behind or before others by its ``zorder``."""

    def __init__(self, svg: Any, zorder: float, style: dict[str, Any] | None = None, label: str = "") -> None:
        self.svg, self.zorder, self.style, self.label = svg, zorder, style or {}, label


class Frame:
    """A rectangle of a sheet with limits and marks; what is not stated of its limits follows from what is drawn."""

    def __init__(self, figure: Any, rectangle: Sequence[float], sharex: Any = None) -> None:
        x, y, w, h = rectangle
        self.figure, self._shared = figure, sharex
        self.left, self.top = x * figure.width, (1 - y - h) * figure.height
        self.wide, self.tall = w * figure.width, h * figure.height
        self.marks: list[DrawnMark] = []
        self._x: tuple[float, float] | None = None
        self._low: float | None = None
        self._high: float | None = None
        self._data: list[tuple[float, float, float, float]] = []
        self._names = {"x": "", "y": "", "title": ""}
        self._framed, self._visible, self._numbers, self._ticks = True, True, True, 6
        self._legend: list[str] | None = None

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Lower left and upper right corner."""
        data = np.array(self._data).reshape(-1, 4)
        with np.errstate(all="ignore"):
            x0, x1 = (f(data[:, k][np.isfinite(data[:, k])], initial=i) for f, k, i in
                      ((np.min, 0, np.inf), (np.max, 1, -np.inf)))  # fmt: skip
            y0, y1 = (f(data[:, k], initial=i) for f, k, i in ((np.min, 2, np.inf), (np.max, 3, -np.inf)))
        if self._x is not None:
            x0, x1 = self._x
        elif np.isfinite(x0):
            x0, x1 = x0 - 0.01 * (x1 - x0 or 1), x1 + 0.01 * (x1 - x0 or 1)
        elif self._shared:
            (x0, _), (x1, _) = self._shared._limits()
        else:
            x0, x1 = 0.0, 1.0
        if not np.isfinite(y0):
            y0, y1 = 0.0, 1.0
        margin = 0.05 * (y1 - y0) or 0.05 * abs(y1) or 1.0
        low = y0 - margin if self._low is None else self._low
        high = y1 + margin if self._high is None else self._high
        return (float(x0), float(low)), (float(x1), float(high))

    def place(self, x: Array, y: Array) -> Array:
        """Points on the sheet (n, 2) [point]."""
        (x0, y0), (x1, y1) = self._now
        return np.stack(
            [self.left + (x - x0) / (x1 - x0) * self.wide, self.top + (y1 - y) / (y1 - y0) * self.tall], axis=-1
        )

    def _point(self, xy: Any, where: Sequence[str]) -> tuple[float, float]:
        at = self.place(np.array([xy[0]], dtype=float), np.array([xy[1]], dtype=float))[0]
        x = self.left + xy[0] * self.wide if where[0] == "axes fraction" else at[0]
        y = self.top + (1 - xy[1]) * self.tall if where[1] == "axes fraction" else at[1]
        return float(x), float(y)

    def _line(self, x: Array, y: Array, style: dict[str, Any], across: bool = False) -> str:
        if across:
            at = self.place(np.zeros(2), y)
            at[:, 0] = [self.left, self.left + self.wide]
        else:
            at = self.place(*decimated(x, y))
        parts = []
        if style.get("linestyle", "-") != "none":
            parts.append(f'<path d="{path(at)}" fill="none" {pen(style)}/>')
        if style.get("marker"):
            parts += [dot(point, style) for point in at.tolist()]
        return "\n".join(parts)

    def svg(self) -> list[str]:
        """All of it as SVG."""
        if not self._visible:
            return []
        self._now = self._limits()
        name = f"c{len(self.figure.axes)}-{self.figure.axes.index(self)}"
        box = f'x="{self.left:.1f}" y="{self.top:.1f}" width="{self.wide:.1f}" height="{self.tall:.1f}"'
        drawn = [mark.svg(self) for mark in sorted(self.marks, key=lambda mark: mark.zorder)]
        if not self._framed:
            return [*drawn, *(self._legend or [])]
        clip = f'<clipPath id="{name}"><rect {box}/></clipPath>'
        # words may stand beyond the frame, lines not
        lines = [part for part in drawn if not part.startswith("<text")]
        texts = [part for part in drawn if part.startswith("<text")]
        return [clip, *self._frame(), f'<g clip-path="url(#{name})">', *lines, "</g>", *texts, *(self._legend or [])]

    def _frame(self) -> list[str]:
        """Grid, axes, numbers and names."""
        (x0, y0), (x1, y1) = self._now
        right, bottom = self.left + self.wide, self.top + self.tall
        grid, numbers = [], []
        levels = ticks(x0, x1, max(int(self.wide / 38), 2))
        for value, x in zip(levels, self.place(levels, np.full(len(levels), y0))[:, 0].tolist(), strict=True):
            grid.append(f"M{x:.1f} {self.top:.1f}V{bottom:.1f}")
            if self._numbers:
                numbers.append(svg_text(x, bottom + 4, number(value), fontsize=8, ha="center", va="top"))
        heights = ticks(y0, y1, max(min(int(self.tall / 22), self._ticks), 2))
        for value, y in zip(heights, self.place(np.full(len(heights), x0), heights)[:, 1].tolist(), strict=True):
            grid.append(f"M{self.left:.1f} {y:.1f}H{right:.1f}")
            numbers.append(svg_text(self.left - 4, y, number(value), fontsize=8, ha="right", va="center"))
        label = 17.0 if self._numbers else 3.0
        edges = f"M{self.left:.1f} {self.top:.1f}V{bottom:.1f}H{right:.1f}"
        return [
            f'<path d="{"".join(grid)}" fill="none" stroke="#E4E4E4" stroke-width="0.6"/>',
            f'<path d="{edges}" fill="none" {pen({"linewidth": 0.8})}/>',
            *numbers,
            svg_text(0.5 * (self.left + right), bottom + label, self._names["x"], fontsize=9, ha="center", va="top"),
            svg_text(self.left - 38, self.top + 0.5 * self.tall, self._names["y"], fontsize=9, ha="center", va="center",
                  rotation=90),
            svg_text(self.left, self.top - 4, self._names["title"], fontsize=10, ha="left", va="bottom"),
        ]  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# Figures written as SVG at once: that part of Matplotlib's figures which ours use, in a tenth of the time.

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


# ----------------------------------------------------------------------------------------------------------------------
# Pieces of SVG: words, lines, marks, arrows, legends; round numbers for ticks.

LETTER = 0.58
"""Mean width of a letter, of its height."""
_MOST = 200  # pieces of a line that is drawn by the extremes in each


def svg_text(x: float, y: float, text: str, fontsize: float = 8.0, color: str = "#222", ha: str = "left",
          va: str = "baseline", rotation: float = 0.0, bbox: Any = None, halo: bool = False,
          **_: Any) -> str:  # fmt: skip
    """Lines of text at a place [point], as Matplotlib aligns them."""
    if not text:
        return ""
    anchor = {"left": "start", "center": "middle", "right": "end"}[ha]
    lines = text.split("\n")
    shift = {"top": 0.76, "center": 0.36, "baseline": 0.0, "bottom": -0.22}[va] * fontsize
    if va in ("bottom", "baseline"):
        shift -= 1.25 * fontsize * (len(lines) - 1)
    elif va == "center":
        shift -= 0.625 * fontsize * (len(lines) - 1)
    turn = f' transform="rotate({-rotation:g} {x:.1f} {y:.1f})"' if rotation else ""
    back = ' stroke="white" stroke-width="2.2" paint-order="stroke"' if halo or bbox is not None else ""
    rows = "".join(
        f'<tspan x="{x:.1f}" y="{y + shift + 1.25 * fontsize * k:.1f}">{escape(line)}</tspan>'
        for k, line in enumerate(lines)
    )
    return f'<text font-size="{fontsize:g}" fill="{color}" text-anchor="{anchor}"{back}{turn}>{rows}</text>'


def legend_items(
    handles: Sequence[Any], labels: Sequence[str], x: float, y: float, ncols: int, fontsize: float
) -> list[str]:
    """A legend about x, from y downwards [point]: as Matplotlib, column by column."""
    rows = -(-len(labels) // ncols)
    columns = [list(zip(handles, labels, strict=True))[k * rows : (k + 1) * rows] for k in range(ncols)]
    widths = [
        max((len(label) for _, label in column), default=0) * LETTER * fontsize + 4.4 * fontsize for column in columns
    ]
    left, parts = x - 0.5 * sum(widths), []
    for column, width in zip(columns, widths, strict=True):
        for row, (mark, label) in enumerate(column):
            at = y + 1.6 * fontsize * row
            if mark.style.get("linestyle", "-") == "none":
                parts.append(dot((left + 1.4 * fontsize, at), mark.style))
            else:
                parts.append(f'<path d="M{left:.1f} {at:.1f}h{2.8 * fontsize:.1f}" fill="none" {pen(mark.style)}/>')
            parts.append(svg_text(left + 3.3 * fontsize, at, label, fontsize=fontsize, va="center"))
        left += width
    return parts


def pen(style: dict[str, Any]) -> str:
    """Colour, width and dashes of a line."""
    width, dashes = float(style.get("linewidth", 1.5)), style.get("linestyle", "-")
    kind = "" if isinstance(dashes, str) else f' stroke-dasharray="{" ".join(f"{d * width:.3g}" for d in dashes[1])}"'
    return f'stroke="{style.get("color", "#222")}" stroke-width="{width:.3g}"{kind}'


def dot(point: Sequence[float], style: dict[str, Any]) -> str:
    """A mark at a point."""
    x, y = point
    r, colour_ = 0.5 * float(style.get("markersize", 6)), style.get("color", "#222")
    if style["marker"] == "+":
        return f'<path d="M{x - r:.1f} {y:.1f}h{2 * r:.1f}M{x:.1f} {y - r:.1f}v{2 * r:.1f}" stroke="{colour_}"/>'
    face, edge = (style.get(part, colour_) for part in ("markerfacecolor", "markeredgecolor"))
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{face}" stroke="{edge}"/>'


def arrow(start: tuple[float, float], end: tuple[float, float], style: dict[str, Any]) -> str:
    """A line with a head at its end, or at both."""
    a, b = np.array(start), np.array(end)
    length = float(np.hypot(*(b - a))) or 1.0
    along, across = (b - a) / length, np.array([-(b - a)[1], (b - a)[0]]) / length
    size, parts = 0.62 * float(style.get("mutation_scale", 7)), []
    for tip, way in ((b, -along), *(((a, along),) if style["arrowstyle"].startswith("<") else ())):
        corners = [tip, tip + size * way + 0.4 * size * across, tip + size * way - 0.4 * size * across]
        parts.append(f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}" fill="{style["color"]}"/>')
    line = f'<path d="{path(np.stack([a, b]))}" {pen({"color": style["color"], "linewidth": style["lw"]})}/>'
    return "\n".join([line, *parts])


def colour(rgba: Any) -> str:
    """A colour's first three numbers as SVG has them."""
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in rgba[:3])


def path(points: Array) -> str:
    """Points (n, 2) as a line; a point that is no number parts it."""
    parts, moving = [], True
    for x, y in points.tolist():
        known = math.isfinite(x) and math.isfinite(y)
        if known:
            parts.append(f"{'M' if moving else 'L'}{x:.1f} {y:.1f}")
        moving = not known
    return "".join(parts)


def decimated(x: Array, y: Array) -> tuple[Array, Array]:
    """Points of a line that are seen: of many, the lowest and the highest in each of as many pieces as are seen.

    A line that turns back, as force over speed does, is kept whole.
    """
    size = len(x) // _MOST if (np.diff(x) > 0).all() else 0
    if size < 3 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return x, y
    count = len(x) // size * size
    pieces = y[:count].reshape(-1, size)
    starts = np.arange(len(pieces)) * size
    kept = np.concatenate([starts, starts + pieces.argmin(axis=1), starts + pieces.argmax(axis=1),
                           np.arange(count, len(x)),
                           [len(x) - 1]])  # fmt: skip
    chosen = np.unique(kept.astype(int))
    return x[chosen], y[chosen]


def ticks(low: float, high: float, most: int) -> Array:
    """Round numbers between two, at most so many.

    Examples
    --------
    >>> ticks(-0.04, 4.04, 9).tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
    """
    rough = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(f * power for f in (1.0, 2.0, 2.5, 5.0, 10.0) if f * power >= rough * (1 - 1e-9))
    return np.asarray(np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0)


def number(value: float) -> str:
    """A tick's number, without the rounding of its place."""
    return f"{round(value, 12) + 0.0:g}".replace("-", "\N{MINUS SIGN}")


# ----------------------------------------------------------------------------------------------------------------------
# Names drawn as they are written: a ``$`` in one is no mathematics.


def without_mathtext(draw: Callable[..., Figure], *given: Any) -> Figure:
    """A figure whose texts are not read as formulas, except powers of ten on a logarithmic axis.

    Parameters
    ----------
    draw : callable
        Draws the figure.
    *given
        Its arguments.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    if wanted() and hasattr(figure := draw(*given), "svg"):  # nothing in a light figure is a formula
        return figure
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):
        figure = draw(*given)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                for label in (*axis.get_majorticklabels(), *axis.get_minorticklabels()):
                    label.set_parse_math(True)
    return figure
