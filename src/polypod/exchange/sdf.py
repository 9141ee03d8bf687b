"""SDF (Gazebo): links where they are drawn, joints of which any may close a loop.

The joints of a model close as it is drawn, so that is home. The base is the world, or the canonical link where no joint
leads to the world. SDF names no drives: a joint is actuated where a plugin that controls joints names it.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from ..arrays import Array
from ..description import Body
from ..errors import InputError, UnknownNameError
from ..legs.chain import ChainJoint
from .embedded import EmbeddedRobot, digest, embedded_robot
from .linkage import (
    BASE,
    EMPTY_BODY,
    IGNORED,
    Linkage,
    LinkedRelation,
    LinkedTerm,
    Mark,
    body,
    checked_joint,
    moved,
    pose_of,
)
from .urdf import INERTIA_ENTRIES, NO_LIMIT, Motor
from .xml_file import numbers_of, read_xml

_KINDS = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "ball": "spherical",
    "universal": "universal", "revolute2": "universal", "fixed": "fixed",
}  # fmt: skip
_MOTIONS = {"revolute": "rotation", "prismatic": "translation"}
_KNOWN = {
    "model": {"link", "joint", "frame", "pose", "plugin", "static", "self_collide", "enable_wind",
              "allow_auto_disable"},
    "link": {"inertial", "visual", "collision", "pose", "sensor", "gravity", "self_collide", "kinematic", "light",
             "must_be_base_link", "enable_wind", "velocity_decay"},
    "joint": {"axis", "axis2", "parent", "child", "pose", "sensor", "physics"},
}  # fmt: skip
CARRIED = ("stiffness",)
"""Fields that the elements state beyond a tree of joints."""
OWN = "{urn:polypod}robot"
"""Element of a model that holds the robot file; attributes are the digest of all else, and what SDF has no place for:
the frame of the platform, gravity, and by the names of driven joints what their motors have."""
ET.register_namespace("polypod", "urn:polypod")  # digests are of the text


def embed_robot(root: ET.Element, robot_file: str, platform: str, gravity: str, motors: Mapping[str, Motor]) -> None:
    """Add a robot file, what SDF has no place for, and the digest of all elements, to a finished SDF tree."""
    model = root.find("model")
    assert model is not None
    listed = {name: motor.model_dump(exclude_defaults=True) for name, motor in motors.items()}
    given = {"platform": platform, "gravity": gravity, "motors": json.dumps(listed)}
    own = ET.SubElement(model, OWN, {**given, "digest": "-"})
    own.text = robot_file
    own.set("digest", digest(root))


def read_embedded(path: Path, loops: Path | None = None) -> EmbeddedRobot | None:
    """The robot file that is embedded in an SDF file, if one is."""
    root = read_xml(path)
    own = root.find(f".//{OWN}")
    if own is None:
        return None
    written = own.get("digest")
    own.set("digest", "-")
    return embedded_robot(own.text, written == digest(root))


def read(path: Path, loops: Path | None = None) -> Linkage:
    """The linkage of an SDF file as it is drawn."""
    if loops is not None:
        raise InputError("loops: those of SDF are joints of the file itself")
    root = read_xml(path)
    if root.tag != "sdf":
        raise InputError(f"{path}: an SDF file needs a <sdf>, this one has a <{root.tag}>")
    models = root.findall("model") or root.findall("world/model")
    moving = [one for one in models if _text(one, "static", "false").lower() not in ("true", "1")]
    if len(moving) != 1:
        found = ", ".join(str(one.get("name")) for one in moving) or "none"
        raise InputError(
            f"{path}: one <model> that moves is needed, this file has {len(moving)} ({found}); leave the others out"
        )
    return _File(root, moving[0], path).linkage()


class _File:
    """One model: its frames at home by name, in its own frame, which is the base frame."""

    def __init__(self, root: ET.Element, model: ET.Element, path: Path) -> None:
        self.root, self.model, self.path = root, model, path
        for tag in ("include", "model"):
            if model.find(tag) is not None:
                raise InputError(
                    f"{path}: a <{tag}> within the model {model.get('name')!r}, which is not read; write its links and "
                    "joints into the model itself (gz sdf -p FILE)"
                )
        self.links = {_name(link): link for link in model.findall("link")}
        self.parts = {**self.links}
        for part in (*model.findall("joint"), *model.findall("frame")):
            if _name(part) in self.parts:
                raise InputError(f"{path}: {_name(part)!r} appears twice; names of a model's parts must be unique")
            self.parts[_name(part)] = part
        if len(self.links) != len(model.findall("link")):
            raise InputError(f"{path}: a link appears twice; names of a model's parts must be unique")
        if not self.links:
            raise InputError(f"{path}: the model {model.get('name')!r} has no links")
        self.remarks = [
            f"<{tag}> in <{element.tag}> {element.get('name')}: {IGNORED}"
            for element in (model, *self.links.values(), *model.findall("joint"))
            for tag in dict.fromkeys(part.tag for part in element)
            if tag not in _KNOWN[element.tag] and not tag.startswith("{") and ":" not in tag
        ]
        self._poses: dict[str, Array] = {"__model__": np.eye(4), "": np.eye(4)}
        self._under_way: list[str] = []
        self.root_link = "" if self._touches_world() else str(model.get("canonical_link") or next(iter(self.links)))
        own = model.find(OWN)
        self.own = {} if own is None else dict(own.attrib)
        self.driven = {
            str(name.text).strip(): Motor()
            for plugin in model.iter("plugin")
            if "controller" in f"{plugin.get('name')} {plugin.get('filename')}".lower()
            for name in plugin.iter("joint_name")
        } | self._own_motors()

    def linkage(self) -> Linkage:
        bodies: dict[str, Body] = {BASE: EMPTY_BODY}
        marks: dict[str, Mark] = {}
        for name, link in self.links.items():
            key = self._key(name)
            marks[name] = Mark(key, self._pose(name))
            if key != BASE:
                bodies[key] = moved(_inertial(link), self._pose(name))
        for frame in self.model.findall("frame"):
            marks.setdefault(_name(frame), Mark(self._body(_name(frame)), self._pose(_name(frame)), only=True))
        elements: list[dict[str, Any]] = []
        joints = tuple(self._joint(joint, elements) for joint in self.model.findall("joint"))
        relations = tuple(self._mimics({joint.name: joint.kind for joint in joints}))
        name = re.sub(r"[^\w-]+", "-", self.model.get("name") or self.path.stem)
        remarks, platform = tuple(self.remarks), self.own.get("platform")
        return Linkage(
            name, bodies, joints, marks, {}, self._gravity(), platform, self.path.name, remarks, relations=relations,
            elements=tuple(elements),
        )  # fmt: skip

    def _own_motors(self) -> dict[str, Motor]:
        """Driven joints as polypod wrote them."""
        try:
            listed = json.loads(self.own.get("motors", "{}"))
            return {name: Motor.model_validate(motor) for name, motor in listed.items()}
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"{self.path}: polypod:robot: motors= is damaged ({error}); export the file again"
            ) from error

    # -- frames --------------------------------------------------------------------------------------------------------

    def _touches_world(self) -> bool:
        return any("world" in (_text(j, "parent"), _text(j, "child")) for j in self.model.findall("joint"))

    def _key(self, link: str) -> str:
        if link == self.root_link:
            return BASE
        return f"{link}_link" if link == BASE else link

    def _pose(self, name: str) -> Array:
        """Pose (4, 4) of a link, joint or frame in the model."""
        if name not in self._poses:
            part = self.parts.get(name)
            if part is None:
                raise InputError(f"{self.path}: {UnknownNameError('frame', name, tuple(self.parts))}")
            if name in self._under_way:
                raise InputError(f"{self.path}: {name!r}: poses relative to each other in a circle")
            self._under_way.append(name)
            above = {"joint": _text(part, "child"), "frame": part.get("attached_to", "")}.get(part.tag, "")
            self._poses[name] = self._placed(part, above)
            self._under_way.pop()
        return self._poses[name]

    def _placed(self, part: ET.Element, above: str) -> Array:
        """Pose of what has a <pose>, relative to another frame unless it says which."""
        given = part.find("pose")
        if given is None:
            return self._pose(above)
        return self._pose(given.get("relative_to") or above) @ _pose(given)

    def _body(self, name: str) -> str:
        """The body that a link, frame or joint is fixed to."""
        if name == "world":
            return BASE
        seen: list[str] = []
        while name in self.parts and name not in self.links:
            if name in seen:
                raise InputError(f"{self.path}: {name!r}: frames attached to each other in a circle")
            seen.append(name)
            part = self.parts[name]
            name = _text(part, "child") if part.tag == "joint" else part.get("attached_to", "")
        if name in ("", "__model__"):
            return self._key(str(self.model.get("canonical_link") or next(iter(self.links))))
        if name not in self.links:
            raise InputError(f"{self.path}: {UnknownNameError('link', name, tuple(self.links))}")
        return self._key(name)

    def _gravity(self) -> tuple[float, float, float]:
        """Gravity of the file's world, in the axes of the model."""
        world = self.root.find("world")
        text = self.own.get("gravity") if world is None else world.findtext("gravity")
        gravity = np.array([0.0, 0.0, -9.81]) if text is None else numbers_of(text, 3, "<gravity>")
        placed = self.model.find("pose")
        turn = np.eye(3) if placed is None else _pose(placed)[:3, :3]
        x, y, z = (float(one) for one in turn.T @ gravity)
        return x, y, z

    # -- joints --------------------------------------------------------------------------------------------------------

    def _joint(self, joint: ET.Element, elements: list[dict[str, Any]]) -> ChainJoint:
        name, kind = _name(joint), joint.get("type", "")
        if kind not in _KINDS:
            raise InputError(f"joint {name}: type {kind!r} is not supported; known: {', '.join(_KINDS)}")
        ends = []
        for role in ("parent", "child"):
            end = _text(joint, role) or str(getattr(joint.find(role), "attrib", {}).get("link", ""))
            if not end:
                raise InputError(f"joint {name}: its {role} is missing")
            ends.append(self._body(end))
        frame = self._pose(name)
        data: dict[str, Any] = {"name": name, "kind": _KINDS[kind], "between": tuple(ends), "at": _list(frame[:3, 3])}
        axes = [axis for axis in map(joint.find, ("axis", "axis2")) if axis is not None]
        wanted = {"universal": 2, "spherical": 0, "fixed": 0}.get(_KINDS[kind], 1)
        if len(axes) < wanted:
            raise InputError(f"joint {name}: a {kind} joint needs {wanted} <axis>, got {len(axes)}")
        directions = [_list(self._direction(axis, frame, name)) for axis in axes[:wanted]]
        if wanted == 2:
            data["axes"] = tuple(directions)
            data |= self._two(axes, name)
        elif wanted:
            data["axis"] = directions[0]
            data |= self._one(axes[0], name, kind, elements)
        return checked_joint(data)

    def _direction(self, axis: ET.Element, frame: Array, name: str) -> Array:
        """Direction (3) of an axis in the model."""
        given = axis.find("xyz")
        text = "0 0 1" if given is None or given.text is None else given.text
        direction = numbers_of(text, 3, f"joint {name}: <xyz>")
        if not np.linalg.norm(direction) > 0.0:
            raise InputError(f"joint {name}: its axis is zero")
        within = None if given is None else given.get("expressed_in")
        if within:
            frame = np.eye(4) if within in ("__model__", "world") else self._pose(within)
        elif _text(axis, "use_parent_model_frame", "false").lower() in ("true", "1"):
            frame = np.eye(4)
        return np.asarray(frame[:3, :3] @ direction / np.linalg.norm(direction))

    def _one(self, axis: ET.Element, name: str, kind: str, elements: list[dict[str, Any]]) -> dict[str, Any]:
        """Friction, limits, spring and drive of a joint with one axis."""
        data = _friction(axis, name)
        low, high = _range(axis, name)
        if kind != "continuous" and max(-low, high) < NO_LIMIT:
            data["range"] = (low, high)
        elif kind != "continuous" and min(-low, high) < NO_LIMIT:
            self.remarks.append(f"joint {name}: its one-sided limit was left out")
        stiffness, rest = (_value(axis, f"dynamics/{key}", name) for key in ("spring_stiffness", "spring_reference"))
        driven = name in self.driven
        if stiffness and not rest and not driven:
            data["stiffness"] = stiffness
        elif stiffness:
            elements.append({"kind": "spring", "name": name, "joint": name, "rest": rest, "stiffness": stiffness})
        if driven:
            limits = (_value(axis, f"limit/{key}", name) for key in ("effort", "velocity"))
            data |= self.driven[name].applied(data.get("range"), *limits)
        return data

    def _two(self, axes: list[ET.Element], name: str) -> dict[str, Any]:
        """Friction and limits of a universal joint."""
        ranges = {}
        for which, axis in zip(("first", "second"), axes, strict=False):
            low, high = _range(axis, name)
            if max(-low, high) < NO_LIMIT:
                ranges[which] = (low, high)
        frictions = [_friction(axis, name) for axis in axes]
        if any(_value(axis, "dynamics/spring_stiffness", name) for axis in axes):
            self.remarks.append(f"joint {name}: springs of its two axes were left out")
        if frictions[0] != frictions[1]:
            self.remarks.append(f"joint {name}: friction of its second axis was taken as that of the first")
        return {**frictions[0], **({"ranges": ranges} if ranges else {})}

    def _mimics(self, kinds: dict[str, str]) -> Iterator[LinkedRelation]:
        """What <mimic> says: position = multiplier x (that of another joint - reference) + offset."""
        for joint in self.model.findall("joint"):
            mimic, name = joint.find("axis/mimic"), _name(joint)
            if mimic is None:
                continue
            other = mimic.get("joint", "")
            if kinds.get(other) not in _MOTIONS or kinds.get(name) not in _MOTIONS:
                raise InputError(
                    f"joint {name}: it mimics {other!r}; both must be revolute or prismatic joints", code="gear"
                )
            slope, offset, reference = (_value(mimic, key, name) for key in ("multiplier", "offset", "reference"))
            if abs(offset - slope * reference) > 1e-9:
                raise InputError(
                    f"joint {name}: it mimics {other} with an offset of {offset - slope * reference:g}, so the "
                    "position as drawn is none that it can have; draw it by the offset farther on",
                    code="gear",
                )
            terms = (LinkedTerm(name, _MOTIONS[kinds[name]], 1.0), LinkedTerm(other, _MOTIONS[kinds[other]], -slope))
            yield LinkedRelation(f"{name} mimics {other}", terms)


