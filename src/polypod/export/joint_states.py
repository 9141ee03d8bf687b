"""Positions of the joints of exported trees at poses of the platform.

Joints of one degree of freedom have those of ``Model.joint_positions``, whichever body a tree states them from: to turn
b against a about e is to turn a against b about -e. Spherical joints turn by what their bodies have turned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..exchange.linkage import BASE
from ..legs.chain import ChainJoint
from ..model import Model
from ..model.arguments import PoseLike
from .tree import Tree

AXES = ("x", "y", "z")
"""Hinges in turn that a spherical joint is in formats without one."""


class JointPlace(NamedTuple):
    """What a number (for ball joints: a quaternion) of a tree's positions is.

    ``motion`` is that of the joint, one of ``AXES``, or empty for the quaternion; ``body`` is the tree's body behind
    the joint, ``home`` the number at home.
    """

    joint: ChainJoint
    motion: str
    body: str
    home: float = 0.0


def positions_of(
    tree: Tree, model: Model, places: Sequence[JointPlace], pose: PoseLike, unwrap: int | None = None
) -> Array:
    """Positions (..., k) of a tree's joints at poses of the platform."""
    home_pose = model.robot.home.matrix
    here, home = (model.joint_positions(p, unwrap=u) for p, u in ((pose, unwrap), (home_pose, None)))
    frames, start = (model.bodies(p) for p in (pose, home_pose))
    turns: dict[str, Array] = {
        name_in_tree(model, name, "/"): frame[..., :3, :3] @ np.swapaxes(start[name], -1, -2)[:3, :3]
        for name, frame in frames.items()
    }
    turns[BASE] = np.eye(3)
    own = {name_in_tree(model, name): (model.joints[name], here[name] - home[name]) for name in here}
    parts: list[Array] = []
    for place in places:
        if place.joint.kind == "spherical":
            first, second = (turns[_whole(body)] for body in place.joint.between)
            parts.append(_turned(np.swapaxes(first, -1, -2) @ second, place, tree))
            continue
        whole, number = source_of(place, {known: axes for known, (axes, _) in own.items()}, tree)
        values = own[whole][1]
        parts.append(values[..., number : number + 1] + place.home)
    return np.concatenate(parts, axis=-1)


def name_in_tree(model: Model, name: str, group: str = ".") -> str:
    """A joint or body of the model as trees call it: LEG-JOINT; of a machine's groups with ``group`` between."""
    if name == "platform":
        return name
    legs = [one.name for one in model.robot.legs if name.startswith(f"{one.name}.")]
    if legs:
        leg = max(legs, key=len)  # a leg's name may have dots
        return f"{leg}-{name[len(leg) + 1 :]}"
    return f"{model.robot.legs[0].name}-{name.replace('.', group)}"


def source_of(place: JointPlace, axes_of: Mapping[str, Sequence[str]], tree: Tree) -> tuple[str, int]:
    """The joint of the model, and which of its positions, that a number of a tree's positions is."""
    name = place.joint.name
    if name in axes_of:
        axes, motion = axes_of[name], place.motion
        if len(axes) == 2 and name in tree.reversed and motion in _OTHER:
            motion = _OTHER[motion]
        return name, axes.index(motion) if motion in axes else 0
    whole, _, which = name.rpartition(" ")  # a universal joint whose cross is a body is two hinges
    return whole, int(which) - 1


_OTHER = {"first": "second", "second": "first"}


def _whole(body: str) -> str:
    """The body that a half is one of."""
    return re.sub(r"-half\d+$", "", body)


def _turned(turn: Array, place: JointPlace, tree: Tree) -> Array:
    """A rotation (..., 3, 3) from home in base axes as the number (..., 1) or quaternion (..., 4) of a place."""
    if place.motion:  # turn = R_x(a) R_y(b) R_z(c)
        angle = {
            "x": lambda: np.arctan2(-turn[..., 1, 2], turn[..., 2, 2]),
            "y": lambda: np.arctan2(turn[..., 0, 2], np.hypot(turn[..., 1, 2], turn[..., 2, 2])),
            "z": lambda: np.arctan2(-turn[..., 0, 1], turn[..., 0, 0]),
        }[place.motion]()
        return np.asarray(angle)[..., None]
    axes = tree.frames[place.body][:3, :3]
    rotation = scipy.spatial.transform.Rotation.from_matrix((axes.T @ turn @ axes).reshape(-1, 3, 3))
    x, y, z, w = rotation.as_quat(canonical=True).T
    return np.stack([w, x, y, z], axis=-1).reshape(*turn.shape[:-2], 4)
