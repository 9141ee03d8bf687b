"""The base of leg kinds: data of the leg, and one method that says where everything is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

import casadi as ca
import numpy as np
from pydantic import PrivateAttr, model_validator

from ..arrays import Array
from ..description import Friction, LegData
from ..description.units import unit_mismatch
from ..lazy import lazy
from ..symbols.vectors import Frame
from .contract import SMALLEST_MARGIN, Joint, LegFrame, Placement, Strut


class Parts(NamedTuple):
    """Names of what a leg is made of, which its placement states: the same whatever the numbers are.

    ``joints`` are kinds by name, ``limited`` the joints with a range, ``frictions`` fields of friction with the kind of
    a joint that has it.
    """

    actuators: tuple[str, ...]
    joints: dict[str, str]
    bodies: tuple[str, ...]
    limited: frozenset[str]
    frictions: tuple[tuple[str, str], ...]


class Leg(LegData):
    """A leg kind: subclass with ``kind="NAME"``, add the data as fields, and say in ``place`` where it is.

    Numeric fields read in ``place`` are symbols when functions are derived (every number is an input), so use only
    arithmetic, ``casadi`` functions and ``polypod.symbols.vectors`` on them, and ask ``absent(x)`` whether a number
    is zero by the robot's topology. Vectors are columns, a ``polypod.description.Body`` is an
    ``polypod.symbols.inertia.Inertia``. Texts and integers are data always: decide by them.
    """

    _in_leg_frame: bool = PrivateAttr(default=False)

    def as_in_leg_frame(self, fields: dict[str, ca.SX]) -> Self:
        """The leg as it is in its own frame, with the fields of its ``leg_frame``.

        Its placement may then rely on what is known there, and need hold only where the leg is in that frame.

        Parameters
        ----------
        fields : dict of str to casadi.SX
            Fields of the leg, in its own frame.

        Returns
        -------
        Leg
            The same kind of leg with these fields.
        """
        twin = self.model_copy(update=fields)
        twin._in_leg_frame = True
        return twin

    @lazy
    def parts(self) -> Parts:
        """What the leg is made of, by name."""
        placement = self.place(Frame.symbols("tip"))
        motions = chain.from_iterable(joint.motions for joint in placement.joints)
        return Parts(
            tuple(actuator.name for actuator in placement.actuators),
            {joint.name: joint.kind for joint in placement.joints},
            tuple(body.name for body in placement.bodies),
            frozenset(limit.joint for limit in placement.limits),
            tuple((joint.friction, joint.kind) for joint in motions if joint.friction),
        )

    def __copy__(self) -> Self:
        """A copy whose parts are its own: it may get other fields."""
        copied = super().__copy__()
        copied.__dict__.pop("parts", None)
        return copied

    def actuator_names(self) -> tuple[str, ...]:
        """Names of the leg's actuators, in the order of its placement."""
        return self.parts.actuators

    def joint_kinds(self) -> dict[str, str]:
        """Kinds of the leg's joints by their names."""
        return dict(self.parts.joints)

    def body_names(self) -> tuple[str, ...]:
        """Names of the leg's bodies."""
        return self.parts.bodies

    def limits_joint(self, joint: str) -> bool:
        """Whether a displacement of a joint has a range."""
        return joint in self.parts.limited

    def reversed_joints(self) -> frozenset[str]:
        """Joints whose placement has their two bodies in the opposite order to the data.

        Returns
        -------
        frozenset of str
            Names of the joints.
        """
        return frozenset()

    def coordinate_rows(self, pose: Any) -> Array:
        """dq/d(twist) (a, 6) of the leg's actuators at home (4, 4): [q_p, r x q_p + sum e_k x q_ek]."""
        tip = Frame.symbols("tip")
        placement = self.place(tip)
        x = ca.vertcat(tip.origin, ca.vec(tip.axes))
        q = ca.vertcat(*[a.coordinate for a in placement.actuators], ca.SX(0, 1))
        derivatives = ca.jacobian(q, x)
        u = placement.unknowns
        if u is not None and u.move.numel():
            # q_x - q_z c_z^-1 c_x
            follow = ca.solve(ca.jacobian(u.equations, u.move), ca.jacobian(u.equations, x))
            derivatives = derivatives - ca.jacobian(q, u.move) @ follow
            derivatives = ca.substitute(
                derivatives, ca.vertcat(u.place, u.move), ca.vertcat(u.home, ca.SX.zeros(u.move.numel()))
            )
        derivatives = ca.substitute(derivatives, placement.internal, ca.SX.zeros(placement.internal.numel()))
        axes = np.array(pose, dtype=float)[:3, :3]
        arm = axes @ np.array(self.attachment(np.array(pose)[:3, 3], axes))
        function = ca.Function("derivatives", [x], [ca.densify(derivatives)])
        at = np.array(function(np.r_[np.array(pose)[:3, 3] + arm, axes.T.ravel()])).reshape(-1, 4, 3)
        turn = np.cross(arm, at[:, 0]) + np.cross(axes.T, at[:, 1:]).sum(axis=1)
        return np.concatenate([at[:, 0], turn], axis=1)

    def closure_faults(self, position: Sequence[float], rotation: Any) -> list[str]:
        """Why the leg does not close when the platform is at a pose; empty if it does."""
        axes = np.array(rotation, dtype=float)
        origin = np.array(position, dtype=float) + axes @ np.array(self.platform)
        placement = self.place(Frame(ca.SX(ca.DM(origin)), ca.SX(ca.DM(axes))))
        for condition in placement.conditions:
            margin, excess = (float(ca.DM(ca.simplify(value))) for value in (condition.margin, condition.excess))
            if not margin > SMALLEST_MARGIN:
                # What is lost after the first is only its consequence.
                return [f"{condition.name} ({excess:.6g} {condition.unit})"]
        return []

    def consistency_faults(self, poses: Sequence[Any]) -> list[str]:
        """What of the leg's bodies and joints does not hang together at poses (4, 4) around home."""
        tip = Frame.symbols("tip")
        tips = [(pose[:3, 3] + pose[:3, :3] @ np.array(self.platform), pose[:3, :3]) for pose in poses]
        return Consistency(self.place(tip), tip).faults(tips)

    def in_general_position(self) -> Any:
        """The same leg with functions for any parameter values: no axes are assumed parallel or perpendicular.

        Returns
        -------
        Leg
            The leg.
        """
        return self

    def friction_joints(self) -> dict[str, set[str]]:
        """Kinds of the joints that have each friction field of the leg.

        Returns
        -------
        dict of str to set of str
            Kinds of joints by field.
        """
        found: dict[str, set[str]] = {}
        for field, kind in self.parts.frictions:
            found.setdefault(field, set()).add(kind)
        return found

    @model_validator(mode="wrap")
    @classmethod
    def _units_of_friction(cls, value: Any, handler: Any) -> Any:
        """Texts of friction must have the units of the joints that have it."""
        leg = handler(value)
        raw = value if isinstance(value, dict) else {}
        stated = {name: one for name, one in raw.items() if isinstance(getattr(leg, name, None), Friction)}
        texts = {name: one for name, one in stated.items() if isinstance(one, dict) and _has_text(one)}
        for name, kinds in leg.friction_joints().items() if texts else ():
            given = {f"{name}.{part}": text for part, text in texts.get(name, {}).items()}
            fault = next((f for kind in sorted(kinds) if (f := unit_mismatch(given, kind == "prismatic"))), "")
            if fault:
                raise ValueError(fault)
        return leg

    def strut(self, q: Array) -> Strut | None:
        """What the leg is to its platform at given actuated coordinates, if it acts as a strut.

        Parameters
        ----------
        q : ndarray, shape (...)
            Actuated coordinate [m or rad].

        Returns
        -------
        Strut or None
            The strut; None if the leg is not one, or it is not known.
        """
        return None

    def leg_frame(self, tip: Frame) -> LegFrame | None:
        """The leg in a frame that moves with it.

        Parameters
        ----------
        tip : Frame
            Platform frame at the attachment point, in {B}.

        Returns
        -------
        LegFrame or None
            The leg in that frame; None where that makes nothing shorter.
        """
        return None

    def frame_is_of_placement(self) -> bool:
        """Whether ``leg_frame`` belongs to this kind's own ``place``, not to that of a kind it derives from.

        Returns
        -------
        bool
            Whether it describes this leg.
        """
        owners = [next(k for k, kind in enumerate(type(self).__mro__) if name in vars(kind)) for name in _STATED]
        return owners[0] >= owners[1]

    @abstractmethod
    def place(self, tip: Frame) -> Placement:
        """Bodies, joints, actuators and limits of the leg for a position of the platform.

        Parameters
        ----------
        tip : Frame
            Platform frame at the attachment point, in {B}.

        Returns
        -------
        Placement
            Where everything is.
        """


