"""Fewer bodies and joints that say the same: what is fixed together, hinges in one point, wheels on an axle.

Formats without universal or spherical joints write them as hinges with massless bodies between, loops with extra bodies
that turn freely on a hinge. A robot file says it as it is meant; every step here is exact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Body, Friction
from ..errors import InputError
from ..legs.chain import ChainJoint
from .linkage import BASE, Linkage, axes_of, body, changed, checked_joint, combined, extent, massless

_SAME = 1e-6
"""Lengths over the linkage's size, cosines and sines up to which points meet and axes are parallel or square."""
_ROUND = 1e-6
"""Part of a length, or of its moments, by which an axisymmetric body may be off."""


def simplified(linkage: Linkage, keep: Collection[str] = ()) -> Linkage:
    """The same linkage with as few bodies and joints as say the same; joints of ``keep`` stay what they are."""
    linkage = rigid_bodies(linkage)
    while True:
        simpler = _merge_wheel(linkage, keep) or _merge_joints(linkage, keep)
        if simpler is None:
            return linkage
        linkage = simpler


def rigid_bodies(linkage: Linkage) -> Linkage:
    """Bodies that fixed joints hold together as one of the heaviest's name; base and platform keep theirs."""
    group = {name: name for name in linkage.bodies}
    for joint in linkage.joints:
        if joint.kind == "fixed":
            keep, drop = (group[name] for name in joint.between)
            group = {name: keep if to == drop else to for name, to in group.items()}
    names: dict[str, str] = {}
    for root in dict.fromkeys(group.values()):
        held = [name for name, to in group.items() if to == root]
        heaviest = max(held, key=lambda name: linkage.bodies[name].mass)
        kept = [name for name in (BASE, linkage.platform) if name in held]
        names |= dict.fromkeys(held, str(kept[0]) if kept else heaviest)
    bodies = {
        to: combined(linkage.bodies[name] for name in linkage.bodies if names[name] == to)
        for to in dict.fromkeys(names.values())
    }
    return _renamed(linkage, [j for j in linkage.joints if j.kind != "fixed"], names, bodies)


def _renamed(
    linkage: Linkage, joints: list[ChainJoint], names: Mapping[str, str], bodies: Mapping[str, Body]
) -> Linkage:
    """Joints and marks on the bodies that others became part of; joints within one body go."""
    kept = []
    for joint in joints:
        first, second = (names.get(name, name) for name in joint.between)
        if first == second:
            if joint.actuated:
                raise InputError(f"joint {joint.name}: it is actuated, but its two bodies are fixed to each other")
            continue
        kept.append(changed(joint, between=(first, second)))
    marks = {name: mark._replace(body=names.get(mark.body, mark.body)) for name, mark in linkage.marks.items()}
    return replace(linkage, bodies=dict(bodies), joints=tuple(kept), marks=marks)


def _pairs(linkage: Linkage, keep: Collection[str]) -> list[tuple[str, ChainJoint, ChainJoint]]:
    """Bodies that two joints hold and nothing else, with these joints, which nothing knows by name."""
    found, coupled = [], linkage.coupled.union(keep)
    for name in linkage.bodies:
        held = [joint for joint in linkage.joints if name in joint.between]
        if name != BASE and len(held) == 2 and not coupled & {joint.name for joint in held}:
            found.append((name, held[0], held[1]))
    return found


def _merge_wheel(linkage: Linkage, keep: Collection[str]) -> Linkage | None:
    """A body that turns freely between two hinges of one axis, on the body before it without its axial moment.

    Nothing turns it about the axis, so it has no spin, and its moment about the axis does nothing.
    """
    for name, one, two in _pairs(linkage, keep):
        if {one.kind, two.kind} != {"revolute"} or not _same_line(one, two, _size(linkage)):
            continue
        if one.actuated or two.actuated or one.friction != Friction() or two.friction != Friction():
            continue
        if {one.name, two.name} & linkage.sprung:
            continue
        axis, point = np.array(one.axis), np.array(one.at)
        wheel = linkage.bodies[name]
        size = _size(linkage)
        even = nearest_axisymmetric(wheel, axis, point, size)
        if not even.exact:
            raise InputError(
                f"body {name}: it turns freely between {one.name} and {two.name}, which have one axis, and is no body "
                f"of revolution about it (centre of mass {1e3 * even.off * size:.4g} mm off it, moments uneven by "
                f"{100 * even.uneven:.4g} %); fix one of the two joints with hold="
            )
        before = _other(one, name)
        if before == BASE:
            before, one, two = _other(two, name), two, one
        bodies = {key: value for key, value in linkage.bodies.items() if key != name}
        bodies[before] = combined([bodies[before], body(wheel.mass, even.com, even.across)])
        whole = changed(two, range=_added_ranges(one, two, name))
        joints = [whole if joint is two else joint for joint in linkage.joints if joint is not one]
        text = (
            f"{name} spins freely about the axis of {two.name}; it was attached to {before} without its moment "
            "of inertia about that axis"
        )
        merged = _renamed(linkage, joints, {name: before}, bodies)
        return merged if massless(wheel) else merged.with_remarks(text)
    return None


