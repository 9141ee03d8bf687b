"""URDF with loops: beside it in ``robot.yaml`` as Gepetto's examples have them, or as elements of the file.

The tree at zero is the drawing; the root link is the base. A pair in ``closed_loop`` names two frames (links, or joints
for the frame behind them) that meet in a point (``3d``), turn against each other about their z axes (``5d``) or are
fixed to each other (``6d``). Joints of ``joint_name`` are of another type than URDF can say. Elements that close loops
are ``loop`` (URDF+, grbda), ``constraint`` (proposed for urdfdom) and ``loop_joint`` (Isaac Sim); couplings are
``mimic`` and ``coupling`` (URDF+).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from pydantic import BaseModel, ConfigDict, ValidationError

from ..arrays import Array
from ..description import Body
from ..errors import InputError, RobotFileError, plain, short_repr
from ..files import documents
from ..legs.chain import ChainJoint
from ..yaml12 import YamlTextError, read_yaml
from .embedded import EmbeddedRobot, digest, embedded_robot
from .linkage import (
    BASE,
    EMPTY_BODY,
    IGNORED,
    Linkage,
    LinkedRelation,
    LinkedTerm,
    Mark,
    axes_about,
    body,
    checked_joint,
    moved,
    pose_of,
)
from .xml_file import numbers_of, read_xml

_COUPLED = {"revolute": "rotation", "prismatic": "translation"}
_KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
_KNOWN = {
    "robot": {"link", "joint", "material", "transmission", "gazebo", "coupling", "loop", "constraint", "loop_joint",
              "ros2_control"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
              "joint_properties"},
    "loop": {"predecessor", "successor", "axis"},
    "constraint": {"parent", "parent_origin", "parent_axis", "child", "child_origin", "child_axis"},
    "loop_joint": {"link1", "link2", "axis"},
    "coupling": {"predecessor", "successor", "ratio"},
}  # fmt: skip
_LOOP_KINDS = {**_KINDS, "spherical": "spherical", "ball": "spherical", "universal": "universal"}
_PAIRS = {"3d": "spherical", "5d": "revolute", "6d": "fixed"}
CARRIED: tuple[str, ...] = ()
"""Fields that a URDF and the file beside it say beyond what URDF has."""
INERTIA_ENTRIES = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
"""Entries of an inertia tensor by their names in URDF and SDF."""
NO_LIMIT = 1e6
"""Limits of this size [m, rad, N, ...] and above mean none."""
_FRAME = 1e-6
"""Mass [kg] up to which a link is there to mark a place."""


def read(path: Path, loops: Path | None = None) -> Linkage:
    """The linkage of a URDF file, loops closed as far as they are at zero."""
    root = read_xml(path)
    if root.tag != "robot":
        raise InputError(f"{path}: a URDF file needs a <robot>, this one has a <{root.tag}>")
    return _File(root, parse_loops(read_mapping(path, loops)), path).linkage()


def embed_robot(root: ET.Element, side: dict[str, Any], robot_file: str) -> dict[str, Any]:
    """The data of the file beside a URDF tree, with a robot file and the digest of both files added."""
    own = {**side["polypod"], "robot": robot_file}
    return side | {"polypod": own | {"digest": digest(root, side | {"polypod": own})}}


def read_embedded(path: Path, loops: Path | None = None) -> EmbeddedRobot | None:
    """The robot file that is embedded in the file beside a URDF, if one is."""
    root = read_xml(path)
    side = read_mapping(path, loops)
    own = dict(side.get("polypod") or {})
    written = own.pop("digest", None)
    return embedded_robot(own.get("robot"), written == digest(root, side | {"polypod": own}))


class _File:
    """One file: links by name with their frames at zero, joints, loops."""

    def __init__(self, root: ET.Element, loops: LoopsFile, path: Path) -> None:
        self.root, self.loops, self.path = root, loops, path
        self.links = {_name(link): link for link in root.findall("link")}
        for kind in ("link", "joint"):
            names = [_name(part) for part in root.findall(kind)]
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise InputError(f"{path}: {kind} {twice[0]!r} appears twice; names must be unique")
        self.remarks = _unknown(root)
        self.motors = loops.name_mot
        self.types = dict(zip(loops.joint_name, loops.joint_type, strict=True))
        joints = root.findall("joint")
        children: set[str] = set()
        for joint in joints:
            child = _link(joint, "child")
            if child not in self.links:
                raise InputError(
                    f"{path}: joint {_name(joint)}: its child link {child!r} does not exist; name a <link> of the file"
                )
            if child in children:
                raise InputError(
                    f"{path}: link {child!r} is the child of two joints, but URDF is a tree; give the loop in a "
                    "separate file (closed_loop) or as <loop>"
                )
            children.add(child)
        roots = [name for name in self.links if name not in children]
        if len(roots) != 1:
            raise InputError(f"{path}: a tree must have one root link, this file has {len(roots)}: {', '.join(roots)}")
        self.base = roots[0]
        self.frames = {self.base: np.eye(4)}
        waiting = list(joints)
        while waiting:
            ready = [joint for joint in waiting if _link(joint, "parent") in self.frames]
            if not ready:
                raise InputError(f"{path}: joints not connected to the root: {', '.join(map(_name, waiting))}")
            for joint in ready:
                self.frames[_link(joint, "child")] = self.frames[_link(joint, "parent")] @ _origin(joint)
                waiting.remove(joint)
        for name in self.motors:
            if name not in {_name(joint) for joint in joints}:
                raise InputError(f"{path}: name_mot has {name!r}, which is not a joint of the file")

    def linkage(self) -> Linkage:
        bodies: dict[str, Body] = {BASE: EMPTY_BODY}
        marks = {}
        for name, link in self.links.items():
            key = self._key(name)
            own = _inertial(link)
            marks[name] = Mark(key, self.frames[name], only=own.mass <= _FRAME)
            if key != BASE:
                bodies[key] = moved(own, self.frames[name])
        joints: list[ChainJoint] = []
        behind = dict(marks)
        for joint in self.root.findall("joint"):
            joints.append(self._joint(joint))
            behind.setdefault(_name(joint), marks[_link(joint, "child")])
        seats: dict[str, tuple[Array, Array]] = {}
        for number, (pair, kind) in enumerate(zip(self.loops.closed_loop, self.loops.type, strict=True)):
            self._closure(number, pair, kind, behind, joints, seats)
        for ends in self._loop_elements():
            if ends.name in behind:
                raise InputError(
                    f"{self.path}: {ends.name!r} is a loop and a link or joint; names must be unique", code="loop_name"
                )
            joints.append(_closing(ends))
            seats[ends.name] = ends.one.pose, ends.two.pose
        extra = self.loops.polypod
        name = re.sub(r"[^\w-]+", "-", self.root.get("name") or self.path.stem)
        ordered, remarks = self._motors_in_order(joints), tuple(self.remarks)
        origin, relations = self.path.name, self._relations(ordered)
        return Linkage(
            name, bodies, ordered, marks, seats, extra.gravity, extra.platform, origin, remarks, relations=relations
        )

    def _relations(self, joints: Sequence[ChainJoint]) -> tuple[LinkedRelation, ...]:
        """What <mimic> says: position = multiplier x that of another joint."""
        kinds, found = {joint.name: joint.kind for joint in joints}, []
        for joint in self.root.findall("joint"):
            mimic, name = joint.find("mimic"), _name(joint)
            if mimic is None:
                continue
            other = mimic.get("joint", "")
            if kinds.get(other) not in _COUPLED or kinds.get(name) not in _COUPLED:
                raise InputError(
                    f"joint {name}: it mimics {other!r}; both must be revolute, continuous or prismatic joints of the "
                    "file",
                    code="gear",
                )
            if _number(mimic, "offset"):
                raise InputError(
                    f"joint {name}: it mimics {other} with an offset of {_number(mimic, 'offset'):g}, so the position "
                    "as drawn is none that it can have; turn its origin by the offset, and leave it out",
                    code="gear",
                )
            slope = _number(mimic, "multiplier") if mimic.get("multiplier") is not None else 1.0
            one, two = (LinkedTerm(k, _COUPLED[kinds[k]], f) for k, f in ((name, 1.0), (other, -slope)))
            found.append(LinkedRelation(f"{name} mimics {other}", (one, two)))
        return (*found, *(self._coupling(one, kinds) for one in self.root.findall("coupling")))

    def _coupling(self, coupling: ET.Element, kinds: Mapping[str, str]) -> LinkedRelation:
        """A gear of URDF+: ratio x (joints to the predecessor) = joints to the successor, from where they part."""
        name, ways = _name(coupling), []
        for side in ("predecessor", "successor"):
            part = coupling.find(side)
            link = None if part is None else part.get("link")
            if link not in self.links:
                raise InputError(
                    f"coupling {name}: its {side} needs link=, one of {', '.join(self.links)}; got {link!r}",
                    code="gear",
                )
            ways.append(joints_to(str(link), self.root))
        ratio = coupling.find("ratio")
        if ratio is None or not _number(ratio, "value"):
            raise InputError(f'coupling {name}: it needs <ratio value="6.0"/>, a number that is not 0', code="gear")
        apart = [[one for one in way if one not in ways[1 - k] and kinds[one] != "fixed"] for k, way in enumerate(ways)]
        odd = [one for way in apart for one in way if kinds[one] not in _COUPLED]
        if odd or not all(apart):
            what = f"{odd[0]} is {kinds[odd[0]]}" if odd else "no joint moves one of its links against the other"
            raise InputError(
                f"coupling {name}: {what}; it couples revolute, continuous and prismatic joints on the ways to its two "
                "links from the body where these part",
                code="gear",
            )
        factors = (_number(ratio, "value"), -1.0)
        terms = [LinkedTerm(one, _COUPLED[kinds[one]], factor)
                 for way, factor in zip(apart, factors, strict=True) for one in way]  # fmt: skip
        return LinkedRelation(name, tuple(terms))

    def _key(self, link: str) -> str:
        if link == self.base:
            return BASE
        return f"{link}_link" if link == BASE else link

    def _actuated(self, joint: ET.Element) -> bool:
        if self.motors:
            return _name(joint) in self.motors
        if joint.get("independent") is not None or any(self.root.find(tag) is not None for tag in ("loop", "coupling")):
            return joint.get("independent", "true").lower() != "false"
        named = [one.get("name") for one in self.root.findall("transmission/joint")]
        controlled = [one.get("name") for one in self.root.findall("ros2_control/joint") if _is_commanded(one)]
        return _name(joint) in (*named, *controlled)

    def _joint(self, joint: ET.Element) -> ChainJoint:
        name, kind = _name(joint), joint.get("type", "")
        parent, child = self._key(_link(joint, "parent")), self._key(_link(joint, "child"))
        frame = self.frames[_link(joint, "child")]
        common: dict[str, Any] = {"name": name, "between": (parent, child), "at": _list(frame[:3, 3])}
        special = self.types.get(name)
        if special is not None and special.upper() in ("SPHERICAL", "FIXED"):
            return checked_joint(common | {"kind": special.lower()})
        if special is not None:
            match = re.fullmatch(r"UJOINT_([XYZ])([XYZ])", special.upper())
            if match is None:
                raise InputError(
                    f"joint_type: {special!r} of {name} is unknown; known: SPHERICAL, FIXED, UJOINT_XY and alike"
                )
            axes = tuple(_list(frame[:3, "XYZ".index(letter)]) for letter in match.groups())
            return checked_joint(common | {"kind": "universal", "axes": axes})
        if kind not in _KINDS:
            raise InputError(f"joint {name}: type {kind!r} is not supported; known: {', '.join(_KINDS)}")
        data = common | {"kind": _KINDS[kind]}
        if kind != "fixed":
            data["axis"] = _list(frame[:3, :3] @ _axis(joint))
            data |= self._numbers(joint, kind)
        return checked_joint(data)

    def _numbers(self, joint: ET.Element, kind: str) -> dict[str, Any]:
        """Friction, limits and what an actuator has."""
        data: dict[str, Any] = {}
        dynamics, limit = joint.find("dynamics"), joint.find("limit")
        if dynamics is not None:
            friction = {"viscous": _number(dynamics, "damping"), "drag": _number(dynamics, "friction")}
            if any(friction.values()):
                data["friction"] = friction
        actuated = self._actuated(joint)
        if limit is not None and kind != "continuous":
            low, high = _number(limit, "lower"), _number(limit, "upper")
            if low < high and max(-low, high) < NO_LIMIT:
                data["range"] = (low, high)
            elif low < high and min(-low, high) < NO_LIMIT:
                self.remarks.append(f"joint {_name(joint)}: its one-sided limit was left out")
        if actuated:
            motor = self.loops.polypod.motors.get(_name(joint), Motor())
            limits = (0.0 if limit is None else _number(limit, name) for name in ("effort", "velocity"))
            data |= motor.applied(data.get("range"), *limits)
        return data

    def _closure(
        self,
        number: int,
        pair: tuple[str, str],
        kind: str,
        marks: dict[str, Mark],
        joints: list[ChainJoint],
        seats: dict[str, tuple[Array, Array]],
    ) -> None:
        kind = kind.lower()
        if kind not in _PAIRS:
            raise InputError(
                f"type: loops are '3d' (a point), '5d' (a hinge about both z axes) or '6d' (fixed), got {kind!r}"
            )
        for name in pair:
            if name not in marks:
                raise InputError(f"closed_loop: no link or joint is called {name!r}")
        one, two = (marks[name] for name in pair)
        name = f"loop{number + 1}"
        if kind == "5d":  # frames of hinges have the axis first
            one, two = (mark._replace(pose=mark.pose @ _frame_about(np.array([0.0, 0.0, 1.0]))) for mark in (one, two))
        joints.append(_closing(_Ends(name, _PAIRS[kind], one, two)))
        seats[name] = one.pose, two.pose

    def _loop_elements(self) -> Iterator[_Ends]:
        """The loops that elements of the file close: origins and axes in the frames of two links."""
        for loop in self.root.findall("loop"):
            sides = [loop.find("predecessor"), loop.find("successor")]
            yield self._ends(loop, sides, [_pose(side) for side in sides], [_axis(loop)] * 2)
        for loop in self.root.findall("constraint"):
            if self._is_listed(loop):
                continue
            parts = [[loop.find(f"{side}{what}") for what in ("", "_origin", "_axis")] for side in ("parent", "child")]
            axes = [_axis(loop, axis) for _, _, axis in parts]
            yield self._ends(loop, [side for side, *_ in parts], [_place(origin) for _, origin, _ in parts], axes)
        for loop in self.root.findall("loop_joint"):
            sides = [loop.find("link1"), loop.find("link2")]
            yield self._ends(loop, sides, [_place(side) for side in sides], [_axis(loop)] * 2)

    def _is_listed(self, loop: ET.Element) -> bool:
        """Whether the file beside has the loop too, as polypod writes both."""
        found = [str(getattr(loop.find(side), "attrib", {}).get("link")) for side in ("parent", "child")]
        return any(set(found) == set(pair) for pair in self.loops.closed_loop)

    def _ends(
        self, loop: ET.Element, sides: Sequence[ET.Element | None], places: Sequence[Array], axes: Sequence[Array]
    ) -> _Ends:
        name, kind = _name(loop), loop.get("type", "revolute").lower()
        if kind not in _LOOP_KINDS:
            known = ", ".join(_LOOP_KINDS)
            raise InputError(f"{loop.tag} {name}: type {kind!r} is not supported; known: {known}", code="loop_type")
        marks = []
        for side, place, axis in zip(sides, places, axes, strict=True):
            link = None if side is None else side.get("link")
            if link not in self.links:
                raise InputError(
                    f"{loop.tag} {name}: both its ends need link=, one of {', '.join(self.links)}; got {link!r}",
                    code="loop_link",
                )
            turned = _LOOP_KINDS[kind] in ("revolute", "prismatic", "universal")
            turn = _frame_about(axis) if turned else np.eye(4)
            marks.append(Mark(self._key(str(link)), self.frames[str(link)] @ place @ turn))
        return _Ends(name, _LOOP_KINDS[kind], *marks)

    def _motors_in_order(self, joints: list[ChainJoint]) -> tuple[ChainJoint, ...]:
        """Joints with the driven ones in the order of name_mot, in the places they have in the file."""
        if not self.motors:
            return tuple(joints)
        driven = iter(sorted((j for j in joints if j.actuated), key=lambda j: self.motors.index(j.name)))
        return tuple(next(driven) if joint.actuated else joint for joint in joints)


class _Ends(NamedTuple):
    """A joint that closes a loop: its kind, and its frame on either body, the axis first."""

    name: str
    kind: str
    one: Mark
    two: Mark


def _closing(ends: _Ends) -> ChainJoint:
    name, kind, one, two = ends
    data: dict[str, Any] = {"name": name, "kind": kind, "between": (one.body, two.body), "at": _list(one.pose[:3, 3])}
    if kind in ("revolute", "prismatic"):
        data["axis"] = _list(one.pose[:3, 0])
    if kind == "universal":
        data["axes"] = (_list(one.pose[:3, 0]), _list(two.pose[:3, 0]))
    return checked_joint(data)


def _inertial(link: ET.Element) -> Body:
    """A link's body in its own frame."""
    part = link.find("inertial")
    if part is None:
        return EMPTY_BODY
    where = _origin(part)
    mass, moments = part.find("mass"), part.find("inertia")
    tensor = np.zeros((3, 3))
    if moments is not None:
        for key, (i, j) in INERTIA_ENTRIES.items():
            tensor[i, j] = tensor[j, i] = _number(moments, key)
    value = 0.0 if mass is None else _number(mass, "value")
    if value < 0.0:
        raise InputError(f"link {_name(link)}: its mass must be at least 0 kg, got {value}")
    return moved(body(value, np.zeros(3), tensor), where)


