"""Pieces of SVG: words, lines, marks, arrows, legends; round numbers for ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ...arrays import Array

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
