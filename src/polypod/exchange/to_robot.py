"""A robot of legs of kind ``chain`` from a linkage: platform, legs and degrees of freedom, with remarks on every
change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from ..arrays import Array
from ..description import Body, Drive, Robot
from ..errors import InputError, PolypodError, UnknownNameError
from ..legs.chain import ChainJoint
from ..mobility.mobility import known_mobility, proposed_dof
from .closing import close_loops
from .linkage import (
    BASE,
    Linkage,
    Mark,
    axes_of,
    body,
    changed,
    checked_joint,
    choose_platform,
    dangling_joints,
    legs_between,
)
from .simplify import nearest_axisymmetric, simplified

_PARALLEL = 1e-5
"""Angle [rad] up to which axes that are rounded in a file count as parallel."""
_NEARLY_AXISYMMETRIC = 0.05
"""Part of a rod's moments by which it may differ from a body of revolution and is made one."""
_FEW = 6
"""Joints that are listed by name."""
_HEAVY = 100.0
"""A body this many times as heavy as all others together is worth a remark."""


class Imported(NamedTuple):
    """A robot, and what was left out, changed or found odd on the way."""

    robot: Robot
    remarks: tuple[str, ...]


class ImportOptions(NamedTuple):
    """What the user adds to a file, as arguments of ``polypod.exchange.import_robot``."""

    platform: str | None = None
    hold: Sequence[str] = ()
    actuated: Sequence[str] = ()
    at: Mapping[str, float] = {}
    close: bool = False


def to_robot(linkage: Linkage, options: ImportOptions) -> Imported:
    """The robot of a linkage; ``InputError`` says why there is none.

    Degrees of freedom are those that polypod's own analysis finds at home.
    """
    linkage = _with_options(linkage, options)
    for name in options.at:
        if name in options.hold:
            raise InputError(f"--at {name}: it is held by --hold as well; say one of them")
    linkage = close_loops(linkage, options.at, options.close)
    linkage = _with_body_remarks(linkage)
    linkage = _align_axes(simplified(linkage))
    mark, why = choose_platform(linkage, options.platform)
    linkage = linkage.with_remarks(f"platform: {mark.body} ({why})")
    _check_reached(linkage, mark.body)
    legs = _by_actuator(legs_between(linkage.joints, mark.body), linkage.joints)
    linkage, bodies = _axisymmetric_rods(linkage, legs, mark.body)
    data = _document(linkage, bodies, mark, legs)
    robot = _validated(data, linkage, mark.body)
    dof = proposed_dof(robot)
    if dof is not None:
        if not dof:
            raise InputError(
                "the legs leave the platform no degree of freedom at home; is that position singular? Try --at"
            )
        robot = _validated(data | {"dof": [f.model_dump() for f in dof]}, linkage, mark.body)
        names = ", ".join(coordinate.name for coordinate in dof)
        linkage = linkage.with_remarks(f"dof: {len(dof)} ({names}), as the legs leave them at home")
    _check_drives(robot)
    return Imported(robot, linkage.remarks)


def _check_drives(robot: Robot) -> None:
    """Raise what a model of the robot would raise about its degrees of freedom and actuators."""
    try:
        known_mobility(robot)
    except PolypodError as error:
        raise InputError(
            f"at home as drawn {error}. A home that is singular is moved with --at JOINT=0.5; actuated joints are "
            "named with --actuated JOINT"
        ) from error


def _with_options(linkage: Linkage, options: ImportOptions) -> Linkage:
    known = [joint.name for joint in linkage.joints]
    for option, names in (("--hold", options.hold), ("--actuated", options.actuated)):
        for name in names:
            if name not in known:
                raise InputError(f"{option}: {UnknownNameError('joint', name, tuple(known))}")
    joints = []
    for joint in linkage.joints:
        if joint.name in options.hold:
            plain = {"name": joint.name, "kind": "fixed", "between": joint.between, "at": joint.at}
            joint = checked_joint(plain)
        elif options.actuated:
            joint = _with_actuation(joint, joint.name in options.actuated)
        joints.append(joint)
    return linkage.with_joints(joints)


