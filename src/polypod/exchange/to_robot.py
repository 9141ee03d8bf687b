"""A robot of legs of kind ``chain`` from a linkage: platform, legs and degrees of freedom, with remarks on every
change."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from ..arrays import Array
from ..description import Body, DegreeOfFreedom, Drive, Robot
from ..description.element import parse_element
from ..errors import InputError, PolypodError, UnknownNameError
from ..files import dumps
from ..legs.chain import ChainJoint
from ..mobility.mobility import known_mobility, nearly_free, proposed_dof
from .closing import Closed, close_loops
from .limb import limb
from .linkage import (
    BASE,
    IGNORED,
    Linkage,
    LinkedRelation,
    Mark,
    axes_of,
    body,
    changed,
    checked_joint,
    choose_platform,
    dangling_joints,
    ends_of_all,
    extent,
    joint_distances,
    joints_in_loops,
    legs_between,
    off_path,
)
from .simplify import nearest_axisymmetric, rigid_bodies, simplified

_PARALLEL = 1e-5
"""Angle [rad] up to which axes that are rounded in a file count as parallel."""
_FEW_DIGITS = 2e-3
"""What numbers of three digits leave open, as a part of the robot's size or in rad."""
_MEETING = 2e-5
"""Part of the size of a linkage by which axes may miss each other in a file and meet; more where its loops are open."""
_CROSSING = 0.05
"""Sine of the angle between axes from which on they show a point that they meet in."""
_NEARLY_AXISYMMETRIC = 0.05
"""Part of a rod's moments by which it may differ from a body of revolution and is made one."""
_FEW = 6
"""Joints that are listed by name."""
_HEAVY = 100.0
"""A body this many times as heavy as all others together is worth a remark."""
_HOME = 1e-6
"""Gap over the linkage's size up to which the file's position is home."""


class Imported(NamedTuple):
    """An imported robot.

    Attributes
    ----------
    robot : Robot
        The robot.
    remarks : tuple of str
        What was left out, changed or found unusual.
    """

    robot: Robot
    remarks: tuple[str, ...]

    def text(self, source: str) -> str:
        """The robot file, with its source and all remarks on top.

        Parameters
        ----------
        source : str
            Where the robot comes from.

        Returns
        -------
        str
            YAML text.
        """
        lines = [f"Imported from {source} with 'polypod import'."]
        for remark in self.remarks:
            lines += textwrap.wrap(f"- {' '.join(remark.split())}", 116, subsequent_indent="  ")
        return "".join(f"# {line}\n" for line in lines) + dumps(self.robot)


class ImportOptions(NamedTuple):
    """What the user adds to a file, as arguments of ``polypod.exchange.import_robot``."""

    platform: str | None = None
    hold: Sequence[str] = ()
    actuated: Sequence[str] = ()
    at: Mapping[str, float] = {}
    close: bool = False
    limb: Sequence[str] = ()
    dof: Sequence[str] = ()


def to_robot(linkage: Linkage, options: ImportOptions) -> Imported:
    """The robot of a linkage; ``InputError`` says why there is none.

    Degrees of freedom are those that polypod's own analysis finds at home.
    """
    linkage = _with_options(_limb(linkage, options.limb), options)
    for name in options.at:
        if name in options.hold:
            raise InputError(f"at: {name} is fixed by hold= as well; give one of them")
    _check_loops(linkage)
    closed = close_loops(linkage, options.at, options.close)
    _check_couplings(linkage, options, closed.gap)
    linkage = _with_body_remarks(closed.linkage)
    named = options.dof or (_passive_row(linkage, options) if options.limb else ())
    linkage = _meeting_axes(_align_axes(simplified(linkage, named)), closed.gap)
    mark, why = choose_platform(linkage, options.platform)
    linkage = linkage.with_remarks(f"platform: {mark.body} ({why})")
    _check_reached(linkage, mark.body)
    legs = _by_actuator(legs_between(linkage.joints, mark.body, linkage.relations), linkage.joints)
    linkage, bodies = _axisymmetric_rods(linkage, legs, mark.body)
    data = _document(linkage, bodies, mark, legs)
    robot = _validated(data, linkage, mark.body)
    elements, left = _elements(linkage, mark.body, legs, robot)
    linkage = linkage.with_remarks(*left)
    if elements:
        data["elements"] = elements
        robot = _validated(data, linkage, mark.body)
    dof = proposed_dof(robot)
    _check_digits(robot, closed, 6 if dof is None else len(dof))
    if dof is not None:
        if not dof:
            raise InputError(
                "the legs leave the platform no degree of freedom at home; is that position singular? Try at="
            )
        dof = _of_joints(robot, dof, named, asked=bool(options.dof))
        robot = _validated(data | {"dof": [f.model_dump() for f in dof]}, linkage, mark.body)
        names = ", ".join(coordinate.name for coordinate in dof)
        linkage = linkage.with_remarks(f"dof: {len(dof)} ({names}), as the legs allow at home")
    _check_drives(robot)
    return Imported(robot, linkage.remarks)


