"""Figures of results. Matplotlib is imported when a figure is made, so the rest of polypod does without it.

Each figure is a function of a result, in a file of its own, that returns a ``matplotlib.figure.Figure``, and a line in
``FIGURES`` (studies), ``SIMULATION_FIGURES`` or ``WORKSPACE_FIGURES``; ``figures`` draws all that a
result has the data for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import simulation
from .bending import bending
from .cover import cover
from .force_speed import force_speed
from .forces import forces
from .geometry import dimensions, geometry
from .instants import instants, key_instants
from .light import without_mathtext
from .modes import modes_picture
from .motion import motion
from .reactions import reactions
from .scene import robot_picture
from .shares import shares
from .speeds import speeds
from .travel import amplification, travel

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class Drawing(NamedTuple):
    """How a figure is drawn, what it shows, and the variable that a result must have for it."""

    draw: Callable[[xr.Dataset], Figure]
    caption: str
    needs: str = "force"


def _of_workspace(name: str) -> Callable[[xr.Dataset], Figure]:
    """A figure of a workspace, whose module brings Matplotlib, when it is drawn."""

    def draw(result: xr.Dataset) -> Figure:
        from . import workspace

        fig: Figure = getattr(workspace, name)(result)
        return fig

    return draw


FIGURES = {
    "geometry": Drawing(
        geometry,
        "The robot at home, in plan and from the side; radii of the joints' circles and height between them in mm; the "
        "round mark is the platform's centre of mass",
        "pose",
    ),
    "motion": Drawing(
        motion,
        "The motion: position, roll, pitch and yaw of the platform from home, its speeds, and what pushes it",
        "pose",
    ),
    "robot": Drawing(
        instants, "The robot at key instants of the motion, in one scale; red: path of the platform's origin"
    ),
    "forces": Drawing(
        forces,
        "Actuator forces, positive where they push towards growing coordinates; equal curves are drawn as one, the one "
        "with the peak bold",
    ),
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
    "travel": Drawing(
        travel,
        "Where each actuator is between its stops, and what else is limited; shaded: beyond a stop",
        "q",
    ),
    "amplification": Drawing(
        amplification,
        "Force amplification: the norm of the actuator forces that a load of 1 N on the platform needs in its worst "
        "direction (a moment counts by its size over the platform's); it grows without bound towards a singular pose",
        "distance",
    ),
    "reactions": Drawing(
        reactions,
        "Force in every joint; of a joint with one axis along it and across it, which its bearing carries",
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
        _of_workspace("sections"),
        "Sections of the workspace through the point asked for. The colour is the limit that is nearest, deeper where "
        "less is left of it; numbers are parts of the surface at which it binds; dashed: det J = 0",
        "margin",
    ),
    "surface": Drawing(
        _of_workspace("surface"),
        "How far one goes straight from the point asked for in every direction, coloured by the limit that stops it",
        "surface",
    ),
    "tilt": Drawing(_of_workspace("tilt"), "How far the platform tilts at each height, by direction", "tilt"),
    "dexterity": Drawing(
        _of_workspace("dexterity"),
        "Part of the orientations of the grid that are possible at each position",
        "orientation_share",
    ),
}


def figures(result: xr.Dataset, registry: Mapping[str, Drawing] = FIGURES) -> Iterator[tuple[str, str, Figure]]:
    """Name, caption and figure of everything worth looking at in a result, one at a time."""
    for name, drawing in registry.items():
        if drawing.needs in result and _known(result[drawing.needs].values):
            yield name, drawing.caption, without_mathtext(drawing.draw, result)


def _known(values: Any) -> bool:
    """Whether there is anything to draw: inner stresses may leave every reaction of a robot open."""
    return values.dtype.kind != "f" or bool(np.isfinite(values).any())


__all__ = [
    "FIGURES",
    "SIMULATION_FIGURES",
    "WORKSPACE_FIGURES",
    "Drawing",
    "amplification",
    "bending",
    "cover",
    "dimensions",
    "figures",
    "force_speed",
    "forces",
    "geometry",
    "instants",
    "key_instants",
    "modes_picture",
    "motion",
    "reactions",
    "robot_picture",
    "shares",
    "speeds",
    "travel",
    "without_mathtext",
]
