"""A robot as SDF (1.9): every joint as it is, loops among them, which Gazebo's format has of itself.

Links have the axes of the base at home, their origins in a joint or, for the platform, in {P}; {P} itself is the frame
``platform-frame``. Gravity belongs to a world, not to a model: a comment says which the robot was made for. An element
of polypod's own, which others pass over, holds the robot file and the motors.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from ..description.shapes import Plate
from ..errors import InputError
from ..exchange import linkage_of
from ..exchange.embedded import left_out
from ..exchange.linkage import BASE, axes_about, with_shapes
from ..exchange.sdf import embed_robot
from ..exchange.simplify import simplified
from ..exchange.urdf import INERTIA_ENTRIES, Motor
from ..files import dumps
from ..legs.chain import ChainJoint
from ..model import Model
from .mjcf_elements import JointLaws, Law
from .text import add, document, file_name, numbers
from .tree import (
    ElementaryJoint,
    Tree,
    elementary_joints,
    line_pose,
    prism,
    reversed_joint,
    roll_pitch_yaw,
    shapes_in,
    tree_of,
)

_KINDS = {"revolute": "revolute", "prismatic": "prismatic", "universal": "universal", "spherical": "ball"}
_FREE = 1e16
_THIN = 1e-5
"""Part of a body's largest moment that is added to a body which is nearer to a rod or a plate than this: libsdformat's
principal moments are good to 1e-6."""


def export_sdf(model: Model) -> str:
    """A rigid robot as SDF text.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    str
        SDF text.
    """
    linkage = with_shapes(linkage_of(model.robot), model.robot)
    if linkage.relations:
        raise InputError(
            f"sdf: SDF 1.9 has no couplings, and {linkage.relations[0].name!r} is one; export MJCF instead",
            code="coupling",
        )
    tree = tree_of(simplified(linkage), whole_cuts=True, platform_frame=False)
    return _Writer(tree, model).text()


def sdf_files(model: Model) -> dict[str, str]:
    """SDF file of a robot.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    return {f"{file_name(model)}.sdf": export_sdf(model)}