def _limb(linkage: Linkage, ends: Sequence[str]) -> Linkage:
    """The limb between two bodies, if one is asked for."""
    if not ends:
        return linkage
    if len(ends) != 2:
        raise InputError(f"limb: two bodies or frames are needed, that which stays and that which moves; got {ends}")
    return limb(linkage, *ends)


def _passive_row(linkage: Linkage, options: ImportOptions) -> tuple[str, ...]:
    """Joints of a passive leg that is hinges and slides in a row from base to platform, in that order: their positions
    are what a limb's motion is known by."""
    rigid = rigid_bodies(linkage)
    platform = choose_platform(rigid, options.platform)[0].body
    for leg in legs_between(rigid.joints, platform, rigid.relations):
        ends = [name for joint in leg for name in joint.between]
        inner = set(ends) - {BASE, platform}
        serial = all(ends.count(name) == 2 for name in inner) and ends.count(platform) == ends.count(BASE) == 1
        if serial and all(joint.kind in ("revolute", "prismatic") and not joint.actuated for joint in leg):
            far = joint_distances(leg)
            return tuple(joint.name for joint in sorted(leg, key=lambda joint: min(far[end] for end in joint.between)))
    return ()


def _of_joints(
    robot: Robot, dof: tuple[DegreeOfFreedom, ...], names: Sequence[str], asked: bool
) -> tuple[DegreeOfFreedom, ...]:
    """Degrees of freedom as the positions of joints of these names, if there are as many."""
    if len(names) != len(dof):
        if asked:
            raise InputError(
                f"dof: the platform has {len(dof)} degrees of freedom at home "
                f"({', '.join(one.name for one in dof)}); name as many joints, got {', '.join(names)}"
            )
        return dof
    owner = {joint.name: leg.name for leg in robot.legs for joint in getattr(leg, "joints", ())}
    for name in names:
        if name not in owner:
            raise InputError(f"dof: {UnknownNameError('joint', name, tuple(owner))}")
    return tuple(DegreeOfFreedom(name=_identifier(name), joint=f"{owner[name]}.{name}") for name in names)


def _identifier(name: str) -> str:
    """A joint's name as that of a coordinate."""
    return re.sub(r"\W+", "_", name)


def _check_couplings(linkage: Linkage, options: ImportOptions, gap: float) -> None:
    """Raise where home is not that of the file, as couplings count from there."""
    held = [name for name in options.hold if name in linkage.coupled]
    if held:
        raise InputError(f"hold: {held[0]} is coupled to another joint; take the coupling out of the file", code="gear")
    if linkage.relations and (options.at or gap > _HOME * extent(joint.at for joint in linkage.joints)):
        raise InputError(
            f"{linkage.relations[0].name}: couplings count from the file's own home, and at= or a loop that is open by "
            f"{1e3 * gap:.3g} mm there moves it; close the loops in the file",
            code="gear",
        )


def _check_loops(linkage: Linkage) -> None:
    """Raise for a tree: bodies that joints hold on the base, none of them part of a loop or of a coupling."""
    tree = set(linkage.bodies) <= joint_distances(linkage.joints).keys()
    if linkage.joints and tree and not linkage.relations and not joints_in_loops(linkage.joints):
        raise InputError(
            "no joint is part of a loop, so this is a tree and no parallel robot yet. Of a URDF a file beside it "
            "(loops=) names the frames that meet, closed_loop: [[link1, link2]] with type: [3d] or [6d], and the "
            "motors, name_mot: [joint]; or <loop>, <constraint> or <loop_joint> elements do. In MJCF <connect> and "
            "<weld> equalities close loops" + "".join(f". {text}" for text in linkage.remarks if IGNORED in text)
        )


def _check_digits(robot: Robot, closed: Closed, count: int) -> None:
    """Raise where the digits of a file decide how many degrees of freedom there are."""
    tolerance = min(max(1e-7, 3 * max(closed.gap / robot.platform_size, closed.tilt)), 1e-4)
    nearly = nearly_free(robot, tolerance if count else _FEW_DIGITS)
    if nearly != count:
        raise InputError(
            f"the legs leave the platform {count} degrees of freedom at home, but {nearly} if axes and points agreed "
            f"that differ a little (its loops are open by {1e3 * closed.gap:.2g} mm and "
            f"{np.degrees(closed.tilt):.2g} deg in the file). Give their numbers with more digits, or leave out what "
            "holds the platform twice; if home is near a singular position, move it with at={'JOINT': 0.5}"
        )


