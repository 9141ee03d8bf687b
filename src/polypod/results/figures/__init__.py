"""Figures of a study. Matplotlib is imported with this package only, so the rest of polypod does without it.

Each function returns a ``matplotlib.figure.Figure``; :func:`figures` makes all that a report shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from ..study import Study
from .bending import bending
from .cover import cover
from .instants import instants, key_instants
from .lines import conditioning, forces, reactions, shares, speeds
from .scene import robot_picture

FIGURES = {
    "robot": (instants, "The robot at key instants of the motion, in one scale; red: path of the platform's origin"),
    "forces": (forces, "Actuator forces, positive where they push towards growing coordinates"),
    "speeds": (
        speeds,
        "Speed and power of the actuators; power is positive where they drive, negative where they brake",
    ),
    "shares": (shares, "What each actuator's force is for; all parts add up to the total, the broad grey band"),
    "conditioning": (
        conditioning,
        "Condition number of the scaled Jacobian and distance to singularity, its smallest singular value, 0 where the "
        "robot is singular; if limits are given, the place of each limited quantity in its range, the grey band, with "
        "several kinds of limits from the lowest to the highest leg of each; legs that leave the range are named",
    ),
    "reactions": (
        reactions,
        "Size of the force and of the moment in every joint; a moment of dry friction has a gap where it changes sign "
        "or the joint rests",
    ),
    "bending": (
        bending,
        "How the platform bends: displacement of the points where the legs are attached, and of the platform's own "
        "point at its origin, in platform axes",
    ),
}


def figures(study: Study) -> Iterator[tuple[str, str, Figure]]:
    """Name, caption and figure of everything worth looking at in a study, one at a time."""
    for name, (draw, caption) in FIGURES.items():
        missing = {"reactions": not study.reactions, "bending": study.bending is None}
        if not missing.get(name):
            yield name, caption, draw(study)


__all__ = [
    "FIGURES",
    "bending",
    "conditioning",
    "cover",
    "figures",
    "forces",
    "instants",
    "key_instants",
    "reactions",
    "robot_picture",
    "shares",
    "speeds",
]
