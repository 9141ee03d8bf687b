"""How a platform can move at home by its legs' joints alone, whatever their ``place`` says of the motions stated."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import scipy

from ..arrays import Array
from ..description import Robot
from ..legs import Joint
from ..symbols.vectors import Frame

_SMALL = 1e-9
"""Relative size of a singular value that is rounding, lengths over the robot's size."""


def free_platform_motions(robot: Robot) -> Array:
    """Twists (6, m) of the platform at home that its legs' joints leave it, drives free; about the home position.

    Joint j lets its bodies' twists differ by its own motions only: N_j (V_child - V_parent) = 0 with N_j perpendicular
    to them. Motions of the platform are those of the null space of all rows.
    """
    parts: list[tuple[Array, list[Any]]] = []
    for number, leg in enumerate(robot.legs):
        for joint, numbers in _at_home(leg, robot):
            ends = [name if name in ("base", "platform") else (number, name) for name in (joint.parent, joint.child)]
            point = (numbers[:, -1] - np.array(robot.home.position)) / robot.platform_size
            held = scipy.linalg.null_space(_motions(joint.kind, numbers[:, :-1]), rcond=_SMALL).T
            there = np.eye(6)  # the twist at the joint's point: v + w x p
            there[:3, 3:] = [[0, point[2], -point[1]], [-point[2], 0, point[0]], [point[1], -point[0], 0]]
            parts.append((held @ there, ends))
    bodies = list(dict.fromkeys(["base", "platform", *(end for _, ends in parts for end in ends)]))
    held_by = []
    for part, ends in parts:
        rows = np.zeros((len(part), len(bodies), 6))
        rows[:, bodies.index(ends[0])] -= part
        rows[:, bodies.index(ends[1])] += part
        held_by.append(rows[:, 1:].reshape(len(part), -1))  # the base stands still
    free = scipy.linalg.orth(scipy.linalg.null_space(np.concatenate(held_by), rcond=_SMALL)[:6], rcond=_SMALL)
    return np.asarray(free * np.r_[np.full(3, robot.platform_size), np.ones(3)][:, None])


def _at_home(leg: Any, robot: Robot) -> list[tuple[Joint, Array]]:
    """The leg's joints with their axes and point as columns (3, k + 1), in base axes."""
    axes = np.array(robot.home.rotation, dtype=float)
    arm = axes @ np.array(leg.attachment(robot.home.position, robot.home.rotation), dtype=float)
    tip = Frame(ca.SX(ca.DM(np.array(robot.home.position) + arm)), ca.SX(ca.DM(axes)))
    placement = leg.place(tip)
    found = ca.horzcat(*[ca.horzcat(*joint.axes, joint.point) for joint in placement.joints])
    u = placement.unknowns
    if u is not None:
        found = ca.substitute(found, ca.vertcat(u.place, u.move), ca.vertcat(u.home, ca.SX.zeros(u.move.numel())))
    numbers = np.array(ca.evalf(ca.densify(found)))
    ends = np.cumsum([len(joint.axes) + 1 for joint in placement.joints])
    return list(zip(placement.joints, np.split(numbers, ends[:-1], axis=1), strict=True))


def _motions(kind: str, axes: Array) -> Array:
    """Relative twists (k, 6) at its point that a joint leaves its bodies."""
    still = np.zeros_like(axes)
    slides, turns = np.concatenate([axes, still]).T, np.concatenate([still, axes]).T
    if kind == "spherical":
        return np.eye(6)[3:]
    if kind == "cylindrical":
        return np.concatenate([slides, turns])
    return slides if kind == "prismatic" else turns
