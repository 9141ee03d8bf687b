"""What a page may show beside the robot: its assembly modes, and how far the platform goes straight from home."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import InputError, UnknownNameError
from ..model import AssemblyModes, Model, Reachability


def modes(model: Model) -> list[dict[str, Any]]:
    """Poses (16) with the actuated coordinates of home in the robot's own working mode, and what is known of each."""
    found = model.assembly_modes(model.inverse_kinematics(model.robot.home.matrix))
    return [
        {"pose": found.pose[k].ravel().tolist(), "text": ", ".join(mode_labels(found, k)[1:])}
        for k in np.flatnonzero(found.own_branch).tolist()
    ]


def mode_labels(modes: AssemblyModes, k: int) -> list[str]:
    """What is known of assembly mode k, in words: proof, limits, whether it is reachable from home."""
    reach = {
        Reachability.YES: "reachable",
        Reachability.NO: "beyond a singularity",
        Reachability.UNKNOWN: "reachable: unknown",
    }
    if not modes.own_branch[k]:
        limits = "another working mode"
    else:
        limits = "within limits" if modes.within_limits[k] else "outside limits"
    return ["proven" if modes.certified[k] else "not proven", limits, reach[Reachability(modes.reachable[k])]]


def workspace(model: Model) -> list[Any]:
    """Points (rings, around, 3) [m] of the platform's origin where straight ways from home leave the workspace.

    A robot of fewer than three displacements has no such surface, and it is said.
    """
    from ..analysis.workspace import straight_reach
    from ..analysis.workspace.pose_coordinates import PoseCoordinates

    space = PoseCoordinates(model)
    if np.count_nonzero(~space.turns) < 3:
        raise InputError(
            f"show: {model.robot.name!r} moves along fewer than three axes and has no workspace surface; leave "
            "'workspace' out ('polypod workspace' draws maps of it)"
        )
    found = straight_reach(model, directions=36)
    surface = found.surface.values
    x = np.zeros((surface.shape[0] * surface.shape[1], len(space.names)))
    x[:, [space.index(str(name)) for name in found.coordinate.values]] = surface.reshape(-1, 3)
    points = space.poses(x)[:, :3, 3].reshape(surface.shape)
    return np.where(np.isfinite(points), points, model.robot.home.position).tolist()


EXTRAS: dict[str, Callable[[Model], list[Any]]] = {"modes": modes, "workspace": workspace}


def extras(model: Model, names: Iterable[str]) -> dict[str, list[Any]]:
    """Those of ``EXTRAS`` that are named."""
    wanted = list(names)
    for name in wanted:
        if name not in EXTRAS:
            raise UnknownNameError("thing to show", name, list(EXTRAS))
    return {name: EXTRAS[name](model) for name in wanted}