class _Writer:
    """Elements of one robot."""

    def __init__(self, tree: Tree, model: Model) -> None:
        self.tree, self.model = tree, model
        self.laws = JointLaws(model, has_springs=True)
        self.remarks = left_out(model, ("stiffness", "elements"))
        self.root = ET.Element("sdf", version="1.9")
        self.body = add(self.root, "model", name=tree.name)

    def text(self) -> str:
        """The whole file."""
        tree = self.tree
        for node in tree.nodes:
            self._link(node.body)
        for joint in (*(node.joint for node in tree.nodes), *tree.cuts):
            self._joint(joint)
        frame = add(self.body, "frame", name=f"{tree.platform}-frame", attached_to=tree.platform)
        home = self.model.robot.home.matrix
        angles = roll_pitch_yaw(home[:3, :3])
        add(frame, "pose", [*tree.point_in_body(tree.platform, home[:3, 3]), *angles], relative_to=tree.platform)
        self.remarks.append(f"Gravity of its world: {numbers(tree.gravity)} m/s^2.")
        rotors = [joint.name for joint in tree.driven if joint.rotor]
        if rotors:
            self.remarks.append(f"left out: rotors of {', '.join(rotors)}, for which SDF has no place")
        motors = {
            joint.name: Motor(**{name: getattr(joint, name) for name in Motor.model_fields}) for joint in tree.driven
        }
        robot_file, gravity = dumps(self.model.robot), numbers(tree.gravity)
        embed_robot(self.root, robot_file, f"{tree.platform}-frame", gravity, motors)
        return document(self.root, self.model, [*self.remarks, *self.laws.remarks])

    def _link(self, name: str) -> None:
        tree, one = self.tree, self.tree.bodies[name]
        if one.mass == 0.0:
            raise InputError(f"body {name}: it has no mass, which SDF cannot say of a link", code="no_mass")
        if one.unphysical:
            raise InputError(f"body {name}: Gazebo refuses its inertia, which {one.unphysical}")
        link = add(self.body, "link", name=name)
        add(link, "pose", [*tree.frames[name][:3, 3], 0, 0, 0])
        inertial = add(link, "inertial")
        add(inertial, "mass", [one.mass])
        add(inertial, "pose", [*tree.point_in_body(name, one.com), 0, 0, 0])
        inertia, tensor = add(inertial, "inertia"), self._tensor(name)
        for key, place in INERTIA_ENTRIES.items():
            add(inertia, key, [tensor[place]])
        for number, shape in enumerate(shapes_in(tree, name)):
            visual = add(link, "visual", name=f"shape{number + 1}")
            if shape.kind == "sphere":
                add(visual, "pose", [*shape.points[0], 0, 0, 0])
                add(add(add(visual, "geometry"), "sphere"), "radius", [shape.radius])
            elif shape.kind == "capsule":
                middle, angles, length = line_pose(*shape.points)
                add(visual, "pose", [*middle, *angles])
                capsule = add(add(visual, "geometry"), "capsule")
                add(capsule, "radius", [shape.radius])
                add(capsule, "length", [length])
            else:
                self._plate(visual, shape)

    def _plate(self, visual: ET.Element, plate: Plate) -> None:
        """An outline in the plane z = 0 of the visual's frame, as high as the plate is thick."""
        outline, normal = prism(plate)
        turn = axes_about(normal)[:, [1, 2, 0]]
        origin = outline[0] - plate.radius * normal
        add(visual, "pose", [*origin, *roll_pitch_yaw(turn)])
        polyline = add(add(visual, "geometry"), "polyline")
        for corner in (outline - outline[0]) @ turn[:, :2]:
            add(polyline, "point", corner)
        add(polyline, "height", [plate.thickness])

    def _tensor(self, name: str) -> Any:
        """A body's tensor (3, 3), a little larger where it is thin or flat: Gazebo refuses what rounding may spoil."""
        tensor = self.tree.tensor(name)
        low, middle, high = np.linalg.eigvalsh(tensor)
        small = _THIN * high
        if min(low, low + middle - high) >= small:
            return tensor
        self.remarks.append(f"{name}: {small:.1e} kg m^2 added to its moments, for it is thin or flat")
        return tensor + small * np.eye(3)

    def _joint(self, joint: ChainJoint) -> None:
        if joint.kind not in _KINDS:
            raise InputError(
                f"joint {joint.name}: SDF has no {joint.kind} joint; write a revolute and a prismatic one with a body "
                "between them"
            )
        joint = joint if joint.between[1] != BASE else reversed_joint(joint)
        parent, child = joint.between
        element = add(self.body, "joint", name=self._free_name(joint.name), type=_KINDS[joint.kind])
        add(element, "pose", [*self.tree.point_in_body(child, joint.at), 0, 0, 0])
        add(element, "parent", "world" if parent == BASE else parent)
        add(element, "child", child)
        if joint.kind != "spherical":
            for tag, part in zip(("axis", "axis2"), elementary_joints(joint), strict=False):
                self._axis(element, tag, part, joint)
        if joint.kind == "spherical" and (joint.friction.viscous or joint.friction.drag):
            self.remarks.append(f"left out: friction of the ball joint {joint.name}, for which SDF has no place")

    def _free_name(self, name: str) -> str:
        """A joint's name, longer where a link or another joint has it: names of a model's parts are unique in SDF."""
        taken = {part.get("name") for part in self.body}
        while name in taken:
            name += "-joint"
        return name

    def _axis(self, above: ET.Element, tag: str, part: ElementaryJoint, joint: ChainJoint) -> None:
        element = add(above, tag)
        add(element, "xyz", part.axis)
        limit = add(element, "limit")
        low, high = part.range or (-_FREE, _FREE)
        add(limit, "lower", [low])
        add(limit, "upper", [high])
        if joint.max_force is not None:
            add(limit, "effort", [abs(joint.ratio) * joint.max_force])
        if joint.max_speed is not None:
            add(limit, "velocity", [joint.max_speed / abs(joint.ratio)])
        law = self.laws.of(joint, part.motion)
        if part.friction.viscous or part.friction.drag or law != Law():
            dynamics = add(element, "dynamics")
            values = {"damping": part.friction.viscous + law.damping, "friction": part.friction.drag}
            for key, value in (values | {"spring_reference": law.rest, "spring_stiffness": law.stiffness}).items():
                add(dynamics, key, [value])