def _check_drives(robot: Robot) -> None:
    """Raise what a model of the robot would raise about its degrees of freedom and actuators."""
    try:
        known_mobility(robot)
    except PolypodError as error:
        raise InputError(
            f"at home as drawn {error}. A home that is singular is moved with at={{'JOINT': 0.5}}; actuated joints "
            "are named with actuated=['JOINT']"
        ) from error


def _with_options(linkage: Linkage, options: ImportOptions) -> Linkage:
    if linkage.odd_actuators and not options.actuated:
        raise InputError(f"{linkage.odd_actuators[0]}. Name the joints that are driven: actuated=['JOINT']")
    linkage = linkage.with_remarks(*(f"{text}: left out, driven joints are given" for text in linkage.odd_actuators))
    known = [joint.name for joint in linkage.joints]
    for option, names in (("hold", options.hold), ("actuated", options.actuated)):
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
            texts.append(
                f"body {name}: {one.mass:.6g} kg of {total:.6g} kg moving mass; is its density in the wrong unit?"
            )
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
        linkage = linkage.with_remarks(f"axes that are parallel within {widest:.2g} rad were made exactly parallel")
    return linkage


def _meeting_axes(linkage: Linkage, gap: float) -> Linkage:
    """The linkage with hinges whose axes meet in one point to the file's rounding made to meet there exactly.

    ``gap`` [m] is what the file's digits leave open in its loops. Joints move across their axes, where they are
    anywhere else no different; wrists and spherical linkages need it, which are held in more ways than they move.
    """
    hinges = [k for k, joint in enumerate(linkage.joints) if joint.kind == "revolute"]
    size = extent(joint.at for joint in linkage.joints)
    near = min(max(10 * gap, _MEETING * size), 10 * _MEETING * size)
    at = {k: np.array(linkage.joints[k].at) for k in hinges}
    along = {k: np.array(linkage.joints[k].axis) / np.linalg.norm(linkage.joints[k].axis or 1.0) for k in hinges}
    across = {k: np.eye(3) - np.outer(axis, axis) for k, axis in along.items()}

    def off(k: int, point: Array) -> Array:
        return np.asarray(across[k] @ (point - at[k]))

    moved_to: dict[int, Array] = {}
    for i, first in enumerate(hinges):
        for second in hinges[i + 1 :]:
            if np.linalg.norm(np.cross(along[first], along[second])) < _CROSSING:
                continue
            point = _nearest_point([first, second], at, across)
            group = [k for k in hinges if k not in moved_to and np.linalg.norm(off(k, point)) < near]
            if len(group) < 3 or not {first, second} <= set(group):
                continue
            point = _nearest_point(group, at, across)
            if max(float(np.linalg.norm(off(k, point))) for k in group) < near:
                moved_to |= dict.fromkeys(group, point)
    most = max((float(np.linalg.norm(off(k, point))) for k, point in moved_to.items()), default=0.0)
    if most <= 1e-12 * size:
        return linkage
    joints = [
        changed(joint, at=tuple((at[k] + off(k, moved_to[k])).tolist())) if k in moved_to else joint
        for k, joint in enumerate(linkage.joints)
    ]
    text = f"axes that meet in one point to {most:.2g} m were made to meet exactly"
    return linkage.with_joints(joints).with_remarks(text)


def _nearest_point(lines: Sequence[int], at: Mapping[int, Array], across: Mapping[int, Array]) -> Array:
    """The point (3,) nearest to lines through ``at`` (3,); ``across`` (3, 3) takes away what is along them."""
    sides = np.concatenate([across[k] @ at[k] for k in lines])
    return np.asarray(np.linalg.lstsq(np.concatenate([across[k] for k in lines]), sides, rcond=1e-10)[0])


def _to_base_axis(axis: Array) -> Array:
    for unit in np.eye(3):
        if np.linalg.norm(np.cross(unit, axis)) < _PARALLEL:
            return unit
    return axis


