"""What MJCF has of a robot's elements: springs and dampers of joints, and tendons between two sites.

MuJoCo's joints have a stiffness, a rest (``springref``) and a damping of their own, its tendons a stiffness, a free
length and a damping. What is not one of these is refused by name, but for stops: MuJoCo limits joints itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description.element import COORDINATES, ElementData
from ..elements import Brake, Damper, GasSpring, Spring, Stop
from ..errors import InputError
from ..exchange.linkage import BASE, PLATFORM, Linkage, linkage_of
from ..legs.chain import Chain, ChainJoint
from ..model import Model


class Law(NamedTuple):
    """Stiffness, damping and the displacement, or length, of rest along one axis."""

    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0


class Tendon(NamedTuple):
    """A line between two sites, named, with its law."""

    name: str
    sites: tuple[str, str]
    law: Law


@dataclass
class MjcfElements:
    """Laws of joints by joint and motion, sites by body, tendons, and remarks on what MuJoCo has in another way."""

    joints: dict[str, dict[str, Law]] = field(default_factory=dict)
    sites: dict[str, list[tuple[str, Array]]] = field(default_factory=dict)
    tendons: list[Tendon] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @staticmethod
    def of(model: Model) -> MjcfElements:
        """Those of a robot's file, and the stiffness of its passive joints."""
        found = MjcfElements(joints=_own_stiffness(model))
        for element in model.robot.elements:
            if isinstance(element, Stop):
                found.remarks.append(
                    f"{element.name}: stiffness and damping of this stop are left out; MuJoCo limits the joint itself"
                )
            elif isinstance(element, Brake) and not element.engaged:
                found.remarks.append(f"{element.name}: left out, the brake is released")
            elif element.joint:
                found._in_joint(model, element)
            else:
                found._between(model, element)
        return found

    def _in_joint(self, model: Model, element: ElementData) -> None:
        end = element.joint_end(model.robot.legs)
        axes = COORDINATES[end.kind]
        laws = _laws(element, len(axes))
        if end.kind == "spherical" and any(law != laws[0] or law.rest for law in laws):
            raise _refusal(element, "balls of MuJoCo have one stiffness and one damping, and rest at home")
        own = self.joints.setdefault(f"{model.robot.legs[end.leg].name}-{end.name}", {})
        for motion, law in zip(axes, laws, strict=True):
            own[motion] = _together(element, own.get(motion, Law()), law)

    def _between(self, model: Model, element: ElementData) -> None:
        (law,) = _laws(element, 1)
        names = []
        ends = element.body_ends(model.robot.legs)
        for number, (end, at) in enumerate(zip(ends, element.points_at, strict=True), 1):
            own = BASE if end.name == "base" else PLATFORM
            if end.leg is not None:
                own = f"{model.robot.legs[end.leg].name}-{end.name}"
            names.append(f"{element.name} {number}")
            self.sites.setdefault(own, []).append((names[-1], np.array(at, dtype=float)))
        self.tendons.append(Tendon(element.name, (names[0], names[1]), law))

    def check_bodies(self, written: set[str]) -> None:
        """Raise for sites on bodies that are not in the file as bodies of their own."""
        for body, sites in self.sites.items():
            if body not in written:
                raise InputError(
                    f"mjcf: element {sites[0][0][:-2]!r} acts on {body}, which has no mass or is fixed to another body "
                    "and is not a body of its own in MuJoCo; let it act on a body with mass"
                )


def same_motion(linkage: Linkage, joint: ChainJoint, motion: str) -> str:
    """The motion of a robot's own joint that one of a joint of a tree is, which may be reversed: its axes swap."""
    own = next((one for one in linkage.joints if one.name == joint.name), None)
    if joint.kind != "universal" or own is None or own.axes is None or joint.axes is None:
        return motion
    swapped = abs(float(np.dot(own.axes[0], joint.axes[0]))) < 0.5
    return {"first": "second", "second": "first"}[motion] if swapped else motion


