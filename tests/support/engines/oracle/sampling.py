"""Random reachable states around a robot's home, and random bodies for its legs; the same for the same seed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from bench.peers.pinocchio import ImpossibleError, Oracle
from bench.peers.pinocchio.tree import Array
from polypod.description import Body


class State(NamedTuple):
    """Pose (4, 4), twist, acceleration and external wrench (6,), actuator forces (m,)."""

    pose: Array
    twist: Array
    acceleration: Array
    wrench: Array
    force: Array


def states(robot: Any, oracle: Oracle, count: int, seed: int) -> list[State]:
    """States up to half the platform's radius and half a radian from home, where J is not near singular."""
    draw = np.random.default_rng(seed)
    radius = float(np.linalg.norm([leg.platform for leg in robot.legs], axis=1).max())
    home, axes = robot.home.matrix, oracle.dof
    found: list[State] = []
    for _ in range(50 * count):
        if len(found) == count:
            return found
        shift = axes @ draw.uniform(-1.0, 1.0, axes.shape[1])
        pose = home.copy()
        pose[:3, 3] += 0.5 * radius * shift[:3]
        pose[:3, :3] = Rotation.from_rotvec(0.5 * shift[3:]).as_matrix() @ home[:3, :3]
        twist, acceleration = (axes @ (size * draw.normal(size=axes.shape[1])) for size in (1.0, 5.0))
        wrench, force = 30.0 * draw.normal(size=6), 100.0 * draw.normal(size=len(robot.legs))
        try:
            # Rounding is magnified by the condition of J; past 1e3 a comparison at 1e-10 would test luck.
            if np.linalg.cond(oracle.jacobian(pose)) < 1e3:
                found.append(State(pose, twist, acceleration, wrench, force))
        except ImpossibleError:
            continue
    raise RuntimeError(f"{robot.name}: only {len(found)} of {count} states near home are reachable")


def with_random_bodies(robot: Any, seed: int) -> Any:
    """The same geometry with bodies that hide no mistake: off-axis centres of mass, full tensors, other frames.

    Published bodies are often slender, symmetric or centred, and forgive a wrong axis or reference point.
    """
    draw = np.random.default_rng(seed)

    def body(scale: float) -> Body:
        axes = Rotation.random(rng=draw).as_matrix()
        # A cloud of points is a body that can exist, whatever its tensor; the data speak of a named point and frame.
        points, masses = draw.normal(size=(6, 3)) * 0.2, draw.uniform(0.1, 1.0, 6) * scale
        reference = draw.normal(size=3) * 0.2
        local = (points - reference) @ axes
        tensor = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, local, strict=True))
        com = masses @ points / masses.sum()
        named = {"about": "mark", "points": {"mark": tuple(reference)}, "frame": "turned", "frames": {"turned": axes}}
        return Body.model_validate(
            {"mass": masses.sum(), "com": tuple(com), "inertia": (tensor + tensor.T) / 2, **named}
        )

    legs = []
    for leg in robot.legs:
        new: dict[str, Any] = {name: body(0.5) for name, value in leg if isinstance(value, Body)}
        new |= {name: float(draw.uniform(0.1, 1.0)) for name in ("cross_inertia", "rotor_mass") if hasattr(leg, name)}
        legs.append(leg.model_copy(update=new))
    return robot.model_copy(update={"legs": tuple(legs), "platform": body(2.0)})