def _friction(axis: ET.Element, name: str) -> dict[str, Any]:
    friction = {"viscous": _value(axis, "dynamics/damping", name), "drag": _value(axis, "dynamics/friction", name)}
    return {"friction": friction} if any(friction.values()) else {}


def _range(axis: ET.Element, name: str) -> tuple[float, float]:
    """Limits of a joint's position; infinite where there are none."""
    low, high = (_value(axis, f"limit/{key}", name, end) for key, end in (("lower", -np.inf), ("upper", np.inf)))
    return (low, high) if low < high else (-np.inf, np.inf)


def _inertial(link: ET.Element) -> Body:
    """A link's body in its own frame; without <inertial> SDF means 1 kg."""
    part = link.find("inertial")
    if part is None:
        raise InputError(
            f"link {_name(link)}: it has no <inertial>, for which SDF takes 1 kg and 1 kg m^2; state its mass"
        )
    placed = part.find("pose")
    tensor = np.eye(3)
    moments = part.find("inertia")
    for key, (i, j) in INERTIA_ENTRIES.items() if moments is not None else ():
        value = _value(part, f"inertia/{key}", _name(link), 1.0 if i == j else 0.0)
        tensor[i, j] = tensor[j, i] = value
    mass = _value(part, "mass", _name(link), 1.0)
    if mass < 0.0:
        raise InputError(f"link {_name(link)}: its mass must be at least 0 kg, got {mass}")
    return moved(body(mass, np.zeros(3), tensor), np.eye(4) if placed is None else _pose(placed))