def _unknown(root: ET.Element) -> list[str]:
    """What elements were passed over, with their number."""
    found: dict[str, int] = {}
    for element in (root, *(part for tag in _KNOWN if tag != "robot" for part in root.findall(tag))):
        for child in element:
            if child.tag not in _KNOWN[element.tag]:
                key = f"<{child.tag}> in <{element.tag}>"
                found[key] = found.get(key, 0) + 1
    return [f"{key}: {count} {IGNORED}" for key, count in found.items()]


def _is_commanded(joint: ET.Element) -> bool:
    """Whether a joint of ros2_control takes commands and mimics no other."""
    mimics = [one for one in joint.findall("param") if one.get("name") == "mimic"]
    return joint.find("command_interface") is not None and not mimics


def _name(element: ET.Element) -> str:
    name = element.get("name")
    if not name:
        raise InputError(f"a <{element.tag}> has no name")
    return name


def joints_to(link: str, root: ET.Element) -> list[str]:
    """Joints from the root of a file to a link."""
    holders = {_link(joint, "child"): joint for joint in root.findall("joint")}
    found: list[str] = []
    while link in holders:
        found.append(_name(holders[link]))
        link = _link(holders[link], "parent")
    return found[::-1]


def _link(joint: ET.Element, role: str) -> str:
    part = joint.find(role)
    if part is None or not part.get("link"):
        raise InputError(f"joint {_name(joint)}: its {role} needs link=")
    return str(part.get("link"))


