"""A robot as URDF, a tree, with its loops in a file beside it as Gepetto's examples have them; read back by import.

Joints that URDF lacks are hinges with massless links between them: two for a universal joint, three for a spherical
one, whose angles are then those about x, y, z in turn. A cut spherical joint is a pair of frames of type ``3d``; any
other cut joint ends in a massless link that is fixed (``6d``) to the body it joins.
Elements ``constraint`` say the same.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..exchange import linkage_of
from ..exchange.embedded import left_out
from ..exchange.linkage import BASE, LinkedRelation, massless, with_shapes
from ..exchange.urdf import INERTIA_ENTRIES, SUFFIX, Motor, embed_robot, joints_to
from ..files import dumps
from ..legs.chain import ChainJoint
from ..model import Model
from ..model.arguments import PoseLike
from ..yaml12 import to_yaml
from .joint_states import AXES, JointPlace, positions_of
from .mjcf_elements import JointLaws
from .text import add, document, file_name, mesh_name
from .tree import ElementaryJoint, Tree, elementary_joints, line_pose, roll_pitch_yaw, shapes_in, tree_of

_FREE = 1e9
"""What stands for no limit where URDF demands one."""


def export_urdf(model: Model) -> tuple[str, str]:
    """A rigid robot as URDF text, with a second file for its loops and motors.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    tree : str
        URDF text.
    side : str
        Text of the file with loops and motors.
    """
    writer = _Writer(model)
    return writer.tree_text(), writer.side_text()


def urdf_positions(model: Model, pose: PoseLike, unwrap: int | None = None) -> dict[str, Array]:
    """Joint states of the exported URDF at a pose of the platform.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4)
        Pose of the platform frame {P} in the base frame {B}.
    unwrap : int, optional
        Batch axis along which the poses are those of a motion: angles do not jump by whole turns there, but for those
        of the three hinges that a spherical joint is.

    Returns
    -------
    dict of str to ndarray, shape (...)
        Position [m or rad] of every joint of the file that moves, by its name there; zero at home.

    Examples
    --------
    >>> model = Model("delta")
    >>> len(urdf_positions(model, model.robot.home.matrix))
    24
    """
    writer = _Writer(model)
    names = [name for name, _ in writer.places]
    found = positions_of(writer.tree, model, [place for _, place in writer.places], pose, unwrap)
    return {name: found[..., k] for k, name in enumerate(names)}


def urdf_places(model: Model) -> tuple[Tree, list[tuple[str, JointPlace]]]:
    """The tree of the exported URDF, and its joints that move: their names, and what they are."""
    writer = _Writer(model)
    return writer.tree, writer.places


def urdf_files(model: Model, package: str = "", controlled: bool = False) -> dict[str, str]:
    """URDF of a robot, and the file with its loops and motors; the URDF comes last.

    Parameters
    ----------
    model : Model
        Model of the robot.
    package : str, optional
        ROS package with a mesh of every body that has shapes. Default: links look like cylinders and spheres.
    controlled : bool, optional
        Whether a ``ros2_control`` element names the driven joints, with a stand-in for the hardware.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    writer = _Writer(model, package, controlled)
    tree, side = writer.tree_text(), writer.side_text()
    name = file_name(model)
    return {f"{name}{SUFFIX}": side, f"{name}.urdf": tree}