def _check_reached(linkage: Linkage, platform: str) -> None:
    """Raise where a part of the linkage is not between base and platform."""
    loose = off_path(linkage, platform)
    held = {name for joint in linkage.joints for name in joint.between}
    unheld = [name for name in linkage.bodies if name not in held and name != BASE]
    if platform in unheld or len(loose) == len(linkage.joints):
        raise InputError(
            f"platform {platform}: no joints lead from it to the base; polypod has robots on a fixed base, no floating "
            "ones. If loops are in a file of their own, name it with loops="
        )
    if unheld:
        raise InputError(f"bodies without joints: {', '.join(unheld)}; connect them, or remove them from the file")
    if loose:
        driven = [joint.name for joint in loose if joint.actuated]
        names = [joint.name for joint in loose]
        fix = "" if len(names) > _FEW else f". To fix them where they are: hold={names}"
        ends = sorted(ends_of_all(linkage))
        fix += f". With one of these as the platform all joints are on a path: {', '.join(ends[:_FEW])}" if ends else ""
        raise InputError(
            f"{len(names)} joints ({len(driven)} actuated) are not on a path from the base to the platform "
            f"{platform}: {', '.join(names[:_FEW])}{' and more' if len(names) > _FEW else ''}. They belong to a "
            f"second platform or an arm, and polypod supports one platform{fix}"
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
            f"{', '.join(sorted(rods))}: rods between two spherical joints, which spin freely, were made bodies "
            f"of revolution (changed by at most {100 * most:.2g} % of their length or moments)"
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
                "bodies": {rename.get(name, name): body_data(bodies[name]) for name in held},
                "joints": [joint.model_dump(exclude_defaults=True) for joint in joints],
                "couplings": [
                    coupling_data(one) for one in linkage.relations if one.terms[0].joint in {j.name for j in leg}
                ],
            }
        )
    return {
        "name": linkage.name,
        "sources": {"*": linkage.origin} if linkage.origin else {},
        "gravity": linkage.gravity,
        "home": {"position": tuple(origin.tolist()), "rotation": tuple(tuple(row) for row in turn.tolist())},
        "platform": body_data(within),
        "legs": listed,
    }


def coupling_data(relation: LinkedRelation) -> dict[str, Any]:
    """A coupling as a robot file states it."""
    joints, factors = [term.joint for term in relation.terms], [term.factor for term in relation.terms]
    return {"kind": "linear", "name": relation.name, "joints": joints, "factors": factors}


def _elements(
    linkage: Linkage, platform: str, legs: list[list[ChainJoint]], robot: Robot
) -> tuple[list[dict[str, Any]], list[str]]:
    """Elements of a linkage as those of a robot, and remarks on those that it cannot have."""
    kept, left, names = list[dict[str, Any]](), list[str](), set[str]()
    where = {joint.name: robot.legs[k].name for k, leg in enumerate(legs) for joint in leg}
    owner = {body: robot.legs[k].name for k, leg in enumerate(legs) for joint in leg for body in joint.between}
    for one in linkage.elements:
        data = {name: value for name, value in one.items() if name not in ("joint", "marks")}
        while data["name"] in names:
            data["name"] += "'"
        names.add(data["name"])
        if "joint" in one and one["joint"] in where:
            data["joint"] = f"{where[one['joint']]}.{one['joint']}"
        elif "marks" in one and all(name in linkage.marks for name in one["marks"]):
            marks = [linkage.marks[name] for name in one["marks"]]
            data["between"] = [_end(mark.body, platform, owner) for mark in marks]
            data["at"] = [mark.pose[:3, 3].tolist() for mark in marks]
        try:
            parse_element(data).check(robot.legs)
        except (InputError, ValueError) as error:
            left.append(f"spring {data['name']} was left out: {str(error).splitlines()[-1].strip()}")
            continue
        kept.append(data)
    return kept, left


def _end(body: str, platform: str, owner: Mapping[str, str]) -> str:
    """A body of a linkage as an element of a robot names it."""
    if body in (BASE, platform):
        return BASE if body == BASE else "platform"
    own = "platform_body" if body == "platform" else body
    return f"{owner.get(body, 'no leg')}.{own}"


def body_data(one: Body) -> dict[str, Any]:
    """A body as a robot file states it; one that cannot exist opts out of the check, as remarks say."""
    data = {"mass": one.mass, "com": one.com, "inertia": one.inertia}
    return data | {"check": "none"} if one.unphysical else data


def _validated(data: dict[str, Any], linkage: Linkage, platform: str) -> Robot:
    try:
        return Robot.model_validate(data)
    except ValidationError as error:
        faults = [str(fault["msg"]).removeprefix("Value error, ") for fault in error.errors()]
        text = faults[0] + (f" (and {len(faults) - 1} more errors of this kind)" if len(faults) > 1 else "")
        if "degree of freedom of its own" in text or "dead point" in text:
            text += _serial_joints(linkage, platform)
        raise InputError(f"polypod cannot represent this robot: {text}") from error
    except PolypodError as error:
        raise InputError(f"polypod cannot represent this robot: {error}") from error


def _serial_joints(linkage: Linkage, platform: str) -> str:
    """Joints that alone carry all the rest, such as a turntable under a hexapod: what to hold."""
    alone = []
    for joint in linkage.joints:
        rest = [other for other in linkage.joints if other is not joint]
        if len(dangling_joints(rest, platform)) == len(rest):
            alone.append(joint.name)
    hold = f"; fix a joint that carries all others with hold={alone[:1]}" if alone else ""
    return f". If home as drawn is singular, move it with at={{'JOINT': 0.5}}{hold}"
