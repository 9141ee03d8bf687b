"""What of a robot moves while its drives stand still, drawn: at home, and a little way in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...exchange.uncontrolled import Uncontrolled
from .style import COLOURS, FAINT, INK, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def uncontrolled(found: Uncontrolled) -> Figure:
    """One panel a motion; bodies as lines from joint to joint, what moves in colour."""
    motions: list[Any] = found.motions[:3] or [None]
    fig = figure(4.2 * len(motions), 4.2)
    for number, motion in enumerate(motions):
        axes: Any = fig.add_subplot(1, len(motions), number + 1, projection="3d")
        for name, points in found.bodies.items():
            _body(axes, points, INK if name != "base" else FAINT, 1.6)
            if motion is None or np.abs(motion[name] - points).max(initial=0.0) == 0.0:
                continue
            _body(axes, motion[name], COLOURS[0], 1.2)
            _body(axes, 2 * points - motion[name], COLOURS[0], 0.6)
        axes.set_aspect("equal")
        title = "nothing moves" if motion is None else f"moves with all drives locked ({number + 1})"
        axes.set_title(title, fontsize=9)
        axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    return fig


def _body(axes: Any, points: Any, colour: str, width: float) -> None:
    middle = points.mean(axis=0)
    for point in points:
        axes.plot(*np.array([middle, point]).T, color=colour, lw=width)
    axes.scatter(*points.T, color=colour, s=6 * width)