def _pose(element: ET.Element) -> Array:
    """The pose (4, 4) in a <pose>: position, then roll, pitch, yaw [rad or deg] or a quaternion x y z w."""
    format_, text = element.get("rotation_format", "euler_rpy"), element.text or ""
    if format_ == "quat_xyzw":
        values = numbers_of(text, 7, "<pose>")
        if not np.linalg.norm(values[3:]) > 0.0:
            raise InputError(f"<pose>: the quaternion is zero in {text.strip()!r}")
        turn = scipy.spatial.transform.Rotation.from_quat(values[3:])
    elif format_ == "euler_rpy":
        values = numbers_of(text or "0 0 0 0 0 0", 6, "<pose>")
        degrees = element.get("degrees", "false").lower() in ("true", "1")
        turn = scipy.spatial.transform.Rotation.from_euler("xyz", values[3:], degrees=degrees)
    else:
        raise InputError(f"<pose>: rotation_format {format_!r} is unknown; known: euler_rpy, quat_xyzw")
    return pose_of(turn.as_matrix(), values[:3])


def _value(element: ET.Element, path: str, name: str, default: float = 0.0) -> float:
    """A number within an element; infinite ones, and 1e16, which stands for them, are none."""
    text = (element.findtext(path) or "").strip()
    if not text or text.lower().lstrip("+-") in ("inf", "infinity", "1e16", "1e+16"):
        return default
    return float(numbers_of(text, 1, f"{name}: <{path}>")[0])


def _text(element: ET.Element, tag: str, default: str = "") -> str:
    return (element.findtext(tag) or default).strip()


def _name(element: ET.Element) -> str:
    name = element.get("name")
    if not name:
        raise InputError(f"a <{element.tag}> has no name")
    return name


def _list(values: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
