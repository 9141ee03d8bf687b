"""Kim and Ryu, Figs. 7-11 again."""

from __future__ import annotations

from functools import partial

from matplotlib.figure import Figure

from ..shared.contract import Drawing
from ..shared.panels import all_legs
from . import cases
from .data import KINDS


def slender_link(rpm: int) -> Figure:
    """Actuator forces by the exact model and what the slender link leaves out."""
    what = f"circle at {rpm} rpm" if rpm else "motion (33)"
    micro = 1e6 * (cases.paper(rpm) - cases.exact(rpm))
    milli = 1e3 * (cases.paper(rpm, "rail") - cases.exact(rpm, "rail"))
    blocks = (
        (cases.exact(rpm), "force [N]", "(a) exact model (the slender-link model's curves lie on these)"),
        (micro, "difference [µN]", "(b) slender link, (21)-(29) corrected, less exact; alpha horizontal"),
        (milli, "difference [mN]", "(c) the same with alpha along the rail"),
    )
    return all_legs(cases.motion(rpm).time, blocks, f"Actuator forces, {what}, no friction")


def link_inertia(rpm: int) -> Figure:
    """Total actuator forces and the share of link inertia."""
    blocks = (
        (cases.exact(rpm), "force [N]", "(a) total"),
        (cases.link_inertia(rpm), "force [N]", "(b) link inertia"),
    )
    return all_legs(cases.motion(rpm).time, blocks, f"Actuator forces, circle at {rpm} rpm, no friction")


def friction() -> Figure:
    """What friction in each kind of joint adds."""
    heads = {"slider": "(a) sliders", "universal": "(b) universal joints", "spherical": "(c) spherical joints"}
    blocks = tuple((cases.friction_force(20, kind), "force [N]", heads[kind]) for kind in KINDS)
    return all_legs(cases.motion(20).time, blocks, "Additional actuator forces due to friction, circle at 20 rpm")


ALL = (
    Drawing(
        "fig-07", "Fig. 7: circle at 40 rpm, exact forces and the slender link's error.", partial(slender_link, 40)
    ),
    Drawing("fig-08", "Fig. 8: the motion (33), exact forces and the slender link's error.", partial(slender_link, 0)),
    Drawing("fig-09", "Fig. 9: total and link inertia forces at 20 rpm.", partial(link_inertia, 20)),
    Drawing("fig-10", "Fig. 10: total and link inertia forces at 60 rpm.", partial(link_inertia, 60)),
    Drawing(
        "fig-11",
        "Fig. 11: friction in sliders, universal joints and spherical joints, each alone, at 20 rpm.",
        friction,
    ),
)
