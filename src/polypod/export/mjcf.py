"""A robot as MJCF for MuJoCo: bodies to look at, joints, motors, loops, home; ``polypod import`` reads it back.

Motors take the robot's actuator forces, in its order. Joint positions of motors are the robot's coordinates over their
ratio; all are at ``home`` in the first position and in the keyframe of that name, which also has the forces that hold
the robot there. Loops are equalities, soft as MuJoCo has them: one line of the file states how stiff.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InputError
from ..exchange import linkage_of
from ..exchange.linkage import BASE, Array, massless
from ..exchange.mjcf import PLATFORM_KEY
from ..legs.chain import ChainJoint
from ..model import Model
from .tree import Node, Tree, tree_of

_SMALLEST = 1e-14
"""Moments [kg m^2] below which MuJoCo refuses a body; it asks for 1e-15."""


def export_mjcf(model: Model, time_constant: float = 0.002, impedance: float = 0.9999) -> str:
    """MJCF text of a rigid robot.

    Loops close again with ``time_constant`` [s] after a disturbance (critically damped), and take the part
    ``impedance`` of what disturbs them: the nearer to 1, the nearer MuJoCo's accelerations are to exact ones. Steps of
    MuJoCo must be shorter than half the time constant.
    """
    if not 0.0 < impedance < 1.0:
        raise InputError(f"impedance: between 0 and 1, got {impedance}")
    if not time_constant > 0.0:
        raise InputError(f"time_constant: must be positive, got {time_constant}")
    tree = tree_of(linkage_of(model.robot))
    return _Writer(tree, model, time_constant, impedance).text()


class _Writer:
    """Elements of one robot."""

    def __init__(self, tree: Tree, model: Model, time_constant: float, impedance: float) -> None:
        self.tree, self.model = tree, model
        self.remarks = list(tree.remarks)
        self.rest: list[str] = []
        self.root = ET.Element("mujoco", model=tree.name)
        self._options(time_constant, impedance)

    def _options(self, time_constant: float, impedance: float) -> None:
        root, tree = self.root, self.tree
        ET.SubElement(root, "compiler", angle="radian", autolimits="true")
        step = _text([0.25 * time_constant])
        solver = {"solver": "Newton", "iterations": "100", "tolerance": "1e-12", "integrator": "implicitfast"}
        ET.SubElement(root, "option", gravity=_text(tree.gravity), timestep=step, **solver)
        default = ET.SubElement(root, "default")
        stiff = {"solref": _text([time_constant, 1.0]), "solimp": _text([impedance, impedance, 0.001])}
        ET.SubElement(default, "equality", **stiff)
        ET.SubElement(default, "geom", contype="0", conaffinity="0", group="2")
        custom = ET.SubElement(root, "custom")
        ET.SubElement(custom, "text", name=PLATFORM_KEY, data=tree.platform)

    def text(self) -> str:
        """The whole file."""
        world = ET.SubElement(self.root, "worldbody")
        for point in self.tree.joint_points(BASE):
            radius = _text([0.02 * self.tree.size])
            ET.SubElement(world, "geom", type="sphere", pos=_text(point), size=radius, rgba="0.4 0.4 0.4 1")
        for node in self.tree.children(BASE):
            self._body(world, node, [])
        self._loops()
        self._motors()
        self._home()
        self.root.insert(0, ET.Comment(_comment(self.model, self.remarks)))
        ET.indent(self.root)
        return ET.tostring(self.root, encoding="unicode") + "\n"

    # -- bodies --------------------------------------------------------------------------------------------------------

    def _body(self, above: ET.Element, node: Node, before: list[ChainJoint], parent: str = "") -> None:
        tree, name = self.tree, node.body
        parent = parent or node.parent
        joints = [*before, node.joint]
        if massless(tree.bodies[name]):
            after = list(tree.children(name))
            held = any(name in cut.between for cut in tree.cuts) or any(name in weld for weld in tree.welds)
            if len(after) != 1 or held:
                raise InputError(f"body {name}: it has no mass, which MuJoCo needs of a body that loops or several joints hold")
            self._body(above, after[0], joints, parent)
            return
        relative = np.linalg.inv(tree.frames[parent]) @ tree.frames[name]
        element = ET.SubElement(above, "body", name=name, pos=_text(relative[:3, 3]))
        if np.abs(relative[:3, :3] - np.eye(3)).max() > 0.0:
            x, y, z, w = Rotation.from_matrix(relative[:3, :3]).as_quat()
            element.set("quat", _text([w, x, y, z]))
        for joint in joints:
            self._joints(element, name, joint)
        self._inertial(element, name)
        self._looks(element, name)
        for child in tree.children(name):
            self._body(element, child, [])

    def _inertial(self, element: ET.Element, name: str) -> None:
        tree = self.tree
        one, tensor = tree.bodies[name], tree.tensor(name)
        if one.unphysical:
            raise InputError(f"body {name}: MuJoCo refuses its inertia, which {one.unphysical}")
        moments = np.linalg.eigvalsh(tensor)
        if moments[0] < _SMALLEST:
            low = max(_SMALLEST, 1e-9 * moments[-1])
            tensor = tensor + low * np.eye(3)
            self.remarks.append(f"{name}: {low:.1e} kg m^2 added to its moments, of which MuJoCo allows none to be zero")
        full = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        place = _text(tree.within(name, one.com))
        ET.SubElement(element, "inertial", pos=place, mass=_text([one.mass]), fullinertia=_text(full))

    def _looks(self, element: ET.Element, name: str) -> None:
        """Bars from joint to joint, or from the middle of several."""
        tree = self.tree
        points = [tree.within(name, point) for point in tree.joint_points(name)]
        radius = 0.012 * tree.size
        colour = "0.85 0.45 0.2 1" if name == tree.platform else "0.35 0.5 0.7 1"
        if len(points) == 2:
            pairs = [(points[0], points[1])]
        else:
            middle = tree.within(name, tree.bodies[name].com) if len(points) < 2 else np.mean(points, axis=0)
            pairs = [(middle, point) for point in points]
        for a, b in pairs:
            if np.linalg.norm(b - a) > 1e-6 * tree.size:
                ends = {"fromto": _text([*a, *b]), "size": _text([radius]), "rgba": colour}
                ET.SubElement(element, "geom", type="capsule", **ends)

    # -- joints --------------------------------------------------------------------------------------------------------

    def _joints(self, element: ET.Element, name: str, joint: ChainJoint) -> None:
        where = self.tree.within(name, joint.at)
        friction: dict[str, str] = {}
        if joint.friction.viscous:
            friction["damping"] = _text([joint.friction.viscous])
        if joint.friction.drag:
            friction["frictionloss"] = _text([joint.friction.drag])
        if joint.kind == "spherical":
            ET.SubElement(element, "joint", name=joint.name, type="ball", pos=_text(where), **friction)
            self.rest.append("1 0 0 0")
            return
        if joint.kind == "universal":
            for number, axis in enumerate(joint.axes or ()):
                data = {"type": "hinge", "pos": _text(where), "axis": _text(self.tree.turned(name, axis))}
                ET.SubElement(element, "joint", name=f"{joint.name}-{number + 1}", **data, **friction)
                self.rest.append("0")
            return
        types = {"revolute": ("hinge",), "prismatic": ("slide",), "cylindrical": ("slide", "hinge")}[joint.kind]
        driven = {"rotation": "hinge", "translation": "slide"}.get(str(joint.actuated), types[0])
        for kind in types:
            leads = kind == driven
            data = {"type": kind, "pos": _text(where), "axis": _text(self.tree.turned(name, joint.axis))}
            reference = 0.0
            if leads and joint.actuated:
                reference = joint.offset / joint.ratio
                if joint.rotor:
                    data["armature"] = _text([joint.rotor * joint.ratio**2])
                if reference:
                    data["ref"] = _text([reference])
            if leads and joint.range is not None:
                data["range"] = _text([reference + joint.range[0], reference + joint.range[1]])
            label = joint.name if leads else f"{joint.name}-{kind}"
            ET.SubElement(element, "joint", name=label, **data, **friction)
            self.rest.append(repr(reference))

    # -- the rest ------------------------------------------------------------------------------------------------------

    def _loops(self) -> None:
        tree = self.tree
        if not (tree.cuts or tree.welds):
            return
        element = ET.SubElement(self.root, "equality")
        for joint in tree.cuts:
            first, second = joint.between if joint.between[0] != BASE else joint.between[::-1]
            ends = {"body1": first} | ({} if second == BASE else {"body2": second})
            if joint.kind == "spherical":
                places = [(joint.name, np.array(joint.at))]
            else:
                arm = 0.1 * tree.size * np.array(joint.axis)
                at = np.array(joint.at)
                places = [(f"{joint.name}-1", at - arm), (f"{joint.name}-2", at + arm)]
            for name, point in places:
                ET.SubElement(element, "connect", name=name, **ends, anchor=_text(tree.within(first, point)))
        for one, two in tree.welds:
            ET.SubElement(element, "weld", name=f"{one} and {two}", body1=one, body2=two)

    def _motors(self) -> None:
        if not self.tree.driven:
            return
        element = ET.SubElement(self.root, "actuator")
        for joint in self.tree.driven:
            data = {"joint": joint.name, "gear": _text([joint.ratio])}
            if joint.max_force is not None:
                data["ctrlrange"] = _text([-joint.max_force, joint.max_force])
            if joint.max_speed is not None:
                self.remarks.append(f"left out: largest speed {joint.max_speed:g} of {joint.name}")
            ET.SubElement(element, "motor", name=joint.name, **data)

    def _home(self) -> None:
        home, still = self.model.robot.home.matrix, np.zeros(6)
        force = self.model.inverse_dynamics(home, still, still, friction=False)
        keys = ET.SubElement(self.root, "keyframe")
        ET.SubElement(keys, "key", name="home", qpos=" ".join(self.rest), ctrl=_text(force))


def mjcf_files(model: Model) -> dict[str, str]:
    """The file by its name."""
    return {f"{model.robot.name}.xml": export_mjcf(model)}


def _text(values: Any) -> str:
    """Numbers with all their digits."""
    numbers: Array = np.asarray(values, dtype=float) + 0.0
    return " ".join(repr(float(value)) for value in numbers.ravel())


def _comment(model: Model, remarks: list[str]) -> str:
    lines = [f"{model.robot.title or model.robot.name}: written by polypod from its robot file, SI units and radians."]
    lines += [f"Control {k + 1}: force of {a.name} [{a.force_unit}]." for k, a in enumerate(model.actuators)]
    return " " + "\n  ".join([*lines, *dict.fromkeys(remarks)]).replace("--", "- -") + " "
