"""Figures with a panel for each leg, as the papers draw them: curves of several models, their difference below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ...arrays import Array
from ...results.figures.style import COLOURS, DASHES, INK, TIME, dress, figure, leg_line, legend


@dataclass(frozen=True)
class Block:
    """Curves (T, 6) by name that share their panels, and what the panels show."""

    curves: Mapping[str, Array]
    ylabel: str
    title: str = ""


def leg_panels(time: Array, blocks: tuple[Block, ...], title: str, leg: str = "pod") -> Figure:
    """A panel for each leg in two rows of three, one such block above the other; a name has one colour throughout."""
    names = list(dict.fromkeys(name for block in blocks for name in block.curves))
    drawn = figure(8.4, 0.7 + 3.5 * len(blocks))
    drawn.suptitle(title, fontsize=10, x=0.01, ha="left", color=INK)
    parts: Any = drawn.subfigures(len(blocks), 1, squeeze=False)
    for part, block in zip(parts[:, 0], blocks, strict=True):
        if block.title:
            part.suptitle(block.title, fontsize=9, x=0.01, ha="left", color=INK)
        grid = part.subplots(2, 3, sharex=True)
        for k, axes in enumerate(grid.ravel()):
            for name, values in block.curves.items():
                number = names.index(name)
                # later curves are thinner: one that lies on an earlier one leaves its edges in sight
                style = {"color": COLOURS[number], "linestyle": DASHES[number % len(DASHES)]}
                axes.plot(time, values[:, k], label=name, linewidth=max(2.2 - 0.4 * number, 1.1), **style)
            dress(axes, TIME if k > 2 else "", block.ylabel if k % 3 == 0 else "", f"{leg} {k + 1}")
        legend(part, grid[0, 0])
    return drawn


def all_legs(time: Array, blocks: tuple[tuple[Array, str, str], ...], title: str, leg: str = "leg") -> Figure:
    """One panel below the other, each with a curve for each leg: values (T, 6), label of the axis, heading."""
    drawn = figure(7.2, 0.9 + 2.3 * len(blocks))
    drawn.suptitle(title, fontsize=10, x=0.01, ha="left", color=INK)
    grid: Any = drawn.subplots(len(blocks), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (values, ylabel, heading) in zip(grid, blocks, strict=True):
        for k in range(values.shape[1]):
            axes.plot(time, values[:, k], label=f"{leg} {k + 1}", **leg_line(k))
        dress(axes, "", ylabel, heading)
    grid[-1].set_xlabel(TIME, fontsize=9)
    drawn.align_ylabels()
    legend(drawn, grid[0])
    return drawn
