"""Lopes, Figs. 4 and 5 again."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..shared.contract import Drawing
from ..shared.panels import Block, all_legs, leg_panels
from . import cases


def trajectories() -> Figure:
    """Lengths of the actuators along the path, Fig. 4."""
    _, pose, _, _ = at = cases.motion()
    blocks = ((cases.model().inverse_kinematics(pose), "length $l_i$ [m]", ""),)
    return all_legs(at.time, blocks, "Actuators' trajectories, P1 to P2 and back, 1 s each way", "actuator")


def forces() -> Figure:
    """Complete and simplified model, and their difference."""
    complete, simplified = cases.exact(), cases.exact(simplify="point-mass-links")
    blocks = (
        Block({"complete": complete, "simplified": simplified}, "force [N]"),
        Block({"simplified less complete": simplified - complete}, "difference [N]", "simplified less complete"),
    )
    title = "Actuators' forces, P1 to P2 and back, 1 s each way"
    return leg_panels(cases.motion().time, blocks, title, "actuator")


ALL = (
    Drawing("fig-04", "Fig. 4: trajectories of the actuators.", trajectories),
    Drawing("fig-05", "Fig. 5: forces of the actuators, complete and simplified model, and the difference.", forces),
)
