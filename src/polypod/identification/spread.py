"""Moments of bodies as linear functions of fewer numbers: rods that spin freely, legs that are copies of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..mechanism import Mechanism

Array = NDArray[np.float64]
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_ALIKE = 1e-6


def column_of(mass: float, first: Array, second: Array) -> Array:
    """Ten moments (10,) from m, s (3,) and Sigma (3, 3)."""
    return np.array([mass, *first, *(second[i, j] for i, j in PAIRS)])


def parts_of(moments: Array) -> tuple[Array, Array, Array]:
    """m (...), s (..., 3) and Sigma (..., 3, 3) from ten moments (..., 10)."""
    second = np.zeros((*moments.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        second[..., i, j] = second[..., j, i] = moments[..., 4 + k]
    return moments[..., 0], moments[..., 1:4], second


def moved(turn: Array, shift: Array) -> Array:
    """A (10, 10): moments of a body after x -> R x + t, in the same frame.

    m' = m, s' = R s + m t, Sigma' = R Sigma R^T + R s t^T + t (R s)^T + m t t^T.
    """
    columns = []
    for unit in np.eye(10):
        mass, first, second = parts_of(unit)
        s = turn @ first
        across = np.outer(s, shift)
        columns.append(
            column_of(
                float(mass),
                s + mass * shift,
                turn @ second @ turn.T + across + across.T + mass * np.outer(shift, shift),
            )
        )
    return np.stack(columns, axis=1)


def rod_moments(mechanism: Mechanism) -> dict[str, Array]:
    """For every body that spins freely about the line of its two spherical joints, by path: B (10, 4).

    Its moments are B [m, s, a, b]: centre of mass s/m along the line from the first joint, second moments a along and b
    across the line, all about that joint.
    """
    found: dict[str, Array] = {}
    for number, placed in enumerate(mechanism.placed):
        for joint in placed.placement.joints:
            if joint.spins_about is None:
                continue
            leg: Any = mechanism.robot.legs[number]
            names = {j.name: j for j in leg.joints}
            for body in (joint.parent, joint.child):
                ends = [j for j in placed.placement.joints if body in (j.parent, j.child)]
                if len(ends) != 2 or any(j.spins_about is None for j in ends):
                    continue
                start, end = (np.array(names[j.name].at) for j in ends)
                line = (end - start) / np.linalg.norm(end - start)
                along = np.outer(line, line)
                local = [
                    column_of(1.0, np.zeros(3), np.zeros((3, 3))),
                    column_of(0.0, line, np.zeros((3, 3))),
                    column_of(0.0, np.zeros(3), along),
                    column_of(0.0, np.zeros(3), np.eye(3) - along),
                ]
                found[f"legs.{number}.bodies.{body}"] = moved(np.eye(3), start) @ np.stack(local, axis=1)
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
        result[number] = moved(turn, shift)
    return result


def _marks(leg: Any) -> Array:
    """Points of a leg's joints and the ends of their axes (k, 3)."""
    points = []
    for joint in leg.joints:
        at = np.array(joint.at)
        axes = joint.axes or ((joint.axis,) if joint.axis is not None else ())
        points += [at, *(at + np.array(axis) for axis in axes)]
    return np.array(points)
