"""A chain as a strut: what holds the platform while the actuator stands still.

Either the actuator is on the base and carries the joint of a rod (RUS, PUS, the rods of a Delta, RRR in a plane), or it
lengthens the rod itself (UPS, RPS). A platform hinged to the actuator's own arm has a strut of no length. The bars of a
parallelogram count as one in their middle, two hinges that cross as a universal joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ..contract import Strut
from .data import ChainJoint
from .patterns import Bar, hinged_bars
from .plan import Plan

_BALLS = ("spherical", "universal")
_CROSSED = 1e-9
"""Distance of two hinges as a part of theirs from the origin, and how far from 1 their directions' cosine is."""


def strut_of(joints: Sequence[ChainJoint], plan: Plan, home: tuple[Any, Any], q: Array) -> Strut | None:
    """The strut of a chain at actuated coordinates q (...,), of a robot with this home position and rotation."""
    joints = _with_crosses(_with_single_bars(joints, plan), plan)
    drives = [joint for joint in joints if joint.actuated]
    if len(drives) != 1 or drives[0].kind not in ("revolute", "prismatic"):
        return None
    drive = drives[0]
    ends = [_ends(joint, plan) for joint in joints]
    own = ends[joints.index(drive)]
    moved = (q - drive.offset) / drive.ratio
    position, rotation = (np.array(part, dtype=float) for part in home)
    if "base" in own:
        arm = own[1] if own[0] == "base" else own[0]
        reach = _Displacement(drive, moved if own[0] == "base" else -moved)
        near, far = _rod(joints, ends, arm)
        if near is None or far is None:
            return None
        point, tip = reach.point(np.array(near.at)), np.array(far.at)
        span = tip - np.array(near.at)
        axis = None if near.kind in _BALLS else reach.direction(np.array(near.axis))
    else:
        near, far = (_joint_of(joints, ends, body, drive) for body in ("base", "platform"))
        if near is None or far is None or drive.kind != "prismatic" or {*own} != _between(ends, joints, near, far):
            return None
        outward = moved if own[0] in ends[joints.index(near)] else -moved
        tip = np.array(far.at)
        span = tip - np.array(near.at) + outward[..., None] * np.array(drive.axis)
        point = np.broadcast_to(np.array(near.at), (*q.shape, 3))
        axis = None if near.kind in _BALLS else np.broadcast_to(np.array(near.axis), (*q.shape, 3))
    if far.kind not in (*_BALLS, "revolute") or near.kind not in (*_BALLS, "revolute"):
        return None
    start = point
    if axis is not None:
        along = (span * axis).sum(axis=-1, keepdims=True) * axis
        point, span = point + along, span - along
    length = np.broadcast_to(np.linalg.norm(span, axis=-1), q.shape)
    strut = Strut(point, length, rotation.T @ (tip - position), axis, far.kind in _BALLS)
    if axis is None or strut.ball:
        return strut
    cosine = float(np.array(near.axis) @ np.array(far.axis))
    return strut._replace(hinge=rotation.T @ np.array(far.axis), cosine=cosine, start=start)


def _ends(joint: ChainJoint, plan: Plan) -> tuple[str, str]:
    """The rigid groups that a joint joins."""
    first, second = joint.between
    return plan.group[first], plan.group[second]


def _with_single_bars(joints: Sequence[ChainJoint], plan: Plan) -> list[ChainJoint]:
    """The joints, those of two bars that stay parallel as those of one in their middle."""
    kept = dict(enumerate(joints))
    bars: dict[frozenset[str], list[Bar]] = {}
    for bar in hinged_bars(joints, plan):
        if not any(joints[k].actuated for k in bar.hinges):
            bars.setdefault(frozenset(bar.ends), []).append(bar)
    for one, other in (pair for pair in bars.values() if len(pair) == 2):
        beside = other.hinges if one.ends == other.ends else other.hinges[::-1]
        pairs = [(joints[k], joints[opposite]) for k, opposite in zip(one.hinges, beside, strict=True)]
        if not _alike(*pairs):
            continue
        for (hinge, opposite), number, dropped in zip(pairs, one.hinges, beside, strict=True):
            middle = tuple((np.array(hinge.at) + np.array(opposite.at)) / 2)
            kept[number] = hinge.model_copy(update={"at": middle})
            del kept[dropped]
    return list(kept.values())