def _number(element: ET.Element, key: str) -> float:
    return float(numbers_of(element.get(key, "0"), 1, f"<{element.tag} {key}=>")[0])


def _origin(element: ET.Element) -> Array:
    return _place(element.find("origin"))


def _pose(element: ET.Element | None) -> Array:
    return np.eye(4) if element is None else _origin(element)


def _place(part: ET.Element | None) -> Array:
    """The pose (4, 4) that an element has in xyz= and rpy=."""
    if part is None:
        return np.eye(4)
    xyz = numbers_of(part.get("xyz", "0 0 0"), 3, "<origin xyz=>")
    rpy = numbers_of(part.get("rpy", "0 0 0"), 3, "<origin rpy=>")
    return pose_of(scipy.spatial.transform.Rotation.from_euler("xyz", rpy).as_matrix(), xyz)


def _axis(element: ET.Element, part: ET.Element | None = None) -> Array:
    part = element.find("axis") if part is None else part
    axis = np.array([1.0, 0.0, 0.0]) if part is None else numbers_of(part.get("xyz", "1 0 0"), 3, "<axis xyz=>")
    if not np.linalg.norm(axis) > 0.0:
        raise InputError(f"<{element.tag} {element.get('name')}>: its axis is zero")
    return np.asarray(axis / np.linalg.norm(axis))