class _Writer:
    """Elements of one robot."""

    def __init__(self, model: Model, package: str = "", controlled: bool = False) -> None:
        linkage = with_shapes(linkage_of(model.robot), model.robot)
        self.tree = tree = tree_of(linkage, whole_cuts=True, platform_frame=False)
        self.model, self.package = model, package
        self.places: list[tuple[str, JointPlace]] = []
        self.laws = JointLaws(model, has_springs=False)
        self.root = ET.Element("robot", name=tree.name)
        self.pairs: list[list[str]] = []
        self.kinds: list[str] = []
        self._looks(add(self.root, "link", name=BASE), BASE)
        for node in tree.nodes:
            self._chain(node.joint, node.parent, node.body, np.array(node.joint.at))
            self._link(node.body)
        for joint in tree.cuts:
            self._cut(joint)
        for relation in tree.relations:
            self._coupling(relation)
        self._frame(f"{tree.platform}-frame", tree.platform, model.robot.home.matrix)
        if controlled:
            self._control()

    # -- links ---------------------------------------------------------------------------------------------------------

    def _link(self, name: str) -> None:
        tree = self.tree
        link, one = add(self.root, "link", name=name), tree.bodies[name]
        if not massless(one):
            inertial = add(link, "inertial")
            add(inertial, "origin", xyz=tree.point_in_body(name, one.com), rpy="0 0 0")
            add(inertial, "mass", value=one.mass)
            tensor = tree.tensor(name)
            add(inertial, "inertia", **{key: tensor[ij] for key, ij in INERTIA_ENTRIES.items()})
        self._looks(link, name)

    def _looks(self, link: ET.Element, name: str) -> None:
        """Shapes of a link. URDF has no capsules and no plates: cylinders with a sphere at each corner, as a frame;
        with a package a mesh, and these for collisions."""
        shapes, tag = shapes_in(self.tree, name), "collision" if self.package else "visual"
        if shapes and self.package:
            file = f"package://{self.package}/meshes/{mesh_name(name)}.stl"
            add(add(add(link, "visual"), "geometry"), "mesh", filename=file)
        for shape in shapes:
            for point in shape.points:
                self._shape(link, tag, point, np.zeros(3), "sphere", radius=shape.radius)
            for start, end in pairwise([*shape.points, *(shape.points[:1] if shape.kind == "plate" else ())]):
                middle, angles, length = line_pose(start, end)
                self._shape(link, tag, middle, angles, "cylinder", radius=shape.radius, length=length)

    def _shape(self, link: ET.Element, tag: str, at: Any, angles: Any, kind: str, **sizes: float) -> None:
        element = add(link, tag)
        add(element, "origin", xyz=at, rpy=angles)
        add(add(element, "geometry"), kind, **sizes)

    def _frame(self, name: str, parent: str, pose: Any) -> None:
        """A massless link fixed to another, at a pose (4, 4) of the base frame."""
        angles = roll_pitch_yaw(pose[:3, :3])
        add(self.root, "link", name=name)
        joint = add(self.root, "joint", name=f"{name}-joint", type="fixed")
        add(joint, "parent", link=parent)
        add(joint, "child", link=name)
        add(joint, "origin", xyz=self.tree.point_in_body(parent, pose[:3, 3]), rpy=angles)

    # -- joints --------------------------------------------------------------------------------------------------------

    def _chain(self, joint: ChainJoint, parent: str, child: str, at: Any) -> None:
        """The hinges and slides that a joint is in URDF, massless links between them."""
        here, *others = elementary_joints(joint)
        where = self.tree.point_in_body(parent, at)
        for number, following in enumerate(others):
            below = f"{joint.name}-{number + 1}-link"
            add(self.root, "link", name=below)
            self._one(here, (parent, below), where, joint)
            here, parent, where = following, below, np.zeros(3)
        self._one(here, (parent, child), where, joint)

    def _one(self, part: ElementaryJoint, ends: tuple[str, str], at: Any, joint: ChainJoint) -> None:
        type_ = "continuous" if part.kind == "revolute" and part.range is None else part.kind
        element = add(self.root, "joint", name=part.name, type=type_)
        motion = part.motion or AXES[int(np.argmax(part.axis))]
        self.places.append((part.name, JointPlace(joint, motion, joint.between[1])))
        add(element, "parent", link=ends[0])
        add(element, "child", link=ends[1])
        add(element, "origin", xyz=at, rpy="0 0 0")
        add(element, "axis", xyz=part.axis)
        driven = part.has_coordinate and joint.actuated
        force = abs(joint.ratio) * joint.max_force if driven and joint.max_force is not None else _FREE
        speed = joint.max_speed / abs(joint.ratio) if driven and joint.max_speed is not None else _FREE
        low, high = part.range or (-_FREE, _FREE)
        span = {} if type_ == "continuous" else {"lower": low, "upper": high}
        add(element, "limit", effort=force, velocity=speed, **span)
        friction, law = part.friction, self.laws.of(joint, part.motion)
        if friction.viscous or friction.drag or law.damping:
            add(element, "dynamics", damping=friction.viscous + law.damping, friction=friction.drag)

    def _coupling(self, relation: LinkedRelation) -> None:
        """A coupling: of two joints, the one that no actuator drives mimics the other; else a gear of URDF+."""
        by_name = {element.get("name"): element for element in self.root.iter("joint")}
        driven = {joint.name for joint in self.tree.driven}
        names = [self.tree.elementary(term.joint, term.motion) for term in relation.terms]
        free = [k for k, name in enumerate(names) if name not in driven and by_name[name].find("mimic") is None]
        if len(names) == 2 and free:
            k = free[-1]
            slope = -relation.terms[1 - k].factor / relation.terms[k].factor
            add(by_name[names[k]], "mimic", joint=names[1 - k], multiplier=slope, offset=0.0)
        elif not self._gear(relation.name, dict(zip(names, (term.factor for term in relation.terms), strict=True))):
            raise InputError(
                f"urdf: the coupling {relation.name!r} cannot be written: a joint of URDF mimics one other, and is not "
                "driven then; one of URDF+ couples sums of all joints on the ways to two links. Export MJCF instead",
                code="coupling",
            )

    def _gear(self, name: str, factors: dict[str, float]) -> bool:
        """A gear of URDF+, ratio x (joints to the predecessor) = joints to the successor; whether it is one."""
        sizes = list(dict.fromkeys(round(one, 12) for one in factors.values()))
        if len(sizes) != 2:
            return False
        joints = {str(one.get("name")): one for one in self.root.iter("joint")}
        groups = [{key for key, one in factors.items() if round(one, 12) == size} for size in sizes]
        children = {
            key: str(child.get("link")) for key, one in joints.items() if (child := one.find("child")) is not None
        }
        ways = [max((joints_to(children[key], self.root) for key in group), key=len) for group in groups]
        apart = [
            {one for one in way if one not in ways[1 - k] and joints[one].get("type") != "fixed"}
            for k, way in enumerate(ways)
        ]
        if apart != groups:
            return False
        gear = add(self.root, "coupling", name=name)
        for side, way in zip(("predecessor", "successor"), ways, strict=True):
            add(gear, side, link=children[way[-1]])
        add(gear, "ratio", value=-sizes[0] / sizes[1])
        return True

    def _cut(self, joint: ChainJoint) -> None:
        one, two = f"{joint.name}-A", f"{joint.name}-B"
        pose = np.eye(4)
        pose[:3, 3] = joint.at
        self._frame(two, joint.between[1], pose)
        if joint.kind == "spherical" and not (joint.friction.viscous or joint.friction.drag):
            self._frame(one, joint.between[0], pose)
            self.kinds.append("3d")
        else:
            add(self.root, "link", name=one)
            self._chain(joint, joint.between[0], one, np.array(joint.at))
            self.kinds.append("6d")
        self.pairs.append([one, two])
        # as proposed for urdfdom; the frames meet, so that they need no origins and axes
        loop = add(
            self.root, "constraint", name=f"{joint.name}-loop", type="spherical" if self.kinds[-1] == "3d" else "fixed"
        )
        add(loop, "parent", link=one)
        add(loop, "child", link=two)

    def _control(self) -> None:
        """The driven joints for ros2_control, with a stand-in for their hardware."""
        control = add(self.root, "ros2_control", name=self.tree.name, type="system")
        add(add(control, "hardware"), "plugin", "mock_components/GenericSystem")
        for driven in self.tree.driven:
            joint = add(control, "joint", name=driven.name)
            add(joint, "command_interface", name="effort")
            for state in ("position", "velocity"):
                add(joint, "state_interface", name=state)

    # -- texts ---------------------------------------------------------------------------------------------------------

    def tree_text(self) -> str:
        """The URDF file."""
        rotors = [joint.name for joint in self.tree.driven if joint.rotor]
        remarks = [*left_out(self.model, ("stiffness", "elements")), *self.laws.remarks]
        if self.pairs:
            beside = f"{file_name(self.model)}{SUFFIX}"
            pairs = ", ".join(f"{one} {two} {kind}" for (one, two), kind in zip(self.pairs, self.kinds, strict=True))
            remarks.append(f"Loops, in <constraint> and in {beside}, meet (3d) or are fixed together (6d): {pairs}.")
        if rotors:
            remarks.append(f"Rotors of {', '.join(rotors)} are there too: URDF has no place for them.")
        return document(self.root, self.model, remarks)

    def side_text(self) -> str:
        """Loops and motors as Gepetto's examples have them, and what else polypod needs to read the robot back."""
        motors = {}
        for joint in self.tree.driven:
            given = {name: getattr(joint, name) for name in Motor.model_fields}
            given = {name: value for name, value in given.items() if value != Motor.model_fields[name].default}
            if given:
                motors[joint.name] = given
        own = {"platform": f"{self.tree.platform}-frame", "gravity": list(self.tree.gravity), "motors": motors}
        names = [joint.name for joint in self.tree.driven]
        side = {"closed_loop": self.pairs, "type": self.kinds, "name_mot": names, "polypod": own}
        return to_yaml(embed_robot(self.root, side, dumps(self.model.robot)))
