"""Staicu et al., Figs. 3-5 again."""

from __future__ import annotations

from functools import partial

from matplotlib.figure import Figure

from ...results.figures.style import COLOURS, DASHES, INK, TIME, dress, figure, legend
from ..shared.contract import Drawing
from . import cases
from . import printed as eq

SLIPS = ("(13) line 1", "(13) line 3")


def force(leg: int) -> Figure:
    """Force of one actuator: exact, and by the equations with (13) as printed."""
    name = "ABC"[leg]
    curves = {
        "exact; equations corrected": cases.exact()[:, leg],
        "(13) as printed": eq.forces(cases.parameters(), cases.path(), frozenset(SLIPS))[:, leg],
    }
    drawn = figure(7.2, 3.4)
    axes = drawn.subplots()
    for number, (label, values) in enumerate(curves.items()):
        style = {"color": COLOURS[number], "linestyle": DASHES[number], "linewidth": 1.6}
        axes.plot(cases.times(), values, label=label, **style)
    axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(axes, TIME, "force [N]", f"Force of actuator {name} on one second of (5)")
    legend(drawn, axes)
    return drawn


ALL = (
    Drawing("fig-03", "Fig. 3: force of actuator A.", partial(force, 0)),
    Drawing("fig-04", "Fig. 4: force of actuator B.", partial(force, 1)),
    Drawing("fig-05", "Fig. 5: force of actuator C.", partial(force, 2)),
)
