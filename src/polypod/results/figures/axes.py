"""Axes of figures whose numbers are small or large: a prefix of the unit takes the powers of ten."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np

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

    >>> [prefix_power(number) for number in (0.0, 3e-6, 0.05, 0.2, 1500.0, 30000.0)]
    [0, -6, -3, 0, 0, 3]
    """
    if largest == 0.0 or 0.1 <= largest < 1e4:
        return 0
    return 3 * floor((log10(largest) + (1 if largest < 1 else 0)) / 3)


def _text(number: float) -> str:
    """A tick's number, without the rounding of its place."""
    return f"{round(number, 9) + 0.0:g}".replace("-", "\N{MINUS SIGN}")
