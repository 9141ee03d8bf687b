"""Moments of bodies as linear functions of fewer numbers: rods that spin freely, legs that are copies of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..errors import InputError
from ..mechanism import Mechanism
from ..parameters.paths import value_at
from ..symbols.inertia import SECOND_MOMENTS

_ALIKE = 1e-6


def ten_moments(mass: float, first: Array, second: Array) -> Array:
    """Ten moments (10,) from m, s (3,) and Sigma (3, 3)."""
    return np.array([mass, *first, *(second[i, j] for i, j in SECOND_MOMENTS)])


def parts_of(moments: Array) -> tuple[Array, Array, Array]:
    """m (...), s (..., 3) and Sigma (..., 3, 3) from ten moments (..., 10)."""
    second = np.zeros((*moments.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(SECOND_MOMENTS):
        second[..., i, j] = second[..., j, i] = moments[..., 4 + k]
    return moments[..., 0], moments[..., 1:4], second


def moment_transform(turn: Array, shift: Array) -> Array:
    """A (10, 10): moments of a body after x -> R x + t, in the same frame.

    m' = m, s' = R s + m t, Sigma' = R Sigma R^T + R s t^T + t (R s)^T + m t t^T.
    """
    columns = []
    for unit in np.eye(10):
        mass, first, second = parts_of(unit)
        s = turn @ first
        across = np.outer(s, shift)
        columns.append(
            ten_moments(
                float(mass),
                s + mass * shift,
                turn @ second @ turn.T + across + across.T + mass * np.outer(shift, shift),
            )
        )
    return np.stack(columns, axis=1)


def spinning_bodies(mechanism: Mechanism) -> dict[str, tuple[int, str, str]]:
    """Bodies that spin freely about the line of two spherical joints: leg and names of the joints, by path."""
    found: dict[str, tuple[int, str, str]] = {}
    for number, placed in enumerate(mechanism.placed):
        leg: Any = mechanism.robot.legs[number]
        for joint in placed.placement.joints:
            if joint.spins_about is None:
                continue
            for body in leg.bodies.keys() & {joint.parent, joint.child}:
                ends = [j for j in placed.placement.joints if body in (j.parent, j.child)]
                if len(ends) == 2 and all(j.spins_about is not None for j in ends):
                    found[f"legs.{number}.bodies.{body}"] = number, ends[0].name, ends[1].name
    return found


def _ends(robot: Any, number: int, *names: str) -> list[Array]:
    """Where joints of a leg are (3,) each."""
    at = {j.name: np.array(j.at) for j in robot.legs[number].joints}
    return [at[name] for name in names]


def rod_moments(mechanism: Mechanism) -> dict[str, Array]:
    """For every body that spins freely about the line of its two spherical joints, by path: B (10, 4).

    Its moments are B [m, s, a, b]: centre of mass s/m along the line from the first joint, second moments a along and b
    across the line, all about that joint.
    """
    found: dict[str, Array] = {}
    for path, place in spinning_bodies(mechanism).items():
        start, end = _ends(mechanism.robot, *place)
        line = (end - start) / np.linalg.norm(end - start)
        along = np.outer(line, line)
        local = [
            ten_moments(1.0, np.zeros(3), np.zeros((3, 3))),
            ten_moments(0.0, line, np.zeros((3, 3))),
            ten_moments(0.0, np.zeros(3), along),
            ten_moments(0.0, np.zeros(3), np.eye(3) - along),
        ]
        found[path] = moment_transform(np.eye(3), start) @ np.stack(local, axis=1)
    return found


def moments_between_moved_joints(mechanism: Mechanism, joints: dict[str, Array]) -> dict[str, Array]:
    """Moments (10,) by path of bodies that spin between joints which have moved: they stay on the line of these.

    ``joints`` are the new places by path, ``legs.0.joints.2.at``. A body turns with the line between its joints, and
    its centre of mass stays at the same part of it.
    """
    robot: Any = mechanism.robot
    found = {}
    for path, (number, *names) in spinning_bodies(mechanism).items():
        order = [j.name for j in robot.legs[number].joints]
        old = _ends(robot, number, *names)
        new = [joints.get(f"legs.{number}.joints.{order.index(n)}.at", o) for n, o in zip(names, old, strict=True)]
        if all(np.array_equal(a, b) for a, b in zip(old, new, strict=True)):
            continue
        body: Any = value_at(robot, path)
        com = np.array(body.com)
        before, after = old[1] - old[0], new[1] - new[0]
        part = float((com - old[0]) @ before / (before @ before))
        turn = Rotation.align_vectors(after[None], before[None])[0].as_matrix()
        moments = ten_moments(body.mass, body.mass * com, np.array(body.second_moment))
        found[path] = moment_transform(turn, new[0] + part * after - turn @ (old[0] + part * before)) @ moments
    return found


def turned_moments(robot: Any) -> dict[int, Array] | None:
    """Moments of a body of each leg from those of the first leg's (10, 10); None if frames turn with the legs.

    Legs that are drawn at home (``chain``) are turned into each other by their joints.
    """
    legs = robot.legs
    kinds = {leg.kind for leg in legs}
    if len(kinds) > 1:
        raise InputError(f"same_legs: the legs of {robot.name!r} are of kinds {', '.join(sorted(kinds))}")
    if not hasattr(legs[0], "joints"):
        return None
    first = _marks(legs[0])
    result = {}
    for number, leg in enumerate(legs[1:], 1):
        own = _marks(leg)
        if own.shape != first.shape:
            raise InputError(f"same_legs: {leg.name} has other joints than {legs[0].name}")
        a, b = first - first.mean(axis=0), own - own.mean(axis=0)
        left, _, right = np.linalg.svd(b.T @ a)
        turn = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
        shift = own.mean(axis=0) - turn @ first.mean(axis=0)
        off = float(np.abs(first @ turn.T + shift - own).max())
        if off > _ALIKE * float(np.abs(own).max()):
            raise InputError(
                f"same_legs: {leg.name} is no copy of {legs[0].name}, its joints are up to {off:.3g} m off; "
                "identify the legs one by one"
            )
        result[number] = moment_transform(turn, shift)
    return result


def _marks(leg: Any) -> Array:
    """Points of a leg's joints and the ends of their axes (k, 3)."""
    points = []
    for joint in leg.joints:
        at = np.array(joint.at)
        axes = joint.axes or ((joint.axis,) if joint.axis is not None else ())
        points += [at, *(at + np.array(axis) for axis in axes)]
    return np.array(points)