_STATED = ("place", "leg_frame")


def _has_text(data: dict[str, Any]) -> bool:
    return any(isinstance(value, str) for value in data.values())


# ----------------------------------------------------------------------------------------------------------------------
# Is a leg's placement consistent: do its bodies stay rigid and its joints stay in them when the platform moves?
#
# A hinge that cannot turn so, degrees of freedom the joints do not allow, or a coordinate that does not move as its
# joint
# does would give numbers all the same; here they are faults.

# Positions and directions of order one, a few roundings each.
_SAME = 1e-9
_AXES = {"prismatic": 1, "revolute": 1, "cylindrical": 1, "universal": 2, "spherical": 0}
"""How many axes a joint of each kind has."""
_DRIVEN = ("prismatic", "revolute")
# A joint that moves less than this [m or rad], over poses a twentieth of the platform's size from home, does not move.
_STILL = 1e-9


class Consistency:
    """A leg's bodies and joints as numbers at several poses of the platform."""

    def __init__(self, placement: Placement, tip: Frame) -> None:
        self.placement = placement
        x = ca.vertcat(tip.origin, ca.vec(tip.axes))
        frames = [ca.densify(ca.horzcat(b.frame.axes, b.frame.origin)) for b in placement.bodies]
        joints = [ca.densify(ca.horzcat(*(j.axes or (ca.SX.zeros(3),)), j.point)) for j in placement.joints]
        margins = ca.vertcat(*[c.margin for c in placement.conditions], 1)
        driven = ca.vertcat(*[ca.horzcat(a.coordinate, a.ratio) for a in placement.actuators], ca.SX(0, 2))
        self._function = ca.Function("consistency", [x], [margins, ca.densify(driven), *frames, *joints])

    def faults(self, tips: Sequence[tuple[Array, Array]]) -> list[str]:
        """What moves in a body that should not, over the tips (origin, axes) that the leg reaches."""
        kinds = [f"joint {j.name!r} has the unknown kind {j.kind!r}; known: {', '.join(_AXES)}"
                 for j in self.placement.joints if j.kind not in _AXES]  # fmt: skip
        counts = [
            f"joint {j.name!r} ({j.kind}) needs {_AXES[j.kind]} axes, got {len(j.axes)}"
            for j in self.placement.joints
            if j.kind in _AXES and len(j.axes) != _AXES[j.kind]
        ]
        bodies = ("base", "platform", *(b.name for b in self.placement.bodies))
        unknown = [
            f"joint {j.name!r} names a body that the leg does not have: got {name!r}, known: {', '.join(bodies)}"
            for j in self.placement.joints
            for name in (j.parent, j.child)
            if name not in bodies
        ]
        if kinds or counts or unknown:
            return kinds + counts + unknown
        named = self._actuator_faults()
        if named:
            return named
        drives = _Drives(self.placement)
        seen: dict[str, list[Array]] = {}
        faults: list[str] = []
        for origin, axes in tips:
            margins, driven, *parts = (np.array(v) for v in self._function(np.r_[origin, axes.T.ravel()]))
            if not (margins > SMALLEST_MARGIN).all():
                continue
            frames = {"base": np.eye(3, 4), "platform": np.column_stack([axes, origin])}
            frames |= dict(zip((b.name for b in self.placement.bodies), parts, strict=False))
            faults += [
                f"body {name!r} does not stay rigid: its axes are not perpendicular to each other"
                for name, frame in frames.items()
                if np.abs(frame[:, :3].T @ frame[:, :3] - np.eye(3)).max() > _SAME
            ]
            for joint, numbers in zip(self.placement.joints, parts[len(self.placement.bodies) :], strict=True):
                if joint.kind == "universal" and abs(numbers[:, 0] @ numbers[:, 1]) > _SAME:
                    faults.append(f"the axes of the universal joint {joint.name!r} are not perpendicular to each other")
                for what, value in _fixed(joint, numbers, frames):
                    seen.setdefault(what, []).append(value)
            drives.note(
                driven,
                frames,
                dict(zip((j.name for j in self.placement.joints), parts[-len(self.placement.joints) :], strict=True)),
            )
        faults += [
            f"{what} when the platform moves; such a joint does not allow the robot's degrees of "
            "freedom; check home and the joint's position and axes, or state the degrees of freedom it leaves (dof)"
            for what, values in seen.items()
            if np.abs(np.array(values) - values[0]).max() > _SAME * max(1.0, np.abs(values[0]).max())
        ]
        # a body that is not rigid or a joint that wanders is said first: its displacement means nothing
        return list(dict.fromkeys(faults or drives.faults()))

    def _actuator_faults(self) -> list[str]:
        """Actuators that cannot be, from their statement alone."""
        joints = {joint.name: joint for joint in self.placement.joints}
        actuators, faults = self.placement.actuators, []
        for number, actuator in enumerate(actuators):
            who = f"actuator {actuator.name!r}"
            joint = joints.get(actuator.joint)
            if joint is None:
                faults.append(
                    f"{who} names a joint that the leg does not have: got {actuator.joint!r}, known: "
                    f"{', '.join(joints)}"
                )
            elif joint.kind not in _DRIVEN:
                faults.append(
                    f"{who} drives the {joint.kind} joint {joint.name!r}; only a prismatic or revolute joint has "
                    "a single coordinate to drive"
                )
            for other in actuators[:number]:
                if other.name == actuator.name:
                    faults.append(f"two actuators have the name {actuator.name!r}; names must be unique")
                if other.joint == actuator.joint:
                    faults.append(
                        f"actuators {other.name!r} and {actuator.name!r} drive the same joint {other.joint!r}"
                    )
                if ca.is_equal(other.coordinate, actuator.coordinate, 10):
                    faults.append(f"actuators {other.name!r} and {actuator.name!r} have the same coordinate")
            if actuator.unit not in ("m", "rad"):
                faults.append(f"{who}: the unit of its coordinate must be 'm' or 'rad', got {actuator.unit!r}")
        return faults


