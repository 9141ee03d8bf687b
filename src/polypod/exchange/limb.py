"""A limb of a whole robot: what is between two of its bodies, the first held still.

A humanoid's ankle, knee or waist is a parallel robot whose base is the shank, the thigh or the pelvis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..legs.chain import ChainJoint
from .linkage import BASE, EMPTY_BODY, Linkage, Mark, changed, checked_joint, dangling_joints, moved, reached_bodies

_FEW = 6


def limb(linkage: Linkage, start: str, end: str) -> Linkage:
    """The linkage between two bodies or frames, in the frame of the first, which becomes the base.

    What hangs on the first body otherwise (the rest of the robot) is left out; joints of the limb that lead nowhere
    (toes, sensors) are fixed where they are, with the masses behind them.
    """
    for name in (start, end):
        if name not in linkage.marks:
            raise UnknownNameError("body or frame of the limb", name, tuple(linkage.marks))
    origin = linkage.marks[start].pose
    last = linkage.marks[end].body
    still = [j.between for j in linkage.joints if j.kind == "fixed" and j.name not in linkage.seats]
    first = reached_bodies(still, {linkage.marks[start].body})  # what is fixed to it too
    if last in first:
        raise InputError(f"limb: no joint is between {start} and {end}; name two bodies that move against each other")
    inner = reached_bodies([joint.between for joint in linkage.joints if not first & set(joint.between)], {last})
    if BASE in inner:
        raise InputError(
            f"limb: {end} hangs on the base of the file without {start}; name the body nearer to the base first"
        )
    joints = [joint for joint in linkage.joints if inner & set(joint.between)]
    if not any(first & set(joint.between) for joint in joints):
        raise InputError(f"limb: no joints lead from {start} to {end}")
    renamed = [_renamed(joint, first) for joint in joints]
    loose = {joint.name for joint in dangling_joints(renamed, last)}
    coupled = sorted(loose & linkage.coupled)
    if coupled:
        raise InputError(f"limb: {coupled[0]} is coupled to another joint and on no path from {start} to {end}")
    kept = tuple(_fixed(joint) if joint.name in loose else joint for joint in renamed)
    names = {joint.name for joint in kept}
    broken = [one.name for one in linkage.relations if 0 < sum(t.joint in names for t in one.terms) < len(one.terms)]
    if broken:
        raise InputError(f"limb: {broken[0]} couples joints of the limb to others; take the coupling out of the file")
    displacement = np.asarray(np.linalg.inv(origin), dtype=float)
    marks = {
        name: Mark(BASE if mark.body in first else mark.body, displacement @ mark.pose, mark.only)
        for name, mark in linkage.marks.items()
        if mark.body in inner | first
    }
    result = replace(
        linkage,
        name=f"{linkage.name}-{end}",
        bodies={BASE: EMPTY_BODY} | {n: moved(one, displacement) for n, one in linkage.bodies.items() if n in inner},
        joints=tuple(_displaced(joint, displacement) for joint in kept),
        marks=marks,
        seats={
            name: (displacement @ one, displacement @ two)
            for name, (one, two) in linkage.seats.items()
            if name in names
        },
        gravity=tuple((displacement[:3, :3] @ np.array(linkage.gravity)).tolist()),
        platform=end,
        relations=tuple(one for one in linkage.relations if all(term.joint in names for term in one.terms)),
        elements=tuple(one for one in linkage.elements if _is_inside(one, names, marks)),
        odd_actuators=(),
    )
    result = result.with_remarks(
        f"limb: what is between {start}, whose frame is the base frame, and {end}; gravity is that of the file's "
        f"position; {_others(linkage, names)} left out"
    )
    stopped = [joint.name for joint in renamed if joint.name in loose and joint.kind != "fixed"]
    if stopped:
        fixed = _listed(stopped)
        result = result.with_remarks(f"limb: fixed where they are, as nothing behind them leads on: {fixed}")
    return result


def _renamed(joint: ChainJoint, first: set[str]) -> ChainJoint:
    return changed(joint, between=tuple(BASE if name in first else name for name in joint.between))


def _fixed(joint: ChainJoint) -> ChainJoint:
    return checked_joint({"name": joint.name, "kind": "fixed", "between": joint.between, "at": joint.at})


def _displaced(joint: ChainJoint, displacement: Array) -> ChainJoint:
    """A joint in another base frame."""
    turn = displacement[:3, :3]
    fields: dict[str, Any] = {}
    for name in ("axis", "guide_normal"):
        if getattr(joint, name) is not None:
            fields[name] = tuple((turn @ np.array(getattr(joint, name))).tolist())
    if joint.axes is not None:
        fields["axes"] = tuple(tuple((turn @ np.array(axis)).tolist()) for axis in joint.axes)
    at = tuple((turn @ np.array(joint.at) + displacement[:3, 3]).tolist())
    return changed(joint, at=at, **fields)


def _is_inside(element: Mapping[str, Any], names: set[str], marks: Mapping[str, Mark]) -> bool:
    return element["joint"] in names if "joint" in element else all(name in marks for name in element["marks"])


def _others(linkage: Linkage, names: set[str]) -> str:
    count = sum(joint.name not in names for joint in linkage.joints)
    return f"{count} other joint{'s were' if count != 1 else ' was'}"


def _listed(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:_FEW]) + (f" and {len(listed) - _FEW} more" if len(listed) > _FEW else "")