class JointLaws:
    """Laws of joints by joint and motion for formats that have nothing else, and names of what these leave out.

    ``has_springs`` says whether the format has a stiffness of joints, or their damping alone.
    """

    def __init__(self, model: Model, has_springs: bool) -> None:
        self._joints, self._linkage = _own_stiffness(model), linkage_of(model.robot)
        self._has_springs, self._used = has_springs, set[tuple[str, str]]()
        self._left = list[str]()
        for element in model.robot.elements:
            both = MjcfElements(joints={name: dict(laws) for name, laws in self._joints.items()})
            try:
                if isinstance(element, Stop) or not element.joint:
                    raise _refusal(element, "it is not along a joint's axis")
                both._in_joint(model, element)
            except InputError:
                self._left.append(f"{element.name} ({element.kind})")
            else:
                self._joints = both.joints

    def of(self, joint: ChainJoint, motion: str) -> Law:
        """The law of a joint's motion, of which the format is given what it can hold."""
        motion = same_motion(self._linkage, joint, motion)
        self._used.add((joint.name, motion))
        law = self._joints.get(joint.name, {}).get(motion, Law())
        return law if self._has_springs else Law(0.0, law.damping)

    @property
    def remarks(self) -> list[str]:
        """What is left out of the file, after all joints were written."""
        left = list(self._left)
        for joint, laws in self._joints.items():
            for motion, law in laws.items():
                if (joint, motion) not in self._used:
                    left.append(f"spring and damper of {joint} {motion}")
                elif law.stiffness and not self._has_springs:
                    left.append(f"spring of {joint} {motion}")
        if not left:
            return []
        return [f"left out: the elements {', '.join(left)}; forces and motions differ from the robot's by what they do"]


def _own_stiffness(model: Model) -> dict[str, dict[str, Law]]:
    """Laws of passive joints that state a stiffness of their own."""
    return {
        f"{leg.name}-{joint.name}": {motion: Law(joint.stiffness) for motion in COORDINATES[joint.kind]}
        for leg in model.robot.legs
        for joint in (leg.joints if isinstance(leg, Chain) else ())
        if joint.stiffness is not None and not joint.actuated
    }


def _refusal(element: ElementData, why: str) -> InputError:
    return InputError(
        f"mjcf: element {element.name!r} ({element.kind}) cannot be written: {why}; leave it out of the robot for this "
        "export, or simulate with polypod"
    )


def _laws(element: Any, count: int) -> list[Law]:
    """The law along each axis; raises for what is not linear, or couples axes."""
    if isinstance(element, GasSpring):
        if len(element.force) > 2:
            raise _refusal(element, "a tendon's force is a straight line over its length, and this curve has corners")
        (x0, f0), (x1, f1) = element.force
        falls = element.temperature_factor * (f0 - f1) / (x1 - x0)
        if falls <= 0:
            raise _refusal(element, "its force does not fall with its length, as that of a spring does")
        damped = 0.0 if element.damping is None else float(np.ravel(element.damping)[0])
        return [Law(falls, damped, x0 + element.temperature_factor * f0 / falls)]
    if isinstance(element, Damper):
        if element.force is not None:
            raise _refusal(element, "MuJoCo's damping is viscous, and this one is a curve")
        return [Law(0.0, damping) for damping in _diagonal(element, element.damping, count)]
    if not isinstance(element, Spring):
        raise _refusal(element, "MJCF has nothing like it")
    home = 0.0 if element.joint else element.home_length
    rest = element.length if element.length is not None else element.rest
    rests = np.broadcast_to(home if rest is None else np.array(rest, dtype=float), (count,))
    stiffness = np.array(_diagonal(element, element.stiffness, count))
    if element.preload is not None:
        if (stiffness == 0).any():
            raise _refusal(element, "it has a preload without a stiffness")
        rests = rests - np.broadcast_to(element.preload, (count,)) / stiffness
    damping = _diagonal(element, element.damping, count) if element.damping is not None else [0.0] * count
    return [Law(*map(float, numbers)) for numbers in zip(stiffness, damping, rests, strict=True)]


def _diagonal(element: ElementData, value: Any, count: int) -> list[float]:
    given = np.array(value, dtype=float)
    if given.ndim == 2:
        if np.abs(given - np.diag(np.diag(given))).max() > 0:
            raise _refusal(element, "its matrix couples axes, and MuJoCo's joints have one number each")
        given = np.diag(given)
    return [float(x) for x in np.broadcast_to(given, (count,))]


def _together(element: ElementData, one: Law, other: Law) -> Law:
    """Two laws of one axis as one."""
    if one.stiffness and other.stiffness:
        raise _refusal(element, "its joint has another spring already, and MuJoCo's have one")
    spring = one if one.stiffness else other
    return Law(spring.stiffness, one.damping + other.damping, spring.rest)
