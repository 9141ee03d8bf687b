"""A robot as MJCF for MuJoCo: bodies to look at, joints, motors, loops, home; ``polypod import`` reads it back.

Motors take the robot's actuator forces, in its order. Joint positions of motors are the robot's coordinates over their
ratio; all are at ``home`` in the first position and in the keyframe of that name, which also has the forces that hold
the robot there. Loops are equalities, soft as MuJoCo has them: one line of the file states how stiff. What MuJoCo has
no element for (dry friction by reaction, limits of drives, moments that are zero) stands in custom numbers, of which
MuJoCo takes no notice and from which import restores it; the robot file itself stands in a custom text, see
``polypod.exchange.embedded``.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..description import Friction
from ..errors import InputError, UnknownNameError
from ..exchange import linkage_of
from ..exchange.embedded import left_out
from ..exchange.linkage import BASE, massless, with_shapes
from ..exchange.mjcf import BEYOND_DRIVE, BEYOND_FRICTION, PLATFORM_KEY, custom_name, embed_robot
from ..files import dumps
from ..kernels.kernel import interpreted
from ..legs.chain import ChainJoint
from ..model import Model
from ..model.arguments import PoseLike
from .header import LEAST
from .joint_states import AXES, JointPlace, positions_of
from .mjcf_elements import Law, MjcfElements, same_motion
from .text import add, document, file_name, numbers
from .tree import Node, elementary_joints, prism, shapes_in, tree_of

ACTUATORS = ("motor", "position", "velocity", "none")
LOOPS = ("joint", "connect", "weld")
"""What controls of a file may be, and how its loops may close; the first is the default."""
_SMALLEST = 1e-14
"""Moments [kg m^2] below which MuJoCo refuses a body; it asks for 1e-15."""


class MjcfOptions(NamedTuple):
    """How a file says what MJCF has several ways to say; see ``export_mjcf``."""

    hinges: bool = False
    actuators: str = ACTUATORS[0]
    loops: str = LOOPS[0]
    bandwidth: float = 10.0
    time_constant: float = 0.002
    impedance: float = 0.9999

    def checked(self) -> MjcfOptions:
        """Raise for values that there are not."""
        if not 0.0 < self.impedance < 1.0:
            raise InputError(f"impedance: must be between 0 and 1, got {self.impedance}")
        for field in ("time_constant", "bandwidth"):
            if not getattr(self, field) > 0.0:
                raise InputError(f"{field}: must be positive, got {getattr(self, field)}")
        for what, value, known in (("actuators", self.actuators, ACTUATORS), ("loops", self.loops, LOOPS)):
            if value not in known:
                raise UnknownNameError(what, value, known)
        return self


def export_mjcf(
    model: Model,
    time_constant: float = 0.002,
    impedance: float = 0.9999,
    *,
    hinges: bool = False,
    actuators: str = "motor",
    loops: str = "joint",
    bandwidth: float = 10.0,
) -> str:
    """A rigid robot as MJCF text for MuJoCo.

    Steps of MuJoCo must be shorter than half the time constant.

    Parameters
    ----------
    model : Model
        Model of the robot.
    time_constant : float, optional
        Time constant with which loops close after a disturbance, critically damped [s].
    impedance : float, optional
        Share of a disturbance that loops take up, between 0 and 1: the closer to 1, the more exact MuJoCo's
        accelerations.
    hinges : bool, optional
        Whether every spherical joint is three hinges about x, y and z, for programs that have no ball joints (mjlab,
        Isaac, Genesis). Their angles are singular where the second is a right angle.
    actuators : {'motor', 'position', 'velocity', 'none'}, optional
        What controls are: forces; actuated coordinates or their rates, by servos whose force is limited as the drive
        is; or nothing. Forces of drives before their gear, coordinates as polypod has them.
    loops : {'joint', 'connect', 'weld'}, optional
        How loops close. ``joint``: spherical joints and hinges by ``connect``, others whole, on a body in two halves
        that ``weld`` holds. ``connect``: the same with three ``connect`` for a weld, for programs without it (Drake).
        ``weld``: every joint whole, all loops by ``weld``.
    bandwidth : float, optional
        Natural frequency [Hz] of servos with the inertia that each drive feels at home, others held; critically
        damped.

    Returns
    -------
    str
        MJCF text.
    """
    return _Writer(model, MjcfOptions(hinges, actuators, loops, bandwidth, time_constant, impedance)).text()


def mjcf_positions(
    model: Model, pose: PoseLike, unwrap: int | None = None, *, hinges: bool = False, loops: str = "joint"
) -> Array:
    """Positions of all joints of the exported MJCF file, in its order: ``qpos`` of MuJoCo at a pose of the platform.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4)
        Pose of the platform frame {P} in the base frame {B}.
    unwrap : int, optional
        Batch axis along which the poses are those of a motion: angles do not jump by whole turns there.
    hinges : bool, optional
        Whether the file has hinges for spherical joints, as ``export_mjcf`` says.
    loops : {'joint', 'connect', 'weld'}, optional
        How its loops close.

    Returns
    -------
    ndarray, shape (..., nq)
        Slides [m], hinges [rad] and quaternions w x y z of ball joints; at home those of the keyframe ``home``.

    Examples
    --------
    >>> model = Model("delta")
    >>> mjcf_positions(model, model.robot.home.matrix).shape
    (31,)
    """
    writer = _Writer(model, MjcfOptions(hinges, loops=loops))
    writer.text()
    return positions_of(writer.tree, model, writer.places, pose, unwrap)


class _Writer:
    """Elements of one robot."""

    def __init__(self, model: Model, options: MjcfOptions) -> None:
        self.options = options.checked()
        self.model, self.elements = model, (elements := MjcfElements.of(model))
        self.linkage = linkage_of(model.robot)
        whole = {joint.name for joint in self.linkage.joints} if options.loops == "weld" else set()
        self.tree = tree = tree_of(with_shapes(self.linkage, model.robot), acting={*elements.joints, *whole})
        self.remarks = [*left_out(model, ("stiffness", "elements")), *elements.remarks]
        self.written = {BASE}
        self.places: list[JointPlace] = []
        self.armatures: dict[str, float] = {}
        self.gains: list[tuple[float, float]] = []
        self.assets: ET.Element | None = None
        self.root = ET.Element("mujoco", model=tree.name)
        self._options()

    def _options(self) -> None:
        root, tree = self.root, self.tree
        time_constant, impedance = self.options.time_constant, self.options.impedance
        add(root, "compiler", angle="radian", autolimits="true")
        step = 0.25 * time_constant
        solver = {"solver": "Newton", "iterations": "100", "tolerance": "1e-12", "integrator": "implicitfast"}
        add(root, "option", gravity=tree.gravity, timestep=step, **solver)
        default = add(root, "default")
        stiff = {"solref": [time_constant, 1.0], "solimp": [impedance, impedance, 0.001]}
        add(default, "equality", **stiff)
        add(default, "geom", contype="0", conaffinity="0", group="2")
        self.custom = add(root, "custom")
        add(self.custom, "text", name=PLATFORM_KEY, data=tree.platform)

    def text(self) -> str:
        """The whole file."""
        # one body holds all: Pinocchio reads the first of the world only
        base = add(add(self.root, "worldbody"), "body", name=BASE)
        self._looks(base, BASE)
        self._sites(base, BASE)
        for node in self.tree.children(BASE):
            self._body(base, node, [])
        self.elements.check_bodies(self.written)
        self._tendons()
        self._loops()
        self._motors()
        self._home()
        embed_robot(self.root, dumps(self.model.robot))
        return document(self.root, self.model, self.remarks)

    # -- bodies --------------------------------------------------------------------------------------------------------

    def _body(self, above: ET.Element, node: Node, before: list[ChainJoint], parent: str = "") -> None:
        tree, name = self.tree, node.body
        parent = parent or node.parent
        joints = [*before, node.joint]
        after = list(tree.children(name))
        held = any(name in cut.between for cut in tree.cuts) or any(name in weld for weld in tree.welds)
        spin = self._spin(node)
        if massless(tree.bodies[name]) or (spin and len(after) == 1 and not held):
            if spin:
                self.armatures[node.joint.name] = spin
            if len(after) != 1 or held:
                raise InputError(
                    f"body {name}: it has no mass, which MuJoCo needs of a body that loops or several joints hold"
                )
            self._body(above, after[0], joints, parent)
            return
        relative = np.linalg.inv(tree.frames[parent]) @ tree.frames[name]
        element = add(above, "body", name=name, pos=relative[:3, 3])
        if np.abs(relative[:3, :3] - np.eye(3)).max() > 0.0:
            x, y, z, w = scipy.spatial.transform.Rotation.from_matrix(relative[:3, :3]).as_quat()
            element.set("quat", numbers([w, x, y, z]))
        for joint in joints:
            self._joints(element, name, joint)
        self._inertial(element, name)
        self._looks(element, name)
        self.written.add(name)
        self._sites(element, name)
        for child in tree.children(name):
            self._body(element, child, [])

    def _sites(self, element: ET.Element, name: str) -> None:
        """Points of a body that elements act on."""
        for site, point in self.elements.sites.get(name, ()):
            add(element, "site", name=site, pos=self.tree.point_in_body(name, point))

    def _tendons(self) -> None:
        """Springs between points, and sums of joints' positions that couplings of more than two joints hold."""
        sums = [relation for relation in self.tree.relations if len(relation.terms) != 2]
        if not self.elements.tendons and not sums:
            return
        tendons = add(self.root, "tendon")
        for relation in sums:
            element = add(tendons, "fixed", name=relation.name)
            for term in relation.terms:
                add(element, "joint", joint=self.tree.elementary(term.joint, term.motion), coef=term.factor)
        for tendon in self.elements.tendons:
            law = tendon.law
            spring = {"stiffness": law.stiffness, "springlength": law.rest} if law.stiffness else {}
            element = add(tendons, "spatial", name=tendon.name, **spring, damping=law.damping)
            for site in tendon.sites:
                add(element, "site", site=site)

    def _spin(self, node: Node) -> float:
        """The moment [kg m^2] of a body that only turns about a hinge on the base and has no other; 0 for others.

        Such is the cross of a universal joint. It moves as the hinge does, as what MuJoCo calls its armature.
        """
        one, axis = self.tree.bodies[node.body], node.joint.axis
        if one.mass or axis is None or node.joint.kind != "revolute" or node.parent != BASE:
            return 0.0
        moment = float(np.array(axis) @ one.central_inertia @ np.array(axis))
        rest = one.central_inertia - moment * np.outer(axis, axis)
        return moment if np.abs(rest).max() <= 1e-12 * moment else 0.0

    def _inertial(self, element: ET.Element, name: str) -> None:
        tree = self.tree
        one, tensor = tree.bodies[name], tree.tensor(name)
        if one.unphysical:
            raise InputError(f"body {name}: MuJoCo refuses its inertia, which {one.unphysical}")
        moments = np.linalg.eigvalsh(tensor)
        if moments[0] < _SMALLEST:
            low = max(_SMALLEST, 1e-9 * moments[-1])
            self._beyond("inertia", name, _six(tensor))
            tensor = tensor + low * np.eye(3)
            self.remarks.append(f"{name}: {low:.1e} kg m^2 added to its moments, none of which may be zero in MuJoCo")
        full = _six(tensor)
        add(element, "inertial", pos=tree.point_in_body(name, one.com), mass=one.mass, fullinertia=full)

    def _beyond(self, field: str, part: str, values: Any) -> None:
        """Numbers of a part that import reads and MuJoCo does not."""
        add(self.custom, "numeric", name=custom_name(field, part), data=values)

    def _looks(self, element: ET.Element, name: str) -> None:
        own = {self.tree.platform: "0.85 0.45 0.2 1", BASE: "0.6 0.6 0.6 1"}
        colour = own.get(name, "0.35 0.5 0.7 1")
        for number, shape in enumerate(shapes_in(self.tree, name)):
            if shape.kind == "sphere":
                add(element, "geom", type="sphere", pos=shape.points[0], size=shape.radius, rgba=colour)
            elif shape.kind == "capsule":
                ends = [*shape.points[0], *shape.points[1]]
                add(element, "geom", type="capsule", fromto=ends, size=shape.radius, rgba=colour)
            else:
                outline, normal = prism(shape)
                if self.assets is None:
                    self.assets = ET.Element("asset")
                    self.root.insert(list(self.root).index(self.custom), self.assets)
                label = f"{name}-plate{number + 1}"
                corners = np.concatenate([outline - shape.radius * normal, outline + shape.radius * normal])
                add(self.assets, "mesh", name=label, vertex=corners)
                add(element, "geom", type="mesh", mesh=label, rgba=colour)

    # -- joints --------------------------------------------------------------------------------------------------------

    def _joints(self, element: ET.Element, name: str, joint: ChainJoint) -> None:
        where = self.tree.point_in_body(name, joint.at)
        ball = joint.kind == "spherical"
        if ball and not self.options.hinges:
            own = self.elements.joints.get(joint.name, {}).get("x", Law())
            add(element, "joint", name=joint.name, type="ball", pos=where, **_passive(joint.friction, own))
            self._dry(joint.friction, joint.name)
            self.places.append(JointPlace(joint, "", name))
            return
        if ball and (joint.friction != Friction() or joint.name in self.elements.joints):
            self.remarks.append(f"{joint.name}: friction and springs of its three hinges are those of the ball at home")
        for part, axis in zip(elementary_joints(joint), AXES, strict=False):
            kind = "slide" if part.kind == "prismatic" else "hinge"
            data: dict[str, Any] = {"type": kind, "pos": where, "axis": self.tree.direction_in_body(name, part.axis)}
            driven = part.has_coordinate and bool(joint.actuated)
            armature = self.armatures.get(joint.name, 0.0) + (joint.rotor * joint.ratio**2 if driven else 0.0)
            reference = joint.offset / joint.ratio if driven else 0.0
            data |= {key: value for key, value in (("armature", armature), ("ref", reference)) if value}
            if part.range is not None:
                data["range"] = [reference + limit for limit in part.range]
            motion = axis if ball else same_motion(self.linkage, joint, part.motion)
            own = self.elements.joints.get(joint.name, {}).get(motion, Law())
            add(element, "joint", name=part.name, **data, **_passive(part.friction, own, reference))
            self._dry(part.friction, part.name)
            self.places.append(JointPlace(joint, axis if ball else part.motion, name, reference))

    def _dry(self, friction: Friction, label: str) -> None:
        """Friction that MuJoCo's joints do not have."""
        for field in BEYOND_FRICTION:
            if field in friction.model_fields_set:
                self._beyond(field, label, getattr(friction, field))

    # -- the rest ------------------------------------------------------------------------------------------------------

    def _loops(self) -> None:
        tree = self.tree
        if not (tree.cuts or tree.welds or tree.relations):
            return
        element = add(self.root, "equality")
        for relation in tree.relations:
            if len(relation.terms) != 2:
                add(element, "tendon", name=relation.name, tendon1=relation.name)
                continue
            driving, driven = (term.factor for term in relation.terms)
            joints = {f"joint{k}": tree.elementary(t.joint, t.motion) for k, t in enumerate(relation.terms, 1)}
            slope = [0.0, -driven / driving, 0.0, 0.0, 0.0]
            add(element, "joint", name=relation.name, **joints, polycoef=slope)
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
                add(element, "connect", name=name, **ends, anchor=tree.point_in_body(first, point))
        for one, two in tree.welds:
            name, bodies = f"{one} and {two}", {"body1": one, "body2": two}
            if self.options.loops != "connect":
                add(element, "weld", name=name, **bodies)
                continue
            for number, point in enumerate(0.1 * tree.size * np.eye(3), 1):
                anchor = tree.point_in_body(one, tree.frames[two][:3, 3]) + point
                add(element, "connect", name=f"{name} {number}", **bodies, anchor=anchor)

    def _motors(self) -> None:
        kind = self.options.actuators
        if not self.tree.driven or kind == "none":
            return
        element = add(self.root, "actuator")
        for joint, inertia in zip(self.tree.driven, self._felt(), strict=True):
            data: dict[str, Any] = {"joint": joint.name, "gear": joint.ratio}
            rate = 2.0 * np.pi * self.options.bandwidth
            if kind == "position":
                data |= {"kp": rate**2 * inertia, "kv": 2.0 * rate * inertia}
                if joint.range is not None:
                    data["ctrlrange"] = joint.range
            elif kind == "velocity":
                data["kv"] = 2.0 * rate * inertia
                if joint.max_speed is not None:
                    data["ctrlrange"] = [-joint.max_speed, joint.max_speed]
            if joint.max_force is not None:
                data["ctrlrange" if kind == "motor" else "forcerange"] = [-joint.max_force, joint.max_force]
            if joint.max_speed is not None:
                self.remarks.append(f"left out: largest speed {joint.max_speed:g} of {joint.name}")
            for field in BEYOND_DRIVE:
                if getattr(joint, field) is not None:
                    self._beyond(field, joint.name, getattr(joint, field))
            add(element, kind, name=joint.name, **data)
            self.gains.append((data.get("kp", 0.0), data.get("kv", 0.0)))

    def _felt(self) -> Array:
        """Inertia (n,) [kg or kg m^2] that each drive feels at home when the others are held; zeros for motors."""
        if self.options.actuators == "motor":
            return np.zeros(len(self.tree.driven))
        home = self.model.robot.home.matrix
        inverse = np.linalg.pinv(self.model.jacobian(home))
        return np.asarray(np.diag(inverse.T @ self.model.mass_matrix(home) @ inverse))

    def _home(self) -> None:
        keys = add(self.root, "keyframe")
        home = " ".join(repr(place.home) if place.motion else "1 0 0 0" for place in self.places)
        data: dict[str, Any] = {}
        if self.options.actuators != "none":
            control = _holding(self.model)
            if self.options.actuators != "motor":  # where a servo's force is the one that holds
                control = control / np.array([kp or kv for kp, kv in self.gains])
            if self.options.actuators == "position":
                control = control + np.array([joint.offset for joint in self.tree.driven])
            data["ctrl"] = control
        add(keys, "key", name="home", qpos=home, **data)


