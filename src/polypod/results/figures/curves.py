"""Curves of actuators over time: equal ones as one, the worst bold, its peak marked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from .style import INK, leg_line

_EQUAL = 2e-3  # of the largest value; closer curves lie on each other


class Curve(NamedTuple):
    """A line for one or several names: the number of the first, and values (n,)."""

    label: str
    number: int
    values: Array


def merge_equal(names: list[str], values: Array, numbers: list[int] | None = None) -> list[Curve]:
    """Curves (n, k) with those that lie on each other as one; ``numbers`` of the names give colours, 0, 1, ... if none.

    Examples
    --------
    >>> lines = merge_equal(["a", "b", "c"], np.array([[0.0, 0.0, 1.0], [2.0, 2.0, 0.0]]))
    >>> [line.label for line in lines]
    ['a = b', 'c']
    """
    near = _EQUAL * float(np.abs(values).max(initial=0.0))
    groups: list[list[int]] = []
    for k in range(values.shape[1]):
        same = next((g for g in groups if np.abs(values[:, g[0]] - values[:, k]).max(initial=0.0) <= near), None)
        if same is None:
            groups.append([k])
        else:
            same.append(k)
    whole = len(groups) == 1 and len(names) > 1
    return [
        Curve(
            f"all {len(names)} identical" if whole else " = ".join(names[k] for k in group),
            group[0] if numbers is None else numbers[group[0]],
            values[:, group[0]],
        )
        for group in groups
    ]


def draw_curves(
    axes: Any, time: Array, names: list[str], values: Array, unit: str, what: str = "peak",
    numbers: list[int] | None = None,
) -> None:  # fmt: skip
    """Lines over time; the one with the largest value is bold and its peak marked with number and name."""
    lines = merge_equal(names, values, numbers)
    worst = max(range(len(lines)), key=lambda k: float(np.abs(lines[k].values).max(initial=0.0)), default=0)
    for k, line in enumerate(lines):
        style = leg_line(line.number)
        style["linewidth"] = 2.4 if k == worst and len(lines) > 1 else 1.3
        axes.plot(time, line.values, label=line.label, zorder=4 if k == worst else 3, **style)
    if lines and np.abs(lines[worst].values).max(initial=0.0) > 0:
        mark_peak(axes, time, lines[worst].values, f"{what} {{}} {unit}, {lines[worst].label}")


def mark_peak(axes: Any, time: Array, values: Array, text: str) -> None:
    """A dot at the value farthest from zero, and its number in a text with ``{}``."""
    k = int(np.abs(values).argmax())
    axes.plot(time[k : k + 1], values[k : k + 1], "o", color=INK, markersize=4, zorder=6)
    late = time[k] > time[0] + 0.6 * (time[-1] - time[0])
    up = values[k] >= 0
    axes.annotate(
        text.format(three_digits(float(values[k]))), (time[k], values[k]), (-6 if late else 6, 3 if up else -3),
        textcoords="offset points", ha="right" if late else "left", va="bottom" if up else "top", fontsize=8, color=INK,
        zorder=7,
    )  # fmt: skip
    low, high = axes.get_ylim()  # room for the words
    axes.set_ylim(low - (0.0 if up else 0.12 * (high - low)), high + (0.12 * (high - low) if up else 0.0))


def three_digits(value: float) -> str:
    """A number with three digits that count, a proper minus, no power of ten where it can be helped.

    Examples
    --------
    >>> [three_digits(v) for v in (219.13, -1234.5, 0.01234, 0.0)]
    ['219', '\N{MINUS SIGN}1234', '0.0123', '0']
    """
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


def most_labelled(panels: list[Any]) -> Any:
    """The panel with the most named curves, whose legend holds for all."""
    return max(panels, key=lambda axes: len(axes.get_legend_handles_labels()[1]))