def _with_actuation(joint: ChainJoint, driven: bool) -> ChainJoint:
    """A joint that is actuated, or that is not."""
    if not driven and joint.actuated:
        passive = {"actuated": False, "offset": 0.0, "ratio": 1.0, "rotor": 0.0, **dict.fromkeys(Drive.model_fields)}
        return changed(joint, **passive, range=joint.displacement_range)
    return changed(joint, actuated=True) if driven and not joint.actuated else joint


def _with_body_remarks(linkage: Linkage) -> Linkage:
    """The linkage with remarks on bodies that cannot exist or that no robot has."""
    texts: list[str] = []
    odd: dict[str, list[str]] = {}
    moving = {name: one for name, one in linkage.bodies.items() if name != BASE}
    total = sum(one.mass for one in moving.values())
    for name, one in moving.items():
        if one.unphysical:
            odd.setdefault(one.unphysical, []).append(name)
        if one.mass > _HEAVY * (total - one.mass) or one.mass > 1e5:
            texts.append(f"body {name}: {one.mass:.6g} kg of {total:.6g} kg that move; is its density in other units?")
    for problem, names in odd.items():
        texts.append(f"inertia of {', '.join(names)} {problem}; kept as it is, with 'check: none'")
    return linkage.with_remarks(*texts)


def _align_axes(linkage: Linkage) -> Linkage:
    """The linkage with axes that are parallel to the rounding of the file made exactly parallel."""
    clusters: list[list[Array]] = []
    for joint in linkage.joints:
        for axis in axes_of(joint):
            near = [one for one in clusters if np.linalg.norm(np.cross(one[0], axis)) < _PARALLEL]
            if near:
                near[0].append(axis if axis @ near[0][0] > 0 else -axis)
            else:
                clusters.append([axis])
    means = [np.sum(cluster, axis=0) / np.linalg.norm(np.sum(cluster, axis=0)) for cluster in clusters]
    means = [_to_base_axis(mean) for mean in means]
    widest = 0.0

    def snapped(axis: Array) -> tuple[float, ...]:
        nonlocal widest
        mean = min(means, key=lambda one: float(np.linalg.norm(np.cross(one, axis))))
        widest = max(widest, float(np.linalg.norm(np.cross(mean, axis))))
        return tuple((mean if mean @ axis > 0 else -mean).tolist())

    joints = []
    for joint in linkage.joints:
        if joint.axes is not None:
            joint = changed(joint, axes=tuple(snapped(np.array(axis)) for axis in joint.axes))
        elif joint.axis is not None:
            joint = changed(joint, axis=snapped(np.array(joint.axis)))
        joints.append(joint)
    linkage = linkage.with_joints(joints)
    if widest > 1e-11:
        linkage = linkage.with_remarks(f"axes that are parallel to {widest:.2g} rad were made exactly parallel")
    return linkage


def _to_base_axis(axis: Array) -> Array:
    for unit in np.eye(3):
        if np.linalg.norm(np.cross(unit, axis)) < _PARALLEL:
            return unit
    return axis


def _check_reached(linkage: Linkage, platform: str) -> None:
    """Raise where a part of the linkage is not between base and platform."""
    loose = dangling_joints(linkage.joints, platform)
    held = {name for joint in linkage.joints for name in joint.between}
    unheld = [name for name in linkage.bodies if name not in held and name != BASE]
    if platform in unheld or len(loose) == len(linkage.joints):
        raise InputError(
            f"platform {platform}: no joints lead from it to the base; polypod has robots on a fixed base, no floating "
            "ones. If loops are in a file of their own, name it with --loops"
        )
    if unheld:
        raise InputError(f"bodies that nothing holds: {', '.join(unheld)}; join them, or take them out of the file")
    if loose:
        driven = [joint.name for joint in loose if joint.actuated]
        names = [joint.name for joint in loose]
        fix = "" if len(names) > _FEW else f". To fix them where they are: {' '.join(f'--hold {n}' for n in names)}"
        raise InputError(
            f"{len(names)} joints ({len(driven)} actuated) are on no way from the base to the platform {platform}: "
            f"{', '.join(names[:_FEW])}{' and more' if len(names) > _FEW else ''}. What they carry is a second "
            f"platform or an arm, and polypod has one platform{fix}"
        )


def _by_actuator(legs: list[list[ChainJoint]], joints: Sequence[ChainJoint]) -> list[list[ChainJoint]]:
    """Legs in the order in which the file has their first actuated joints; passive ones last."""
    order = {joint.name: k for k, joint in enumerate(j for j in joints if j.actuated)}
    return sorted(legs, key=lambda leg: min((order.get(j.name, len(order)) for j in leg), default=len(order)))


