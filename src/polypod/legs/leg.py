"""The base of leg kinds: data of the leg, and one method that says where everything is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import Any

import casadi as ca
import numpy as np
from pydantic import model_validator

from ..arrays import Array
from ..description import Friction, LegData
from ..description.units import unit_mismatch
from ..symbols.vectors import Frame
from .consistency import Consistency
from .contract import SMALLEST_MARGIN, LegFrame, Placement
from .strut import Strut


class Leg(LegData):
    """A leg kind: subclass with ``kind="NAME"``, add the data as fields, and say in ``place`` where it is.

    Numeric fields read in ``place`` are symbols when functions are derived (every number is an input), so use only
    arithmetic, ``casadi`` functions and :mod:`polypod.symbols.vectors` on them, and ask ``absent(x)`` whether a number
    is zero by the robot's topology. Vectors are columns, a :class:`~polypod.description.Body` is an
    :class:`~polypod.symbols.inertia.Inertia`. Texts and integers are data always: decide by them.
    """

    def actuator_names(self) -> tuple[str, ...]:
        """Names of the leg's actuators, in the order of its placement."""
        return tuple(actuator.name for actuator in self.place(Frame.symbols("tip")).actuators)

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
        """The same leg with functions that hold whatever its numbers become: it takes nothing as straight or square."""
        return self

    def friction_joints(self) -> dict[str, set[str]]:
        """For each friction field of the leg the kinds of the joints that have it."""
        found: dict[str, set[str]] = {}
        for joint in chain.from_iterable(one.motions for one in self.place(Frame.symbols("tip")).joints):
            if joint.friction:
                found.setdefault(joint.friction, set()).add(joint.kind)
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
        """What the leg is to its platform at actuated coordinates q (...,); None if it is no strut, or not known."""
        return None

    def leg_frame(self, tip: Frame) -> LegFrame | None:
        """The leg in a frame that moves with the leg; None where that makes nothing shorter."""
        return None

    @abstractmethod
    def place(self, tip: Frame) -> Placement:
        """The leg for the platform's frame at the attachment point ``tip`` (base axes)."""


def _has_text(data: dict[str, Any]) -> bool:
    return any(isinstance(value, str) for value in data.values())
