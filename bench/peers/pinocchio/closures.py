"""Loop closures between two bodies of the tree: points that meet, directions that stay perpendicular.

A spherical joint is one meeting point; a universal joint adds one pair of perpendicular directions, a hinge two.
Each closure gives its residual c(q), its Jacobian dc/dt = C v and its drift, the part of d2c/dt2 that remains for
a joint acceleration of zero. All components are in base axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from bench.peers.pinocchio.tree import Array, Tree, triad

ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def _frame(tree: Tree, joint: int, point: Any) -> int:
    model = tree.model
    name = f"{model.names[joint]} mark {model.nframes}"
    where = pin.SE3(np.eye(3), np.array(point, dtype=float))
    return int(model.addFrame(pin.Frame(name, joint, 0, where, pin.FrameType.OP_FRAME)))


class CoincidentPoints:
    """A point of one joint's body coincides with a point of another's: c = r_1 - r_2 (3 equations)."""

    def __init__(self, tree: Tree, joint1: int, point1: Any, joint2: int, point2: Any) -> None:
        self.joints, self.points = (joint1, joint2), (point1, point2)
        self.frames = _frame(tree, joint1, point1), _frame(tree, joint2, point2)

    def residual(self, model: pin.Model, data: pin.Data) -> Array:
        first, second = (data.oMf[frame].translation for frame in self.frames)
        return np.array(first - second)

    def jacobian(self, model: pin.Model, data: pin.Data) -> Array:
        first, second = (pin.getFrameJacobian(model, data, frame, ALIGNED)[:3] for frame in self.frames)
        return np.array(first - second)

    def drift(self, model: pin.Model, data: pin.Data) -> Array:
        first, second = (pin.getFrameClassicalAcceleration(model, data, f, ALIGNED).linear for f in self.frames)
        return np.array(first - second)

    def contact(self, model: pin.Model) -> pin.RigidConstraintModel:
        """The same as a loop constraint of Pinocchio."""
        wheres = [pin.SE3(np.eye(3), np.array(point, dtype=float)) for point in self.points]
        return pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, self.joints[0], wheres[0], self.joints[1], wheres[1], ALIGNED
        )


@dataclass
class PerpendicularAxes:
    """A direction of one joint's body stays perpendicular to a direction of another's: c = e_1 . e_2 (1 equation)."""

    joints: tuple[int, int]
    directions: tuple[Array, Array]

    def _now(self, data: pin.Data) -> list[Array]:
        return [data.oMi[j].rotation @ e for j, e in zip(self.joints, self.directions, strict=True)]

    def residual(self, model: pin.Model, data: pin.Data) -> Array:
        first, second = self._now(data)
        return np.array([first @ second])

    def jacobian(self, model: pin.Model, data: pin.Data) -> Array:
        # d/dt (e_1 . e_2) = (omega_1 - omega_2) . (e_1 x e_2)
        turn1, turn2 = (pin.getJointJacobian(model, data, j, ALIGNED)[3:] for j in self.joints)
        first, second = self._now(data)
        return np.array(np.cross(first, second) @ (turn1 - turn2))[None, :]

    def drift(self, model: pin.Model, data: pin.Data) -> Array:
        e1, e2 = self._now(data)
        w1, w2 = (pin.getVelocity(model, data, j, ALIGNED).angular for j in self.joints)
        a1, a2 = (pin.getAcceleration(model, data, j, ALIGNED).angular for j in self.joints)
        rate1, rate2 = np.cross(w1, e1), np.cross(w2, e2)
        return np.array([(a1 - a2) @ np.cross(e1, e2) + (w1 - w2) @ (np.cross(rate1, e2) + np.cross(e1, rate2))])


Closure = CoincidentPoints | PerpendicularAxes


def spherical(tree: Tree, joint1: int, point1: Any, joint2: int, point2: Any) -> list[Closure]:
    """A ball joint between two bodies."""
    return [CoincidentPoints(tree, joint1, point1, joint2, point2)]


def universal(tree: Tree, one: tuple[int, Any, Any], other: tuple[int, Any, Any]) -> list[Closure]:
    """A cross with one axis on either body; a side is (joint, point, axis)."""
    (joint1, point1, axis1), (joint2, point2, axis2) = one, other
    perpendicular = PerpendicularAxes((joint1, joint2), (np.array(axis1, dtype=float), np.array(axis2, dtype=float)))
    return [CoincidentPoints(tree, joint1, point1, joint2, point2), perpendicular]


def hinge(tree: Tree, one: tuple[int, Any, Any], other: tuple[int, Any, Any]) -> list[Closure]:
    """A revolute joint: its axis on the first body is perpendicular to two directions of the second."""
    (joint1, point1, axis1), (joint2, point2, axis2) = one, other
    _, left, right = triad(axis2, 0).T
    perpendicular = [
        PerpendicularAxes((joint1, joint2), (np.array(axis1, dtype=float), side)) for side in (left, right)
    ]
    return [CoincidentPoints(tree, joint1, point1, joint2, point2), *perpendicular]