def _axisymmetric_rods(
    linkage: Linkage, legs: list[list[ChainJoint]], platform: str
) -> tuple[Linkage, dict[str, Body]]:
    """Rods between two spherical joints as bodies of revolution, where they are so to a few per cent."""
    rods: list[str] = []
    bodies, most = dict(linkage.bodies), 0.0
    for leg in legs:
        for name in {name for joint in leg for name in joint.between} - {BASE, platform}:
            held = [joint for joint in leg if name in joint.between]
            if [joint.kind for joint in held] != ["spherical", "spherical"]:
                continue
            start, end = (np.array(joint.at) for joint in held)
            length = float(np.linalg.norm(end - start))
            if length == 0.0:
                continue
            even = nearest_axisymmetric(bodies[name], (end - start) / length, start, length)
            if even.exact or max(even.off, even.uneven) > _NEARLY_AXISYMMETRIC:
                continue  # the robot's own check refuses a body that is far from one of revolution, with what to do
            most, rods = max(most, even.off, even.uneven), [*rods, name]
            bodies[name] = body(bodies[name].mass, even.com, even.axial + even.across)
    if rods:
        linkage = linkage.with_remarks(
            f"{', '.join(sorted(rods))}: rods between two spherical joints, which spin freely, made bodies of "
            f"revolution (they were to {100 * most:.2g} % of their length or moments)"
        )
    return linkage, bodies


def _document(linkage: Linkage, bodies: Mapping[str, Body], mark: Mark, legs: list[list[ChainJoint]]) -> dict[str, Any]:
    turn, origin = mark.pose[:3, :3], mark.pose[:3, 3]
    own = bodies[mark.body]
    within = body(own.mass, turn.T @ (np.array(own.com) - origin), turn.T @ own.central_inertia @ turn)
    rename = {mark.body: "platform"} | {name: f"{name}_body" for name in bodies if name == "platform" != mark.body}
    listed = []
    for leg in legs:
        held = [name for name in bodies if name not in (BASE, mark.body) and any(name in j.between for j in leg)]
        joints = [changed(j, between=tuple(rename.get(name, name) for name in j.between)) for j in leg]
        listed.append(
            {
                "kind": "chain",
                "bodies": {rename.get(name, name): _body_data(bodies[name]) for name in held},
                "joints": [joint.model_dump(exclude_defaults=True) for joint in joints],
            }
        )
    return {
        "name": linkage.name,
        "sources": {"*": linkage.origin} if linkage.origin else {},
        "gravity": linkage.gravity,
        "home": {"position": tuple(origin.tolist()), "rotation": tuple(tuple(row) for row in turn.tolist())},
        "platform": _body_data(within),
        "legs": listed,
    }


def _body_data(one: Body) -> dict[str, Any]:
    """A body as a robot file states it; one that cannot exist opts out of the check, as remarks say."""
    data = {"mass": one.mass, "com": one.com, "inertia": one.inertia}
    return data | {"check": "none"} if one.unphysical else data


def _validated(data: dict[str, Any], linkage: Linkage, platform: str) -> Robot:
    try:
        return Robot.model_validate(data)
    except ValidationError as error:
        faults = [str(fault["msg"]).removeprefix("Value error, ") for fault in error.errors()]
        text = faults[0] + (f" (and {len(faults) - 1} more faults of this kind)" if len(faults) > 1 else "")
        if "degree of freedom of its own" in text or "dead point" in text:
            text += _serial_joints(linkage, platform)
        raise InputError(f"polypod cannot say this robot: {text}") from error
    except PolypodError as error:
        raise InputError(f"polypod cannot say this robot: {error}") from error


def _serial_joints(linkage: Linkage, platform: str) -> str:
    """Joints that alone carry all the rest, such as a turntable under a hexapod: what to hold."""
    alone = []
    for joint in linkage.joints:
        rest = [other for other in linkage.joints if other is not joint]
        if len(dangling_joints(rest, platform)) == len(rest):
            alone.append(joint.name)
    hold = f"; fix a joint that carries all others with --hold {alone[0]}" if alone else ""
    return f". If home as drawn is singular, move it with --at JOINT=0.5{hold}"
