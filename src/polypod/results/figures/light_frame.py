"""Axes of a light figure as SVG: where values are on the sheet, and the grid, numbers and names around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from .svg import decimated, dot, number, path, pen, svg_text, ticks


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
