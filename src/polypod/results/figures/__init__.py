"""Figures of results. Matplotlib is imported with this package only, so the rest of polypod does without it.

Each figure is a function of a result, in a file of its own, that returns a ``matplotlib.figure.Figure``, and a line in
:data:`FIGURES` (studies) or :data:`SIMULATION_FIGURES`; :func:`figures` draws all that a result has the data for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import xarray as xr
from matplotlib.figure import Figure

from . import simulation, workspace
from .bending import bending
from .conditioning import conditioning
from .cover import cover
from .force_speed import force_speed
from .forces import forces
from .instants import instants, key_instants
from .literal import literally
from .modes import modes_picture
from .reactions import reactions
from .scene import robot_picture
from .shares import shares
from .speeds import speeds


class Drawing(NamedTuple):
    """How a figure is drawn, what it shows, and the variable that a result must have for it."""

    draw: Callable[[xr.Dataset], Figure]
    caption: str
    needs: str = "force"


FIGURES = {
    "robot": Drawing(
        instants, "The robot at key instants of the motion, in one scale; red: path of the platform's origin"
    ),
    "forces": Drawing(forces, "Actuator forces, positive where they push towards growing coordinates"),
    "speeds": Drawing(
        speeds, "Speed and power of the actuators; power is positive where they drive, negative where they brake"
    ),
    "force-speed": Drawing(
        force_speed, "Force against speed of the actuators; grey: what their drives can give, if the robot file says so"
    ),
    "shares": Drawing(
        shares,
        "What each actuator's force is for; all parts add up to the total, the broad grey band",
        "force_part",
    ),
    "conditioning": Drawing(
        conditioning,
        "Condition number of the scaled Jacobian and distance to singularity, its smallest singular value, 0 where the "
        "robot is singular; if limits are given, the place of each limited quantity in its range, the grey band, with "
        "several kinds of limits from the lowest to the highest leg of each; legs that leave the range are named",
        "condition",
    ),
    "reactions": Drawing(
        reactions,
        "Size of the force and of the moment in every joint; a moment of dry friction has a gap where it changes sign "
        "or the joint rests",
        "reaction_force",
    ),
    "bending": Drawing(
        bending,
        "How the platform bends: displacement of the points where the legs are attached, and of the platform's own "
        "point at its origin, in platform axes",
        "deflection",
    ),
}
SIMULATION_FIGURES = {
    "tracking": Drawing(simulation.tracking, "Wanted less actual position and rotation", "error"),
    "forces": Drawing(simulation.forces, "Actuator forces and their power; upright lines mark events"),
    "energies": Drawing(
        simulation.energies, "Energy stored, work done and lost, and what does not add up", "energy_residual"
    ),
    "bending": Drawing(simulation.bending, "Displacement of the points where the legs are attached", "deflection"),
}
WORKSPACE_FIGURES = {
    "sections": Drawing(
        workspace.sections,
        "Sections of the workspace through the point asked for. The colour is the limit that is nearest, deeper where "
        "less is left of it; numbers are parts of the surface at which it binds; dashed: det J = 0",
        "margin",
    ),
    "surface": Drawing(
        workspace.surface,
        "How far one goes straight from the point asked for in every direction, coloured by the limit that stops it",
        "surface",
    ),
    "tilt": Drawing(workspace.tilt, "How far the platform tilts at each height, by direction", "tilt"),
    "dexterity": Drawing(
        workspace.dexterity,
        "Part of the orientations of the grid that are possible at each position",
        "orientation_share",
    ),
}


def figures(result: xr.Dataset, registry: Mapping[str, Drawing] = FIGURES) -> Iterator[tuple[str, str, Figure]]:
    """Name, caption and figure of everything worth looking at in a result, one at a time."""
    for name, drawing in registry.items():
        if drawing.needs in result:
            yield name, drawing.caption, literally(drawing.draw, result)


__all__ = [
    "FIGURES",
    "SIMULATION_FIGURES",
    "WORKSPACE_FIGURES",
    "Drawing",
    "bending",
    "conditioning",
    "cover",
    "figures",
    "force_speed",
    "forces",
    "instants",
    "key_instants",
    "literally",
    "modes_picture",
    "reactions",
    "robot_picture",
    "shares",
    "speeds",
]