def _added_ranges(one: ChainJoint, two: ChainJoint, inner: str) -> tuple[float, float] | None:
    """How far two hinges of one axis turn together, as the second counts it; None if either turns without limit."""
    if one.range is None or two.range is None:
        return None
    first, second = _outward(one, from_first=True, inner=inner)[0], _outward(two, from_first=False, inner=inner)[0]
    low, high = one.range if first @ second > 0 else (-one.range[1], -one.range[0])
    return low + two.range[0], high + two.range[1]


def _merge_joints(linkage: Linkage, keep: Collection[str]) -> Linkage | None:
    """Two joints with a massless body between as one: universal, spherical or cylindrical."""
    size = _size(linkage)
    for name, one, two in _pairs(linkage, keep):
        if not massless(linkage.bodies[name]) or {one.name, two.name} & linkage.sprung:
            continue
        joint = _merged(name, one, two, size)
        if joint is not None:
            stem = re.sub(r"-\d$", "", one.name)  # hip-1 and hip-2 are the hip
            if stem == re.sub(r"-\d$", "", two.name) and all(stem != j.name for j in linkage.joints if j is not one):
                joint = changed(joint, name=stem)
            bodies = {key: value for key, value in linkage.bodies.items() if key != name}
            joints = [joint if j.name == one.name else j for j in linkage.joints if j.name != two.name]
            marks = {key: mark for key, mark in linkage.marks.items() if mark.body != name}
            return replace(linkage, bodies=bodies, joints=tuple(joints), marks=marks)
    return None


def _merged(between: str, one: ChainJoint, two: ChainJoint, size: float) -> ChainJoint | None:
    """The one joint that is equal to two with a massless body between; None if there is none."""
    kinds = {one.kind, two.kind}
    first, second = _other(one, between), _other(two, between)
    common: dict[str, object] = {"name": one.name, "between": (first, second)}
    if not (_mergeable(one) and _mergeable(two)):
        return None
    axes = [*_outward(one, from_first=True, inner=between), *_outward(two, from_first=False, inner=between)]
    if kinds == {"revolute", "prismatic"}:
        return _cylindrical((one, two), axes, common)
    if kinds - {"revolute", "universal"} or one.actuated or two.actuated or one.friction != two.friction:
        return None
    point = _meeting(one, two, size)
    if point is None:
        return None
    friction = {} if one.friction == Friction() else {"friction": one.friction}
    place = {"at": tuple(point.tolist()), **friction}
    if len(axes) == 2 and abs(axes[0] @ axes[1]) < _SAME:
        ranges = {name: j.range for name, j in (("first", one), ("second", two)) if j.range is not None}
        own = {"kind": "universal", "axes": tuple(_listed(axis) for axis in axes)}
        return checked_joint(common | place | own | _if_any(ranges))
    limited = any(j.range is not None or j.ranges is not None for j in (one, two))
    if len(axes) == 3 and not limited and abs(np.linalg.det(np.array(axes))) > 1e-3:
        return checked_joint(common | place | {"kind": "spherical"})
    return None


def _mergeable(joint: ChainJoint) -> bool:
    """Whether a joint can be part of another: no cone, spring or guide of its own, a range that holds home."""
    limits = joint.range if not joint.actuated else None
    spring = joint.stiffness is not None and not joint.actuated
    holds = spring or joint.cone is not None or joint.guide_normal is not None
    return not holds and (limits is None or limits[0] <= 0.0 <= limits[1])