def _alike(near: tuple[ChainJoint, ChainJoint], far: tuple[ChainJoint, ChainJoint]) -> bool:
    """Whether the two bars between near and far hinges are equal, and all four hinges parallel."""
    first, second = (np.array(end.at) - np.array(start.at) for start, end in zip(near, far, strict=True))
    axes = np.array([joint.axis for joint in (*near, *far)])
    parallel = np.abs(np.cross(axes[0], axes)).max() < _CROSSED
    return bool(parallel and np.abs(first - second).max() < _CROSSED * np.linalg.norm(first))


def _with_crosses(joints: Sequence[ChainJoint], plan: Plan) -> list[ChainJoint]:
    """The joints, two passive hinges that cross in the one body between them as the universal joint that they are."""
    result = list(joints)
    for body in {*plan.group.values()} - {"base", "platform"}:
        own = [joint for joint in result if body in _ends(joint, plan)]
        if len(own) != 2 or any(joint.kind != "revolute" or joint.actuated for joint in own):
            continue
        one, other = own
        apart = np.linalg.norm(np.array(one.at) - np.array(other.at))
        if apart <= _CROSSED * np.linalg.norm(one.at) and abs(np.dot(one.axis or (), other.axis or ())) < 1 - _CROSSED:
            ends = [end for joint in own for end in joint.between if plan.group[end] != body]
            cross = one.model_copy(update={"kind": "universal", "between": tuple(ends), "axis": None})
            result = [joint for joint in result if joint not in own] + [cross]
    return result


class _Displacement:
    """What a joint on the base does to points and directions, by displacements (...,)."""

    def __init__(self, joint: ChainJoint, by: Array) -> None:
        self._joint, self._by = joint, by
        self._axis = np.array(joint.axis)

    def direction(self, d: Array) -> Array:
        """A direction (3) of the body it carries, (..., 3)."""
        if self._joint.kind == "prismatic":
            return np.broadcast_to(d, (*self._by.shape, 3))
        cosine, sine = np.cos(self._by)[..., None], np.sin(self._by)[..., None]
        along = (self._axis @ d) * self._axis
        return np.asarray(along + cosine * (d - along) + sine * np.cross(self._axis, d))

    def point(self, p: Array) -> Array:
        """A point (3) of the body it carries, (..., 3)."""
        if self._joint.kind == "prismatic":
            return np.asarray(p + self._by[..., None] * self._axis)
        centre = np.array(self._joint.at)
        return centre + self.direction(p - centre)


Ends = Sequence[tuple[str, ...]]


def _rod(joints: Sequence[ChainJoint], ends: Ends, arm: str) -> tuple[ChainJoint | None, ChainJoint | None]:
    """The joints of the first body that hangs between an arm and the platform by one joint each.

    Where the platform itself is hinged to the arm, and nothing else is, that hinge is both.
    """
    for k, pair in enumerate(ends):
        if arm not in pair or "base" in pair or "platform" in pair:
            continue
        rod = pair[1] if pair[0] == arm else pair[0]
        others = [i for i, other in enumerate(ends) if rod in other and i != k]
        if len(others) == 1 and "platform" in ends[others[0]]:
            return joints[k], joints[others[0]]
    moving = [(joint, pair) for joint, pair in zip(joints, ends, strict=True) if joint.kind != "fixed"]
    hinges = [joint for joint, pair in moving if {*pair} == {arm, "platform"} and joint.kind == "revolute"]
    return (hinges[0], hinges[0]) if len(hinges) == 1 and len(moving) == 2 else (None, None)


def _joint_of(joints: Sequence[ChainJoint], ends: Ends, body: str, drive: ChainJoint) -> ChainJoint | None:
    """The only joint at a body; None if it has several, or it is the drive."""
    found = [joint for joint, pair in zip(joints, ends, strict=True) if body in pair]
    return found[0] if len(found) == 1 and found[0] is not drive else None


def _between(ends: Ends, joints: Sequence[ChainJoint], near: ChainJoint, far: ChainJoint) -> set[str]:
    """The bodies on the inner sides of two joints."""
    inner = {*ends[joints.index(near)], *ends[joints.index(far)]}
    return inner - {"base", "platform"}
