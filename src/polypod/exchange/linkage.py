"""A whole robot as bodies and joints where they are at home, base frame: what every other program's file comes down to.

Readers make a ``Linkage`` of a file, a robot is made of it, and writers start from the one of a robot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from pydantic import ValidationError

from ..arrays import Array
from ..description import Body, Robot
from ..description.body import parallel_axis
from ..description.paths import get
from ..description.shapes import Shapes, mapped
from ..drawing.shapes import as_file_shape, samples_of, shapes_of
from ..errors import AS_RIGID, InputError, UnknownNameError, plain
from ..legs import Chain
from ..legs.chain import ChainJoint
from ..legs.contract import Placement
from ..symbols.vectors import Frame

BASE = "base"
IGNORED = "unknown elements ignored"
"""Words of the remark on elements that a reader does not know."""


class Mark(NamedTuple):
    """A frame fixed to a body: its pose (4, 4) at home in the base frame; ``only`` if it marks a place and is no body's
    own frame."""

    body: str
    pose: Array
    only: bool = False


class LinkedTerm(NamedTuple):
    """A displacement of a joint (``rotation``, ``translation``, ``first`` or ``second``) with its factor."""

    joint: str
    motion: str
    factor: float


class LinkedRelation(NamedTuple):
    """A coupling: the sum of factor times displacement from home is zero."""

    name: str
    terms: tuple[LinkedTerm, ...]


@dataclass(frozen=True)
class Linkage:
    """Bodies and joints of a robot at home, in the base frame.

    Attributes
    ----------
    name : str
        Name of the robot.
    bodies : mapping of str to Body
        Bodies, with ``com`` and ``inertia`` about it in base axes.
    joints : tuple of ChainJoint
        Joints.
    marks : mapping of str to Mark
        Named frames, those of the bodies among them.
    seats : mapping of str to (ndarray, ndarray)
        For joints whose two halves do not meet or whose axes differ at home, the frame (4, 4) of each half: axis first,
        or for a universal joint the axis of that half.
    gravity : tuple of float
        Gravity in base axes [m/s^2].
    platform : str or None
        Body or mark that the file itself calls so.
    origin : str
        Where the values come from.
    remarks : tuple of str
        What a reader left out or found unusual.
    odd_actuators : tuple of str
        Actuators of the file that no joint can have, and why.
    relations : tuple of LinkedRelation
        Couplings between displacements of joints.
    elements : tuple of mapping
        Springs as in a robot file, with ``joint``, a joint of the linkage, or ``marks``, two marks between which they
        act.
    """

    name: str
    bodies: Mapping[str, Body]
    joints: tuple[ChainJoint, ...]
    marks: Mapping[str, Mark] = field(default_factory=dict)
    seats: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    platform: str | None = None
    origin: str = ""
    remarks: tuple[str, ...] = ()
    odd_actuators: tuple[str, ...] = ()
    relations: tuple[LinkedRelation, ...] = ()
    elements: tuple[Mapping[str, Any], ...] = ()

    @property
    def sprung(self) -> frozenset[str]:
        """Names of the joints that have an element."""
        return frozenset(one["joint"] for one in self.elements if "joint" in one)

    def joint(self, name: str) -> ChainJoint:
        """A joint by its name.

        Parameters
        ----------
        name : str
            Name of the joint.

        Returns
        -------
        ChainJoint
            The joint.
        """
        return next(joint for joint in self.joints if joint.name == name)

    @property
    def coupled(self) -> set[str]:
        """Names of the joints that are coupled to others."""
        return {term.joint for relation in self.relations for term in relation.terms}

    def with_remarks(self, *texts: str) -> Linkage:
        """The linkage with further remarks.

        Parameters
        ----------
        *texts : str
            The remarks.

        Returns
        -------
        Linkage
            The linkage.
        """
        return replace(self, remarks=(*self.remarks, *texts))

    def with_joints(self, joints: Iterable[ChainJoint]) -> Linkage:
        """The linkage with other joints.

        Parameters
        ----------
        joints : iterable of ChainJoint
            The joints.

        Returns
        -------
        Linkage
            The linkage.
        """
        return replace(self, joints=tuple(joints))


def checked_joint(data: Mapping[str, Any]) -> ChainJoint:
    """A joint from its fields; ``InputError`` with its name and what is wrong if there is no such joint."""
    try:
        return ChainJoint.model_validate(data)
    except ValidationError as error:
        fault = error.errors()[0]
        field = "".join(f"{part}: " for part in [".".join(map(str, fault["loc"]))] if part)
        raise InputError(f"joint {data['name']}: {field}{plain(fault['msg'])}") from error


def changed(joint: ChainJoint, **fields: object) -> ChainJoint:
    """A joint with some fields changed, checked again."""
    data = {name: getattr(joint, name) for name in joint.model_fields_set | {"name", "kind", "between", "at"}}
    data |= fields
    return checked_joint({name: value for name, value in data.items() if value is not None})


def axes_about(axis: Iterable[float]) -> Array:
    """Right-handed axes (3, 3) as columns, the first along an axis."""
    x = np.array(list(axis), dtype=float)
    x = x / np.linalg.norm(x)
    y = np.cross(np.eye(3)[np.argmin(np.abs(x))], x)
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def pose_of(axes: Array, origin: Iterable[float]) -> Array:
    """Homogeneous matrix (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, list(origin)
    return pose


def seats_of(joint: ChainJoint) -> tuple[Array, Array]:
    """Frames (4, 4) of both halves of a joint that closes at home."""
    if joint.axes is not None:
        return pose_of(axes_about(joint.axes[0]), joint.at), pose_of(axes_about(joint.axes[1]), joint.at)
    seat = pose_of(np.eye(3) if joint.axis is None else axes_about(joint.axis), joint.at)
    return seat, seat


def _triple(values: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def body(mass: float, com: Array, tensor: Array, shapes: Shapes | None = None) -> Body:
    """A body from its mass [kg], centre (3) [m] and tensor (3, 3) about it [kg m^2]; judged later, with its name.

    ``shapes`` say what it looks like, if known.
    """
    even = 0.5 * (tensor + tensor.T)
    try:
        inertia: Any = tuple(_triple(row) for row in even)
        return Body(mass=float(mass), com=_triple(com), inertia=inertia, check="none", shapes=shapes)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        raise InputError(f"a body of {mass:g} kg: {field}: {plain(fault['msg'])}") from error


EMPTY_BODY = body(0.0, np.zeros(3), np.zeros((3, 3)))
"""A body without mass and inertia, such as the base."""


def moved(one: Body, displacement: Array) -> Body:
    """A body after a displacement (4, 4) of the base frame."""
    turn, shift = displacement[:3, :3], displacement[:3, 3]
    shapes = None
    if one.shapes is not None:
        shapes = tuple(mapped(shape, lambda points: points @ turn.T + shift) for shape in one.shapes)
    return body(one.mass, turn @ np.array(one.com) + shift, turn @ one.central_inertia @ turn.T, shapes)


def combined(parts: Iterable[Body]) -> Body:
    """One body of several that are fixed to each other."""
    listed = list(parts)
    mass = sum(part.mass for part in listed)
    shapes = tuple(shape for part in listed for shape in part.shapes or ()) or None
    if mass == 0.0:
        return body(0.0, np.array(listed[0].com), np.sum([part.central_inertia for part in listed], axis=0), shapes)
    com = np.sum([part.first_moment for part in listed], axis=0) / mass
    about = [part.central_inertia + parallel_axis(part.mass, np.array(part.com) - com) for part in listed]
    return body(mass, com, np.sum(about, axis=0), shapes)


def massless(one: Body) -> bool:
    """Whether a body is only there to join two joints."""
    return one.mass == 0.0 and not np.any(one.central_inertia)


def extent(points: Iterable[Iterable[float]]) -> float:
    """Diagonal [m] of the bounding box of points (n, 3); 1 if they are all one point, or none."""
    array = np.array(list(points), dtype=float).reshape(-1, 3)
    return float(np.linalg.norm(np.ptp(array, axis=0))) or 1.0 if len(array) else 1.0


def axes_of(joint: ChainJoint) -> list[Array]:
    """The axes (3,) of a joint at home, base frame: two of a universal joint, none of a spherical or fixed one."""
    return [np.array(axis) for axis in joint.axes or ((joint.axis,) if joint.axis is not None else ())]


# ----------------------------------------------------------------------------------------------------------------------
# The linkage of a robot, of any leg kind: its bodies and joints at home, from where the legs place them.

PLATFORM = "platform"
_LIMITS = ("max_force", "max_speed", "rms_force", "max_acceleration", "max_power", "force_speed", "max_stroke")


def linkage_of(robot: Robot) -> Linkage:
    """Bodies and joints of a rigid robot at home; names of a leg's parts start with its name (``leg1-rod``).

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    Linkage
        Bodies and joints.

    Raises
    ------
    InputError
        If the platform is flexible.

    Examples
    --------
    >>> from polypod.files import load
    >>> linkage = linkage_of(load("hexapod"))
    >>> len(linkage.bodies), len(linkage.joints), linkage.joints[1].name
    (14, 18, 'leg1-prismatic')
    """
    if robot.flexible:
        raise InputError(
            f"robot: {robot.name!r} has a flexible platform, which other programs' files cannot represent; {AS_RIGID}"
        )
    pulling = [leg.name for leg in robot.legs if leg.kind == "cable"]
    if pulling:
        raise InputError(
            f"robot: {', '.join(pulling)} are cables, which pull only; bodies and joints of other programs' files "
            "would push too. Export functions (C, C++, JavaScript) or an FMU instead",
            code="cables",
        )
    home = robot.home.matrix
    bodies = {BASE: EMPTY_BODY, PLATFORM: moved(robot.loaded_platform, home)}
    joints: list[ChainJoint] = []
    for leg in robot.legs:
        if isinstance(leg, Chain):
            own, held = chain_parts(leg)
            bodies |= own
            joints += held
        else:
            placed = _Placed(leg, home)
            bodies |= placed.bodies()
            joints += placed.joints()
    return Linkage(
        robot.name,
        bodies,
        tuple(joints),
        {PLATFORM: Mark(PLATFORM, home)},
        gravity=robot.gravity,
        platform=PLATFORM,
        relations=tuple(relation for leg in robot.legs if isinstance(leg, Chain) for relation in _linked(leg)),
    )


def _linked(leg: Chain) -> list[LinkedRelation]:
    """Relations of a general leg, its name in front of those of its joints."""
    return [
        LinkedRelation(
            f"{leg.name}-{relation.name}",
            tuple(
                LinkedTerm(f"{leg.name}-{leg.joints[number].name}", motion, float(factor))
                for (number, motion), factor in relation.terms
            ),
        )
        for relation in leg.relations
    ]


def with_shapes(linkage: Linkage, robot: Robot) -> Linkage:
    """The linkage of a robot, its bodies with the shapes that drawings of the robot have, base frame at home."""
    frames, bodies = samples_of(robot).frames[0], dict(linkage.bodies)
    found: dict[str, list[Any]] = {}
    for shape in shapes_of(robot):
        leg = robot.legs[shape.leg].name if shape.body > 1 else ""
        name = f"{leg}-{shape.name[len(leg) + 1 :]}" if leg else shape.name
        found.setdefault(name, []).append(as_file_shape(shape, frames[shape.body]))
    for name, one in bodies.items():
        bodies[name] = one.model_copy(update={"shapes": tuple(found.get(name, ())), "radius": None})
    return replace(linkage, bodies=bodies)


def chain_parts(leg: Chain) -> tuple[dict[str, Body], list[ChainJoint]]:
    """Bodies and joints of a general leg, its name in front of theirs."""
    bodies = {f"{leg.name}-{name}": moved(one, np.eye(4)) for name, one in leg.bodies.items()}
    joints = [
        changed(j, name=f"{leg.name}-{j.name}", between=tuple(_named(leg.name, n) for n in j.between), **_rotor(j))
        for j in leg.joints
    ]
    return bodies, joints


def _rotor(joint: ChainJoint) -> dict[str, Any]:
    """A motor's inertia behind a screw or gear as inertia of the coordinate, which other programs know."""
    return {} if joint.rotor_inertia is None else {"rotor": joint.rotor + joint.reflected, "rotor_inertia": None}


def _named(leg: str, name: str) -> str:
    return name if name in (BASE, PLATFORM) else f"{leg}-{name}"


class _Placed:
    """A leg that states where its bodies are, in numbers at home."""

    def __init__(self, leg: Any, home: Array) -> None:
        self.leg = leg
        tip = Frame.symbols("tip")
        self.placement: Placement = leg.place(tip)
        arm = home[:3, :3] @ np.array(leg.attachment(home[:3, 3], home[:3, :3]), dtype=float)
        self._inputs = ca.vertcat(tip.origin, ca.vec(tip.axes))
        self._home = np.r_[home[:3, 3] + arm, home[:3, :3].T.ravel()]

    def _number(self, value: Any) -> Array:
        expression, u = ca.SX(value), self.placement.unknowns
        if u is not None:
            still = ca.SX.zeros(u.move.numel())
            expression = ca.substitute(expression, ca.vertcat(u.place, u.move), ca.vertcat(u.home, still))
        internal = self.placement.internal
        expression = ca.substitute(expression, internal, ca.SX.zeros(internal.numel()))
        return np.array(ca.Function("at_home", [self._inputs], [ca.densify(expression)])(self._home))

    def bodies(self) -> dict[str, Any]:
        found = {}
        for placed in self.placement.bodies:
            frame = pose_of(self._number(placed.frame.axes), self._number(placed.frame.origin).ravel())
            inertia = placed.moments
            mass = float(self._number(inertia.mass).item())
            com, tensor = self._number(inertia.com).ravel(), self._number(inertia.central_tensor)
            found[_named(self.leg.name, placed.name)] = moved(body(mass, com, tensor), frame)
        return found

    def joints(self) -> list[ChainJoint]:
        found = []
        for placed in self.placement.bodies:
            if placed.on:
                at = self._number(placed.frame.origin).ravel()
                found.append(self._joint(f"{placed.name} on {placed.on}", "fixed", (placed.on, placed.name), at))
        for joint in self.placement.joints:
            at = self._number(joint.point).ravel()
            axes = [tuple(self._number(axis).ravel().tolist()) for axis in joint.axes]
            ends = (joint.parent, joint.child)
            friction = {"friction": get(self.leg, joint.friction)} if joint.friction else {}
            if joint.kind == "universal" and joint.cross_body:
                middle = joint.cross_body
                first = self._joint(f"{joint.name} 1", "revolute", (ends[0], middle), at, axis=axes[0], **friction)
                second = self._joint(f"{joint.name} 2", "revolute", (middle, ends[1]), at, axis=axes[1], **friction)
                found += [first, second]
                continue
            data: dict[str, Any] = dict(friction)
            if joint.kind == "universal":
                data["axes"] = tuple(axes)
            elif joint.kind in ("revolute", "prismatic"):
                data["axis"] = axes[0]
                data |= self._drive(joint.name)
                if joint.normals:
                    data["guide_normal"] = tuple(self._number(joint.normals[0]).ravel().tolist())
            found.append(self._joint(joint.name, joint.kind, ends, at, **data))
        return found

    def _joint(self, name: str, kind: str, ends: tuple[str, str], at: Array, **data: Any) -> ChainJoint:
        between = tuple(_named(self.leg.name, end) for end in ends)
        named = {"name": f"{self.leg.name}-{name}", "kind": kind, "between": between, "at": tuple(at.tolist())}
        return checked_joint({**named, **data})

    def _drive(self, joint: str) -> dict[str, Any]:
        actuator = self.placement.actuator_of(joint)
        if actuator is None:
            return {}
        offset, ratio = (float(self._number(value).item()) for value in (actuator.coordinate, actuator.ratio))
        data: dict[str, Any] = {"actuated": True, "offset": offset, "ratio": ratio}
        data["rotor"] = float(self._number(actuator.rotor).item())
        for limit in self.placement.limits:
            if ca.is_equal(limit.value, actuator.coordinate, 10):
                low, high = (float(self._number(value).item()) for value in (limit.low, limit.high))
                if low <= offset <= high:
                    data["range"] = (low, high)
        drive = self.leg.drive(actuator.name)
        return data | {name: value for name in _LIMITS if (value := getattr(drive, name)) is not None}


# ----------------------------------------------------------------------------------------------------------------------
# Which body is the platform, what is between it and the base, and which legs that makes.


def choose_platform(linkage: Linkage, wanted: str | None) -> tuple[Mark, str]:
    """Body and frame of the platform, by the name of a body or of a frame on one, and how it was chosen."""
    name = wanted or linkage.platform
    if name is not None:
        if name not in linkage.marks:
            raise UnknownNameError("platform", name, tuple(linkage.marks))
        mark = linkage.marks[name]
        if mark.body == BASE:
            raise InputError(f"platform: {name!r} does not move; choose a body in a loop")
        return mark, "given" if wanted else "named by the file"
    candidates = [body for body in linkage.bodies if body != BASE]
    if not candidates:
        raise InputError("no body moves: all are fixed to the base")
    named = {mark.body: name for name, mark in reversed(list(linkage.marks.items())) if mark.only}
    far, loops = joint_distances(linkage.joints), joints_in_loops(linkage.joints)
    measure = {
        body: (
            len([joint for joint in loops if body in joint.between]),
            far.get(body, -1),
            body in named,
            linkage.bodies[body].mass,
        )
        for body in candidates
    }
    best = max(candidates, key=lambda body: measure[body])
    if off_path(linkage, best):  # an ankle or a wrist below it: the last body of all is the platform
        best = max(ends_of_all(linkage) or [best], key=lambda body: measure[body])
    why = (
        f"proposed: {measure[best][0]} joints of loops are on it and it is {measure[best][1]} joints away from the base"
        + (f", with the frame {named[best]} on it" if best in named else "")
        + "; platform= chooses another body or frame"
    )
    return linkage.marks[named.get(best, best)], why


def ends_of_all(linkage: Linkage) -> set[str]:
    """Bodies that, as the platform, leave no joint off the paths from the base to it."""
    return {body for body in linkage.bodies if body != BASE and not off_path(linkage, body)}


def off_path(linkage: Linkage, platform: str) -> list[ChainJoint]:
    """Joints that are on no path from the base to a platform and turn with none that is."""
    return [joint for joint in dangling_joints(linkage.joints, platform) if joint.name not in linkage.coupled]


def joints_in_loops(joints: Iterable[ChainJoint]) -> list[ChainJoint]:
    """Joints that are part of a loop: their two bodies stay connected without them."""
    listed = list(joints)
    pairs = [joint.between for joint in listed]
    return [
        joint
        for number, joint in enumerate(listed)
        if joint.between[1] in reached_bodies(pairs[:number] + pairs[number + 1 :], {joint.between[0]})
    ]


def dangling_joints(joints: Iterable[ChainJoint], platform: str) -> list[ChainJoint]:
    """Joints on no path between base and platform: taking one body away cuts their bodies off from both."""
    listed = list(joints)
    ends = {BASE, platform}
    bodies = {name for joint in listed for name in joint.between}
    kept = bodies - ends
    for cut in bodies:
        rest = [joint.between for joint in listed if cut not in joint.between]
        kept &= reached_bodies(rest, ends - {cut}) | {cut}
    return [joint for joint in listed if not set(joint.between) <= kept | ends]


def reached_bodies(pairs: list[tuple[str, str]], start: set[str]) -> set[str]:
    """Bodies connected by joints (``pairs`` of bodies) to those of ``start``, which are among them."""
    neighbours: dict[str, list[str]] = {}
    for a, b in pairs:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    found, waiting = set(start), list(start)
    while waiting:
        new = [name for name in neighbours.get(waiting.pop(), ()) if name not in found]
        found.update(new)
        waiting += new
    return found


def legs_between(
    joints: Iterable[ChainJoint], platform: str, relations: Iterable[LinkedRelation] = ()
) -> list[list[ChainJoint]]:
    """Joints by leg: a leg is a connected component of what is left without base and platform, couplings joining."""
    legs: list[tuple[set[str], list[ChainJoint]]] = []
    tied: dict[str, set[str]] = {}
    for relation in relations:
        for term in relation.terms:
            tied.setdefault(term.joint, set()).add(f"coupling {relation.name}")
    for joint in joints:
        inner = set(joint.between) - {BASE, platform}
        inner |= tied.get(joint.name, set())
        touched = [leg for leg in legs if leg[0] & inner]
        merged = (inner.union(*(leg[0] for leg in touched)), [j for leg in touched for j in leg[1]] + [joint])
        place = min((legs.index(leg) for leg in touched), default=len(legs))
        legs = [leg for leg in legs if leg not in touched]
        legs.insert(place, merged)
    order = {joint.name: k for k, joint in enumerate(joints)}
    return [sorted(leg, key=lambda joint: order[joint.name]) for _, leg in legs]


def joint_distances(joints: Iterable[ChainJoint]) -> dict[str, int]:
    """For every body connected to the base the number of joints on the shortest path to it."""
    listed, found, front = list(joints), {BASE: 0}, [BASE]
    while front:
        after = []
        for joint in listed:
            for here, there in (joint.between, joint.between[::-1]):
                if here in front and there not in found:
                    found[there] = found[here] + 1
                    after.append(there)
        front = after
    return found
