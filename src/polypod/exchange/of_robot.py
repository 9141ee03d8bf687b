"""The linkage of a robot, of any leg kind: its bodies and joints at home, from where the legs place them."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Body, Robot
from ..errors import AS_RIGID, InputError
from ..legs import Chain
from ..legs.chain import ChainJoint
from ..legs.contract import Placement, field_at
from ..symbols.vectors import Frame
from .linkage import BASE, EMPTY_BODY, Linkage, Mark, body, changed, checked_joint, moved, pose_of

PLATFORM = "platform"
_LIMITS = ("max_force", "max_speed", "rms_force", "max_acceleration", "max_power", "force_speed", "max_stroke")


def linkage_of(robot: Robot) -> Linkage:
    """Bodies and joints of a rigid robot at home; those of a leg have its name in front (``leg1-rod``).

    >>> from polypod.files import load
    >>> linkage = linkage_of(load("hexapod"))
    >>> len(linkage.bodies), len(linkage.joints), linkage.joints[1].name
    (14, 18, 'leg1-prismatic')
    """
    if robot.flexible:
        raise InputError(f"robot: {robot.name!r} bends, which other programs' files cannot say; {AS_RIGID}")
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
    )


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
            friction = {"friction": field_at(self.leg, joint.friction)} if joint.friction else {}
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