class _Drives:
    """Coordinates of actuators beside the displacements of the joints they drive, over several poses."""

    def __init__(self, placement: Placement) -> None:
        self._actuators = placement.actuators
        self._joints = [next(j for j in placement.joints if j.name == a.joint) for a in placement.actuators]
        self._coordinates: list[Array] = []
        self._displacements: list[list[float]] = []
        self._home: list[tuple[Array, Array, Array]] = []
        self._ratios: Array = np.zeros(0)

    def note(self, driven: Array, frames: dict[str, Array], joints: dict[str, Array]) -> None:
        """One pose: coordinates and ratios (a, 2), the bodies' frames, and the joints' axes and points."""
        relative = [_relative(frames[j.parent], frames[j.child]) for j in self._joints]
        if not self._home:
            self._ratios = driven[:, 1]
            for j, (turn, _) in zip(self._joints, relative, strict=True):
                parent, child = frames[j.parent], frames[j.child]
                axis, point = joints[j.name][:, 0], joints[j.name][:, -1]
                self._home.append((turn, parent[:, :3].T @ axis, child[:, :3].T @ (point - child[:, 3])))
        self._coordinates.append(driven[:, 0])
        moved = []
        for j, (turn, origin), (start, axis, inside) in zip(self._joints, relative, self._home, strict=True):
            if j.kind == "prismatic":
                moved.append(float(axis @ (origin + turn @ inside)))
            else:
                spin = turn @ start.T
                sine = axis @ [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
                moved.append(float(np.arctan2(sine, np.trace(spin) - 1)))
        self._displacements.append(moved)

    def faults(self) -> list[str]:
        """Coordinates that do not move as their joint does times the stated ratio."""
        if len(self._coordinates) < 2 or not self._actuators:
            return []
        q, s = np.array(self._coordinates), np.array(self._displacements)
        moved, found = s[1:] - s[0], []
        for k, (actuator, joint, ratio) in enumerate(zip(self._actuators, self._joints, self._ratios, strict=True)):
            change, size = q[1:, k] - q[0, k], float(np.abs(moved[:, k]).max())
            if not size > _STILL:
                found.append(f"joint {joint.name!r} of actuator {actuator.name!r} does not move when the platform does")
                continue
            if joint.kind == "revolute":  # an angle by atan2 may jump by a turn
                turn = 2 * np.pi * ratio
                change = change - turn * np.round((change - ratio * moved[:, k]) / turn)
            if np.abs(change - ratio * moved[:, k]).max() <= _SAME * max(abs(ratio) * size, np.abs(q[:, k]).max()):
                continue
            slope = float(change @ moved[:, k] / (moved[:, k] @ moved[:, k]))
            coordinate = (
                f"the coordinate of actuator {actuator.name!r} moves {slope:.9g} per unit of joint {joint.name!r}"
            )
            if np.abs(change - slope * moved[:, k]).max() <= 1e-6 * abs(slope) * size:
                found.append(f"{coordinate}; set ratio={slope:.9g} (it is {ratio:.9g})")
            else:
                found.append(
                    f"{coordinate}, not the same everywhere; it must be a constant ratio of the joint's displacement"
                )
        return found


def _relative(parent: Array, child: Array) -> tuple[Array, Array]:
    """Rotation and origin of a child's frame seen from its parent's."""
    return parent[:, :3].T @ child[:, :3], parent[:, :3].T @ (child[:, 3] - parent[:, 3])


def _fixed(joint: Joint, numbers: Array, frames: dict[str, Array]) -> list[tuple[str, Array]]:
    """What a joint of its kind holds still: words for the fault if it moves, and its value at a pose."""
    axes, point = numbers[:, :-1].T, numbers[:, -1]
    result = []
    if joint.kind == "prismatic":
        turn, origin = _relative(frames[joint.parent], frames[joint.child])
        along = frames[joint.parent][:, :3].T @ axes[0]
        where = f"{joint.child!r} against {joint.parent!r} on the prismatic joint {joint.name!r}"
        result.append((f"the rotation of {where} changes", turn))
        result.append((f"the position of {where} changes across the slide", origin - (along @ origin) * along))
    for role, body in (("parent", joint.parent), ("child", joint.child)):
        rotation, origin = frames[body][:, :3], frames[body][:, 3]
        inside = [rotation.T @ axis for axis in axes]
        where = f"of the {joint.kind} joint {joint.name!r} in {body!r}"
        centre = rotation.T @ (point - origin)
        if joint.kind == "prismatic":
            result.append((f"the slide {where} moves", inside[0]))
        elif joint.kind == "cylindrical":
            result.append((f"the centre {where} moves across its axis", centre - (inside[0] @ centre) * inside[0]))
        else:
            result.append((f"the centre {where} moves", centre))
        if joint.kind in ("revolute", "cylindrical"):
            result.append((f"the axis {where} moves", inside[0]))
        if joint.kind == "universal":
            result.append((f"the axis {where} moves", inside[0 if role == "parent" else 1]))
    return result