def _cylindrical(
    joints: tuple[ChainJoint, ChainJoint], axes: list[Array], common: dict[str, object]
) -> ChainJoint | None:
    """A hinge and a slide as one joint, from the first body to the second; ``axes`` are theirs, outward."""
    by_motion = {joint.motion: (joint, axis) for joint, axis in zip(joints, axes, strict=True)}
    driven = [motion for motion, (joint, _) in by_motion.items() if joint.actuated]
    if len(driven) > 1 or np.linalg.norm(np.cross(axes[0], axes[1])) > _SAME:
        return None
    leader, axis = by_motion[driven[0] if driven else "rotation"]
    left = {"friction"} if driven else {"friction", "range"}
    data = {name: getattr(leader, name) for name in leader.model_fields_set - left}
    ranges = {}
    for motion, (joint, own) in by_motion.items():
        if joint.range is not None and not joint.actuated:
            low, high = joint.range
            ranges[motion] = (low, high) if own @ axis > 0 else (-high, -low)
    frictions = {motion: joint.friction for motion, (joint, _) in by_motion.items() if joint.friction != Friction()}
    data |= common | {"kind": "cylindrical", "at": by_motion["rotation"][0].at, "axis": _listed(axis)}
    data |= {"name": leader.name, "actuated": driven[0] if driven else False}
    return checked_joint(data | _if_any(ranges) | _if_any(frictions, "frictions"))


def _if_any(values: dict[str, Any], field: str = "ranges") -> dict[str, object]:
    """A field of a joint by its name; nothing if it would be empty."""
    return {field: values} if values else {}


def _listed(axis: Array) -> tuple[float, ...]:
    return tuple(axis.tolist())


def _outward(joint: ChainJoint, from_first: bool, inner: str) -> list[Array]:
    """Axes of a joint as they turn or move bodies on the way from the first outer body to the second."""
    axes = axes_of(joint)
    in_order = (joint.between[1] == inner) == from_first
    return axes if in_order else [-axis for axis in reversed(axes)]


def _meeting(one: ChainJoint, two: ChainJoint, size: float) -> Array | None:
    """Where the axes of two joints meet; that of a universal joint is its centre."""
    p, q = np.array(one.at), np.array(two.at)
    if one.kind == "universal" or two.kind == "universal":
        centre, hinge = (p, two) if one.kind == "universal" else (q, one)
        if hinge.axis is None:
            return None
        off = np.cross(np.array(hinge.axis), centre - np.array(hinge.at))
        return centre if np.linalg.norm(off) < _SAME * size else None
    a, b = np.array(one.axis), np.array(two.axis)
    normal = np.cross(a, b)
    if np.linalg.norm(normal) < 1e-3:
        return None
    s, _, gap = np.linalg.solve(np.column_stack([a, -b, normal]), q - p)
    return p + s * a if abs(gap) * np.linalg.norm(normal) < _SAME * size else None


def _same_line(one: ChainJoint, two: ChainJoint, size: float) -> bool:
    a, b = np.array(one.axis), np.array(two.axis)
    off = np.cross(a, np.array(two.at) - np.array(one.at))
    return bool(np.linalg.norm(np.cross(a, b)) < _SAME and np.linalg.norm(off) < _SAME * size)


class Axisymmetric(NamedTuple):
    """The axisymmetric body that is nearest to a body, and how far the body is from it.

    Its tensor is ``axial`` + ``across`` = J n n^T + K (1 - n n^T), (3, 3) [kg m^2] each, with the body's moment J about
    the axis and the mean K of those perpendicular to it. ``off`` is the distance of the body's centre of mass from the
    axis over a given length, ``uneven`` the largest entry by which the tensors differ over the larger moment.
    """

    com: Array
    axial: Array
    across: Array
    off: float
    uneven: float

    @property
    def exact(self) -> bool:
        """Whether the body is axisymmetric itself, to rounding."""
        return max(self.off, self.uneven) <= _ROUND


def nearest_axisymmetric(one: Body, axis: Array, point: Array, length: float) -> Axisymmetric:
    """The axisymmetric body nearest to a body: about the unit ``axis`` through ``point``, distances over ``length``."""
    arm, tensor, line = np.array(one.com) - point, one.central_inertia, np.outer(axis, axis)
    moment = float(axis @ tensor @ axis)
    mean = 0.5 * (float(np.trace(tensor)) - moment)
    axial, across = moment * line, mean * (np.eye(3) - line)
    off = float(np.linalg.norm(arm - (arm @ axis) * axis)) if one.mass else 0.0
    uneven = float(np.abs(tensor - (axial + across)).max()) / max(moment, mean, 1e-300)
    return Axisymmetric(point + (arm @ axis) * axis, axial, across, off / length, uneven)


def _other(joint: ChainJoint, name: str) -> str:
    return joint.between[1] if joint.between[0] == name else joint.between[0]


def _size(linkage: Linkage) -> float:
    return extent(joint.at for joint in linkage.joints)
