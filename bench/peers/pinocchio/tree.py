"""A Pinocchio tree built joint by joint, with inertias taken from the data of a robot.

Only the fields of a body are read; the transfer of its tensor to the centre of mass is written here again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]

JOINTS = {
    "revolute x": pin.JointModelRX,
    "revolute y": pin.JointModelRY,
    "revolute z": pin.JointModelRZ,
    "prismatic x": pin.JointModelPX,
    "free": pin.JointModelFreeFlyer,
}


def inertia(body: Any) -> pin.Inertia:
    """Spatial inertia of a body in its own frame; bodies no one can build (indefinite tensors) are let through.

    Pinocchio stores mass, centre of mass and the tensor about it. A point x of the body adds
    (x.x 1 - x x^T) dm to the tensor about the named point p; about the centre of mass c it is less by the
    same expression of c - p with the whole mass.
    """
    com = np.array(body.com, dtype=float)
    tensor = np.array(body.inertia, dtype=float)
    if body.frame != "body":
        axes = np.array(body.frames[body.frame], dtype=float)
        tensor = np.einsum("ik,kl,jl->ij", axes, tensor, axes)
    if body.about != "com":
        point = np.zeros(3) if body.about == "origin" else np.array(body.points[body.about], dtype=float)
        # skew(x)^2 = x x^T - x.x 1, so this subtracts the whole mass seen from the named point.
        tensor = tensor + body.mass * np.linalg.matrix_power(pin.skew(com - point), 2)
    return _make(body.mass, com, tensor)


def axial_inertia(moment: float) -> pin.Inertia:
    """A massless body with a moment of inertia about its x axis only."""
    return _make(0.0, np.zeros(3), np.diag([moment, 0.0, 0.0]))


def _make(mass: float, com: Array, tensor: Array) -> pin.Inertia:
    # The constructor refuses tensors that are not positive; the fields do not.
    result = pin.Inertia.Zero()
    result.mass, result.lever, result.inertia = mass, com, tensor
    return result


def placement(axes: Array | None = None, origin: Any = (0.0, 0.0, 0.0)) -> pin.SE3:
    """A frame from its axes (columns) and origin."""
    return pin.SE3(np.eye(3) if axes is None else axes, np.array(origin, dtype=float))


def triad(first: Any, place: int) -> Array:
    """A right-handed triad whose column ``place`` is the given direction; the others are any that fit."""
    a = np.array(first, dtype=float)
    b = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    b /= np.linalg.norm(b)
    return np.roll(np.column_stack([a, b, np.cross(a, b)]), place, axis=1)


class Tree:
    """A Pinocchio model under construction; joint 1 is the platform, free to move."""

    def __init__(self, robot: Any) -> None:
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array(robot.gravity, dtype=float), np.zeros(3))
        self.platform = self.add(0, "free", placement(), "platform", inertia(robot.platform))

    def add(
        self,
        parent: int,
        kind: str,
        where: pin.SE3,
        name: str,
        body: pin.Inertia | None = None,
        armature: float = 0.0,
    ) -> int:
        """A joint at ``where`` in the frame of ``parent``, the body it carries, and its reflected rotor."""
        index = self.model.addJoint(parent, JOINTS[kind](), where, name)
        if body is not None:
            self.model.inertias[index] = body
        first = self.model.joints[index].idx_v
        rotors = self.model.armature.copy()
        rotors[first : first + self.model.joints[index].nv] = armature
        self.model.armature = rotors
        return int(index)
