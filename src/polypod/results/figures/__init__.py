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
from .animation import animate
from .bending import bending
from .cover import cover
from .force_speed import force_speed
from .forces import forces
from .foundation import foundation
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
    """A kind of figure of a result.

    Attributes
    ----------
    draw : callable
        Draws it from a result.
    caption : str
        What it shows.
    needs : str
        Variable that the result must have.
    """

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
        "The robot at home, top and side view; radii of the joint circles and height between them in mm; the "
        "round mark is the platform's centre of mass",
        "pose",
    ),
    "motion": Drawing(
        motion,
        "The motion: position, roll, pitch and yaw of the platform from home, its speeds, and the external wrench",
        "pose",
    ),
    "robot": Drawing(
        instants, "The robot at key instants of the motion, at the same scale; red: path of the platform's origin"
    ),
    "forces": Drawing(
        forces,
        "Actuator forces, positive towards increasing coordinates; identical curves are drawn as one, the one "
        "with the peak bold",
    ),
    "speeds": Drawing(
        speeds, "Speed and power of the actuators; power is positive when driving, negative when braking"
    ),
    "force-speed": Drawing(
        force_speed, "Force against speed of the actuators; grey: limits of their drives, if given in the robot file"
    ),
    "shares": Drawing(
        shares,
        "Contributions to each actuator force; they add up to the total, the broad grey band",
        "force_part",
    ),
    "travel": Drawing(
        travel,
        "Actuator positions between their stops, and other limited quantities; shaded: beyond a stop",
        "q",
    ),
    "amplification": Drawing(
        amplification,
        "Force amplification: the norm of the actuator forces for a load of 1 N on the platform in the worst "
        "direction (moments are scaled by the platform's size); it grows without bound towards a singular pose",
        "distance",
    ),
    "reactions": Drawing(
        reactions,
        "Force in every joint; for a joint with one axis, along and across it (the load of its bearing)",
        "reaction_force",
    ),
    "foundation": Drawing(
        foundation,
        "What the robot puts on its base at the base origin, base axes, and the part of it that its motion causes "
        "(shaking force and moment)",
        "base_wrench",
    ),
    "bending": Drawing(
        bending,
        "Bending of the platform: displacement of the attachment points of the legs, and of the platform's point "
        "at its origin, in platform axes",
        "deflection",
    ),
}
SIMULATION_FIGURES = {
    "tracking": Drawing(simulation.tracking, "Reference minus actual position and rotation", "error"),
    "forces": Drawing(simulation.forces, "Actuator forces and their power; vertical lines mark events"),
    "energies": Drawing(
        simulation.energies, "Stored energy, work, losses, and the energy balance error", "energy_residual"
    ),
    "bending": Drawing(simulation.bending, "Displacement of the attachment points of the legs", "deflection"),
}
WORKSPACE_FIGURES = {
    "sections": Drawing(
        _of_workspace("sections"),
        "Sections of the workspace through the start point. The colour shows the nearest limit, darker where "
        "less margin is left; numbers are shares of the boundary; dashed: det J = 0",
        "margin",
    ),
    "surface": Drawing(
        _of_workspace("surface"),
        "Travel from the start point in every direction, coloured by the limiting constraint",
        "surface",
    ),
    "tilt": Drawing(_of_workspace("tilt"), "Largest tilt at each height, by direction", "tilt"),
    "dexterity": Drawing(
        _of_workspace("dexterity"),
        "Share of the orientations of the grid that are possible at each position",
        "orientation_share",
    ),
}


def figures(result: xr.Dataset, registry: Mapping[str, Drawing] = FIGURES) -> Iterator[tuple[str, str, Figure]]:
    """All figures that a result has, one at a time.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.
    registry : mapping of str to Drawing, optional
        Figures to draw. Default: all.

    Yields
    ------
    name : str
        Name of the figure.
    caption : str
        What it shows.
    figure : Figure
        The figure.
    """
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
    "animate",
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


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
