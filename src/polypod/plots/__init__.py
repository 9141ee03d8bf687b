"""Figures of a study. Matplotlib is imported with this package only, so the rest of polypod does without it.

Each function returns a ``matplotlib.figure.Figure``; :func:`figures` makes all that a report shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from ..study import Study
from .cover import cover
from .lines import conditioning, forces, reactions, shares, speeds
from .scene import instants, robot_picture

FIGURES = {
    "robot": (instants, "The robot at key instants, with the path of the platform's origin"),
    "forces": (forces, "Actuator forces"),
    "speeds": (speeds, "Speed and power of the actuators"),
    "shares": (shares, "What each actuator's force is for"),
    "conditioning": (conditioning, "Conditioning along the path"),
    "reactions": (reactions, "Joint reactions"),
}


def figures(study: Study) -> Iterator[tuple[str, str, Figure]]:
    """Name, caption and figure of everything worth looking at in a study, one at a time."""
    for name, (draw, caption) in FIGURES.items():
        if name != "reactions" or study.reactions:
            yield name, caption, draw(study)


__all__ = [
    "FIGURES",
    "conditioning",
    "cover",
    "figures",
    "forces",
    "instants",
    "reactions",
    "robot_picture",
    "shares",
    "speeds",
]