def _holding(model: Model) -> Array:
    """Forces (n,) that hold the robot at home without friction: one state, so nothing is compiled for it."""
    kernels, home = model.kernels, model.robot.home.matrix
    expression = kernels.expression(kernels.mechanism, "inverse_dynamics", False)
    given = {"pose": home.ravel(), "weights": np.ones(len(model.actuators)), "preload": np.zeros(len(model.actuators))}
    values = [given.get(port.name, np.zeros(port.length)) for port in expression.inputs]
    numbers = [kernels.mechanism.numbers.values] if expression.parameters else []
    outputs = interpreted(expression, values, numbers)
    found = {port.name: np.array(one).ravel() for port, one in zip(expression.outputs, outputs, strict=True)}
    if not found["quality"][0] > float(LEAST):
        still = np.zeros(6 + len(model.internal))
        return np.asarray(model.inverse_dynamics(home, still, still, friction=False))  # which says what is wrong
    return found["force"]


def _passive(friction: Friction, law: Law, reference: float = 0.0) -> dict[str, float]:
    """What MuJoCo's joints have of a friction and of an element in them; ``reference`` is their position at home."""
    numbers_of = {"damping": friction.viscous + law.damping, "frictionloss": friction.drag, "stiffness": law.stiffness}
    if law.stiffness and reference + law.rest:
        numbers_of["springref"] = reference + law.rest
    return {name: value for name, value in numbers_of.items() if value}


def _six(tensor: Array) -> list[float]:
    """The numbers of a tensor (3, 3) in the order of MJCF."""
    return [float(tensor[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def mjcf_files(model: Model, hinges: bool = False, actuators: str = "motor", loops: str = "joint") -> dict[str, str]:
    """MJCF file of a robot.

    Parameters
    ----------
    model : Model
        Model of the robot.
    hinges : bool, optional
        Whether spherical joints are three hinges.
    actuators : {'motor', 'position', 'velocity', 'none'}, optional
        What controls are.
    loops : {'joint', 'connect', 'weld'}, optional
        How loops close; ``export_mjcf`` says more of these.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    return {f"{file_name(model)}.xml": export_mjcf(model, hinges=hinges, actuators=actuators, loops=loops)}
