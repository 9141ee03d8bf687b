"""Uncontrolled motions of a robot: what moves while its actuators stand still.

They are found for a file that is no valid robot too, as they show what is wrong with it. With the actuated coordinates
held the constraints of all joints on the twists v of all bodies are A v = 0; uncontrolled motions are the null space of
A. A rod that only spins about itself (an idle degree of freedom) moves no joint and is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
from pydantic import ValidationError

from ..arrays import Array
from ..description import Body
from ..description.leg import parse_leg
from ..errors import InputError
from ..files.robot_files import expanded_document
from ..legs import Chain
from ..legs.chain import ChainJoint
from .closing import LoopSolver
from .linkage import BASE, EMPTY_BODY, PLATFORM, Linkage, chain_parts

_STILL = 1e-7
"""Rates over the largest up to which a joint stands still, and equations follow from others."""


class Uncontrolled(NamedTuple):
    """Each body as the points (k, 3) [m] of its joints at home, and for each motion where these points go."""

    bodies: dict[str, Array]
    motions: list[dict[str, Array]]


def uncontrolled_motions(file: str | Path, part: float = 0.08) -> Uncontrolled:
    """Uncontrolled motions of a robot file with chain legs; the fastest point moves by ``part`` of the robot's size."""
    linkage = _drawn(file)
    solver = LoopSolver(linkage)
    jacobian, _ = solver.constraints(solver.still, {joint.name: 0.0 for joint in linkage.joints if joint.actuated})
    free = scipy.linalg.null_space(jacobian, rcond=_STILL)
    places = {name: np.array([j.at for j in linkage.joints if name in j.between]) for name in linkage.bodies}
    speeds = {name: _speeds(solver, name, points) for name, points in places.items()}
    every = np.concatenate(list(speeds.values()))
    _, sizes, mixed = np.linalg.svd(every @ free, full_matrices=False)
    motions = []
    for motion in (free @ mixed.T).T[: int((sizes > _STILL * solver.size).sum())]:
        fastest = np.linalg.norm((every @ motion).reshape(-1, 3), axis=1).max()
        way = part * solver.size / fastest * motion
        # to first order, so that points which a joint holds together stay together
        motions.append({name: points + (speeds[name] @ way).reshape(-1, 3) for name, points in places.items()})
    return Uncontrolled(places, motions)


def _speeds(solver: LoopSolver, name: str, points: Array) -> Array:
    """Jacobian (3 k, 6 b) of the velocities of a body's points by the twists of all bodies, linear parts over the size.

    It is zero for points of the base.
    """
    found = np.zeros((len(points), 3, 6 * len(solver.index)))
    k = 6 * solver.index.get(name, 0)
    for row, (x, y, z) in zip(found, points if name != BASE else (), strict=False):
        row[:, k : k + 3] = solver.size * np.eye(3)
        row[:, k + 3 : k + 6] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return found.reshape(-1, found.shape[2])


def _drawn(file: str | Path) -> Linkage:
    """Bodies and joints of a file as it draws them."""
    bodies: dict[str, Body] = {}
    joints: list[ChainJoint] = []
    legs = expanded_document(file).get("legs")
    if not isinstance(legs, list) or not legs:
        raise InputError("draw: the file has no list of legs; add it first")
    for number, data in enumerate(legs):
        try:
            leg = parse_leg(data)
        except (ValidationError, ValueError) as error:
            raise InputError(f"draw: leg {number + 1} itself has an error; fix it first") from error
        if not isinstance(leg, Chain):
            raise InputError(f"draw: leg {number + 1} is of kind {leg.kind}; only legs of kind chain are drawn")
        own, held = chain_parts(leg.model_copy(update={"name": leg.name or f"leg{number + 1}"}))
        bodies |= own
        joints += held
    names = dict.fromkeys(name for joint in joints for name in joint.between)
    ends = {name: EMPTY_BODY for name in (BASE, PLATFORM) if name in names}
    return Linkage(Path(file).stem, {**ends, **bodies}, tuple(joints))