def _frame_about(axis: Array) -> Array:
    return pose_of(axes_about(axis), np.zeros(3))


def _list(values: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


# ----------------------------------------------------------------------------------------------------------------------
# The file beside a URDF with what URDF cannot say: loops and motors as in Gepetto's examples, and polypod's own data.
#
# ``closed_loop`` are pairs of frames that a loop of ``type`` 3d (a point) or 6d (fixed) closes, ``name_mot`` the
# actuated
# joints, ``joint_name`` and ``joint_type`` joints of another type than URDF has. ``polypod`` is what import needs
# beyond.

SUFFIX = "-loops.yaml"
"""End of the file's name, after that of the URDF itself; ``robot.yaml`` is another."""


class Motor(BaseModel):
    """What a URDF does not say of an actuated joint, with the units of a chain's joint."""

    model_config = ConfigDict(extra="forbid")

    offset: float = 0.0
    ratio: float = 1.0
    rotor: float = 0.0
    max_force: float | None = None
    max_speed: float | None = None

    def applied(self, range: tuple[float, float] | None, effort: float, velocity: float) -> dict[str, Any]:
        """Fields of a chain's actuated joint whose element has limits of its position, effort and speed."""
        data: dict[str, Any] = {"actuated": True, **self.model_dump(exclude_defaults=True)}
        ratio = abs(self.ratio) or 1.0
        for field, value, factor in (("max_force", effort, 1 / ratio), ("max_speed", velocity, ratio)):
            # the element's counts where both are there, and the motor's where it is the same to rounding
            same = abs(factor * value - data.get(field, 0.0)) <= 1e-12 * factor * value
            if 0.0 < value < NO_LIMIT and not same:
                data[field] = factor * value
        if range is not None:
            data["range"] = tuple(sorted(self.ratio * limit + self.offset for limit in range))
        return data


class OwnData(BaseModel):
    """What polypod writes for itself: the name of the platform's frame, gravity [m/s^2], motors by joint."""

    platform: str | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    motors: dict[str, Motor] = {}


class LoopsFile(BaseModel):
    """The whole file; other fields than these are passed over."""

    closed_loop: list[tuple[str, str]] = []
    type: list[str] = []
    name_mot: list[str] = []
    joint_name: list[str] = []
    joint_type: list[str] = []
    polypod: OwnData = OwnData()


def read_mapping(urdf: Path, given: Path | None) -> dict[str, Any]:
    """The mapping in the file beside a URDF, or in the one given; empty where there is none."""
    places = (urdf.with_name(urdf.stem + SUFFIX), urdf.with_name("robot.yaml"))
    path = given or next((one for one in places if one.is_file()), None)
    if path is None:
        return {}
    try:
        data, _ = read_yaml(documents.read(path, RobotFileError))
    except YamlTextError as error:
        raise RobotFileError(str(path), error.faults) from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be a mapping with closed_loop, type and name_mot")
    _checked(data, path)
    return data


def parse_loops(data: dict[str, Any]) -> LoopsFile:
    """The content of a mapping that ``read_mapping`` gave."""
    return LoopsFile.model_validate({name: value for name, value in data.items() if value is not None})


def _checked(data: dict[str, Any], path: Path) -> None:
    try:
        loops = parse_loops(data)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        message = plain(fault["msg"])
        if fault["type"] == "extra_forbidden":
            message = "unknown field; remove it or check its spelling"
        raise InputError(f"{path}: {field}: {message}, got {short_repr(fault['input'])}") from error
    if len(loops.closed_loop) != len(loops.type):
        raise InputError(
            f"{path}: closed_loop has {len(loops.closed_loop)} pairs but type has {len(loops.type)} entries; "
            "each pair needs a type"
        )
    if len(loops.joint_name) != len(loops.joint_type):
        raise InputError(f"{path}: joint_name and joint_type must have the same number of entries")
