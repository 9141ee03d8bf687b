"""The robot file that is embedded in an exported robot: import gives the very robot while nothing was changed.

Other programs' formats have no place for leg kinds, cones, ratings, compliances, sources. So a file that polypod writes
has the whole robot file in it as a text that other programs pass over, and a digest of all its elements. Where the
digest is right, the elements say what the robot file says and import gives the robot itself. Where it is not, somebody
changed the file: then the elements are read, and what only the robot file says is named.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import casadi as ca

from ..description import Friction, Robot
from ..description.drive import Bearing, Drive
from ..errors import PolypodError, short_repr
from ..files import loads
from ..legs import Chain
from ..legs.chain import ChainJoint
from ..model import Model
from .linkage import linkage_of

UNCHANGED = "the robot as polypod wrote it: the file is unchanged"


class EmbeddedRobot(NamedTuple):
    """The robot file embedded in a file that polypod wrote.

    Attributes
    ----------
    robot : Robot or None
        The robot; None if it cannot be read.
    unchanged : bool
        Whether the rest of the file is as polypod wrote it.
    fault : str
        Why there is no robot.
    """

    robot: Robot | None
    unchanged: bool
    fault: str = ""

    def remarks(self, carried: Collection[str]) -> list[str]:
        """Why the elements of the file are read instead, and what they do not state.

        Parameters
        ----------
        carried : collection of str
            Fields of joints and drives that the elements do state.

        Returns
        -------
        list of str
            The remarks.
        """
        if self.robot is None:
            return [f"{self.fault}; its elements were read instead"]
        why = "the options require a different robot than the one" if self.unchanged else "it was changed since it was"
        return [
            f"{why} written by polypod, so its elements were read; leg kinds, title, reference and sources of the "
            "robot file are not in them",
            *left_out(Model(self.robot), carried),
        ]


def embedded_robot(text: Any, unchanged: bool) -> EmbeddedRobot | None:
    """The robot of an embedded text; None without one."""
    if text is None:
        return None
    if not isinstance(text, str):
        return EmbeddedRobot(None, False, f"the embedded robot file is not a text, got {short_repr(text)}")
    try:
        return EmbeddedRobot(loads(text, "the embedded robot file"), unchanged)
    except PolypodError as error:
        return EmbeddedRobot(None, False, " ".join(str(error).split()))


def digest(root: ET.Element, beside: Mapping[str, Any] | None = None) -> str:
    """Digest of all elements and attributes, whatever blanks and comments are between them, and of data beside them."""
    text = ET.canonicalize(ET.tostring(root, encoding="unicode"), strip_text=True)
    return sha256(f"{text}\n{json.dumps(beside, sort_keys=True)}".encode()).hexdigest()


# ----------------------------------------------------------------------------------------------------------------------
# What a robot's file says and no format of whole robots can: limits of drives, bearings, joint limits, compliances.

_DRIVE = {
    "rms_force": "continuous force (rms_force)",
    "max_acceleration": "largest acceleration (max_acceleration)",
    "max_power": "largest power (max_power)",
    "force_speed": "force against speed (force_speed)",
    "max_stroke": "largest stroke (max_stroke)",
    "torque_constant": "torque constant (torque_constant)",
    "lead": "lead of the screw (lead)",
    "gear": "gear between motor and coordinate (gear)",
    "efficiency": "efficiency of screw and gear (efficiency)",
    "max_motor_torque": "largest motor torque (max_motor_torque)",
    "rms_motor_torque": "continuous motor torque (rms_motor_torque)",
    "max_motor_speed": "largest motor speed (max_motor_speed)",
}


def left_out(model: Model, carried: Collection[str] = ()) -> list[str]:
    """One remark for each thing: what is left out, and of which parts; not for fields that a format has ``carried``.

    Examples
    --------
    >>> [line for line in left_out(Model("hexapod")) if "joint limits" in line]
    ['left out: joint limits of leg1 (universal joint cone, spherical joint cone) and likewise of 5 other legs']
    """
    return [
        *_joints(model, carried),
        *_drives(model, carried),
        *_bearings(model),
        *_limits(model),
        *_springs(model),
        *_losses(model),
        *_whole(model),
        *_elements(model, carried),
    ]


def _joints(model: Model, carried: Collection[str]) -> Iterator[str]:
    joints = linkage_of(model.robot).joints
    for field, what, names in (
        ("coulomb", "dry friction by reaction (coulomb)", _with_friction(joints, lambda f: f.coulomb > 0)),
        ("static", "static friction above sliding friction (static)", _with_friction(joints, lambda f: f.static > 1)),
        ("cone", "cones", [j.name for j in joints if j.cone is not None]),
        ("twist", "ranges of twist (ranges.twist)", [j.name for j in joints if "twist" in j.ranges_by_motion]),
        ("stiffness", "stiffness", [j.name for j in joints if j.stiffness is not None]),
    ):
        if names and field not in carried:
            yield f"left out: {what} of {', '.join(names)}"


def _losses(model: Model) -> Iterator[str]:
    names = [
        leg.label(relation.name) for leg in model.robot.legs for relation in leg.relations if relation.loss is not None
    ]
    if names:
        yield f"left out: losses (efficiency, friction) of the couplings {', '.join(names)}"


def _with_friction(joints: Iterable[ChainJoint], has: Callable[[Friction], bool]) -> list[str]:
    """Names of joints with friction of a kind."""
    return [joint.name for joint in joints if any(map(has, joint.friction_by_motion.values()))]


def _drives(model: Model, carried: Collection[str]) -> Iterator[str]:
    legs = model.kernels.mechanism.legs
    of: dict[str, list[str]] = {}
    for data, leg in zip(model.robot.legs, legs, strict=True):
        for actuator in leg.placement.actuators:
            drive: Drive = data.drive(actuator.name)
            for name, text in _DRIVE.items():
                if name not in carried and getattr(drive, name) is not None:
                    label = leg.name if len(leg.placement.actuators) == 1 else f"{leg.name} {actuator.name}"
                    of.setdefault(text, []).append(label)
    for text, labels in of.items():
        yield f"left out: {text} of the drives of {', '.join(labels)}"


def _bearings(model: Model) -> Iterator[str]:
    rated = [
        f"{leg.name} {joint.name}"
        for data, leg in zip(model.robot.legs, model.kernels.mechanism.legs, strict=True)
        for joint in leg.placement.joints
        if data.bearing(joint.name) != Bearing()
    ]
    if rated:
        yield f"left out: ratings of the bearings of {', '.join(rated)}"


def _limits(model: Model) -> Iterator[str]:
    """Limits of legs of short kinds that are not those of an actuated coordinate; chains say theirs joint by joint."""
    found = {}
    for data, leg in zip(model.robot.legs, model.kernels.mechanism.legs, strict=True):
        if isinstance(data, Chain):
            continue
        driven = [actuator.coordinate for actuator in leg.placement.actuators]
        names = [
            limit.name
            for limit in leg.placement.limits
            if not any(ca.is_equal(limit.value, coordinate, 10) for coordinate in driven)
        ]
        if names:
            found[leg.name] = ", ".join(dict.fromkeys(names))
    yield from _gathered("joint limits", found)


def _springs(model: Model) -> Iterator[str]:
    found = {
        leg.name: ", ".join(dict.fromkeys(spring.name for spring in leg.placement.springs))
        for data, leg in zip(model.robot.legs, model.kernels.mechanism.legs, strict=True)
        if leg.placement.springs and not isinstance(data, Chain)
    }
    yield from _gathered("stiffness", found)


def _whole(model: Model) -> Iterator[str]:
    """What the robot itself says."""
    if model.robot.base_stiffness is not None:
        yield "left out: stiffness of the base (base_stiffness)"
    if model.robot.platform_limits is not None:
        yield "left out: speed and acceleration limits of the platform (platform_limits)"
    if model.robot.payloads:
        yield "left out: which part of the platform is payload (merged into its body)"


def _elements(model: Model, carried: Collection[str]) -> Iterator[str]:
    """Springs, dampers and other elements."""
    if model.robot.elements and "elements" not in carried:
        named = ", ".join(f"{one.name} ({one.kind})" for one in model.robot.elements)
        yield f"left out: the elements {named}; forces and motions differ from the robot's by what they do"


def _gathered(what: str, found: dict[str, str]) -> Iterator[str]:
    """One line for legs of which the same is left out."""
    by_text: dict[str, list[str]] = {}
    for leg, text in found.items():
        by_text.setdefault(text, []).append(leg)
    for text, (first, *others) in by_text.items():
        more = f" and likewise of {len(others)} other leg{'s' if len(others) > 1 else ''}" if others else ""
        yield f"left out: {what} of {first} ({text}){more}"
