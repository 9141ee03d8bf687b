"""Figures of the benchmark: growth with batch, modes and graph."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from bench.growth import Point
from polypod.results.figures.style import COLOURS, dress, figure


def growth_figure(batch: Sequence[Point], modes: Sequence[Point], compiling: Sequence[Point], robot: str) -> Figure:
    """Three curves side by side, log axes where they span decades."""
    picture = figure(10.0, 3.4)
    left, middle, right = picture.subplots(1, 3)
    # points at the ends of the axes must not be cut in half
    left.loglog([p.x for p in batch], [1e6 * p.seconds for p in batch], "o-", color=COLOURS[0], clip_on=False)
    dress(left, "states in the batch [1]", "time a state [µs]", f"checked inverse dynamics, {robot}")
    middle.plot([p.x for p in modes], [1e6 * p.seconds for p in modes], "o-", color=COLOURS[1], clip_on=False)
    middle.set_ylim(bottom=0)
    dress(middle, "elastic modes [1]", "time a state [µs]", "flexible direct dynamics, long")
    right.plot([p.x for p in compiling], [p.seconds for p in compiling], "o-", color=COLOURS[2], clip_on=False)
    right.set_ylim(bottom=0)
    dress(right, "operations [1]", "time to compile [s]", f"machine code, {robot}")
    return picture
