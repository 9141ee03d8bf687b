"""Room for three-dimensional axes: a layout engine does not see what they draw, so their ink is measured.

Axes of this kind are a square with much white around the robot; here the square is made as large as its ink fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

_SHEET = 24.0  # inches, of the sheet that ink is measured on
_DPI = 40.0
_WHITE = 250


@dataclass(frozen=True)
class Ink:
    """What axes draw, from the lower left corner of their square of side ``side`` [inch]."""

    side: float
    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """From the left to the right [inch]."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the bottom to the top [inch]."""
        return self.top - self.bottom


def measure(made: Figure, axes: Any, side: float) -> Ink:
    """Ink of axes in a square of a side [inch]; nothing else is drawn meanwhile."""
    others = [part for part in (*made.axes, *made.texts, *made.legends) if part is not axes and part.get_visible()]
    width, height, dpi = made.get_figwidth(), made.get_figheight(), made.dpi
    position = axes.get_position(original=True)
    for part in others:
        part.set_visible(False)
    made.set_dpi(_DPI)
    made.set_size_inches(_SHEET, _SHEET)
    axes.set_position((0.5 - 0.5 * side / _SHEET, 0.5 - 0.5 * side / _SHEET, side / _SHEET, side / _SHEET))
    canvas: Any = made.canvas
    canvas.draw()
    colours: NDArray[np.uint8] = np.asarray(canvas.buffer_rgba())
    dark = colours[..., :3].min(axis=2) < _WHITE
    for part in others:
        part.set_visible(True)
    made.set_dpi(dpi)
    made.set_size_inches(width, height)
    axes.set_position(position)
    rows, columns = (np.unique(found) for found in np.nonzero(dark))
    corner = 0.5 * (_SHEET - side)
    bottom, top = _SHEET - (rows[-1] + 1) / _DPI, _SHEET - rows[0] / _DPI
    return Ink(side, columns[0] / _DPI - corner, bottom - corner, (columns[-1] + 1) / _DPI - corner, top - corner)


def side_within(made: Figure, axes: Any, width: float, height: float) -> float:
    """Side of the square [inch] whose ink just fits into a width and height [inch].

    Ink grows with the side, its labels do not: a straight line through two measurements tells the side.
    """
    small, large = (measure(made, axes, factor * min(width, height)) for factor in (0.8, 1.4))
    sides = []
    for wanted, low, high in ((width, small.width, large.width), (height, small.height, large.height)):
        slope = (high - low) / (large.side - small.side)
        sides.append(small.side + (wanted - low) / slope)
    return float(max(min(sides), 0.3 * min(width, height)))


def put(made: Figure, axes: Any, ink: Ink, x: float, y: float) -> None:
    """Place axes so that the lower left corner of their ink is at x, y [inch] of the figure."""
    width, height = made.get_size_inches()
    axes.set_position(((x - ink.left) / width, (y - ink.bottom) / height, ink.side / width, ink.side / height))
