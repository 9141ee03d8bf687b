"""Any robot's linkage as a Pinocchio tree, joints along the axes that Pinocchio is fastest about; loops cut.

Inertias, joints and cuts are those of :mod:`polypod.export.tree`, which holds data only; mechanics is Pinocchio's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from polypod.exchange import linkage_of
from polypod.exchange.linkage import BASE, axes_about
from polypod.export.tree import tree_of

Array = NDArray[np.float64]
ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_MODELS = {
    "revolute": (pin.JointModelRX,),
    "prismatic": (pin.JointModelPX,),
    "universal": (pin.JointModelRX, pin.JointModelRY),
    "cylindrical": (pin.JointModelPX, pin.JointModelRX),
    "spherical": (pin.JointModelSpherical,),
}


class LinkageTree:
    """The open tree of a robot, at home where Pinocchio's coordinates are neutral."""

    def __init__(self, robot: Any) -> None:
        linkage = linkage_of(robot)
        self.tree = tree_of(linkage, whole_cuts=True)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(self.tree.gravity)
        self.joints = {BASE: 0}
        frames = {BASE: pin.SE3.Identity()}
        self.driven: dict[str, int] = {}
        for node in self.tree.nodes:
            joint, parent = node.joint, self.joints[node.parent]
            here = pin.SE3(_axes(joint), np.array(joint.at))
            place = frames[node.parent].actInv(here)
            for model in _MODELS[joint.kind]:
                parent = self.model.addJoint(parent, model(), place, f"{joint.name} {self.model.njoints}")
                place = pin.SE3.Identity()
                if joint.actuated and len(_MODELS[joint.kind]) == 1:
                    self.driven[joint.name] = parent
                    self.model.armature[self.model.joints[parent].idx_v] = joint.rotor * joint.ratio**2
            body, turn = self.tree.bodies[node.body], here.rotation
            inertia = pin.Inertia.Zero()
            inertia.mass, inertia.lever = body.mass, turn.T @ (np.array(body.com) - here.translation)
            inertia.inertia = turn.T @ body.central_inertia @ turn
            self.model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
            self.joints[node.body], frames[node.body] = parent, here
        self.data = self.model.createData()
        self.q = pin.neutral(self.model)

    def holding_forces(self) -> Array:
        """Actuator forces (n) that hold the robot at home: gravity's on the tree, projected through the loops."""
        nothing = np.zeros(self.model.nv)
        weight = pin.rnea(self.model, self.data, self.q, nothing, nothing)
        pin.computeJointJacobians(self.model, self.data, self.q)
        rows = np.concatenate([np.zeros((0, self.model.nv)), *(self._loop(joint) for joint in self.tree.cuts)])
        free = _null_space(rows)
        drives = np.zeros((len(self.tree.driven), self.model.nv))
        for k, joint in enumerate(self.tree.driven):
            drives[k, self.model.joints[self.driven[joint.name]].idx_v] = joint.ratio
        return np.linalg.lstsq(free.T @ drives.T, free.T @ weight, rcond=1e-9)[0]

    def _loop(self, joint: Any) -> Array:
        """Rows of a cut joint: what of the relative motion at its place it does not allow."""
        first, second = (self._jacobian(self.joints[name], np.array(joint.at)) for name in joint.between)
        apart = first - second
        axes = _axes(joint)
        linear, angular = axes.T @ apart[:3], axes.T @ apart[3:]
        return {
            "spherical": linear,
            "universal": np.vstack([linear, angular[2:]]),
            "revolute": np.vstack([linear, angular[1:]]),
            "cylindrical": np.vstack([linear[1:], angular[1:]]),
            "prismatic": np.vstack([linear[1:], angular]),
        }[joint.kind]

    def _jacobian(self, joint: int, at: Array) -> Array:
        """Jacobian (6, nv) of a point of a joint's body, base axes."""
        if joint == 0:
            return np.zeros((6, self.model.nv))
        own = pin.getJointJacobian(self.model, self.data, joint, ALIGNED)
        arm = at - self.data.oMi[joint].translation
        return np.vstack([own[:3] - pin.skew(arm) @ own[3:], own[3:]])


def _axes(joint: Any) -> Array:
    """Axes (3, 3): the joint's first, for a universal joint also its second."""
    if joint.axes is not None:
        one, two = (np.array(axis) for axis in joint.axes)
        return np.column_stack([one, two, np.cross(one, two)])
    return np.eye(3) if joint.axis is None else axes_about(joint.axis)


def _null_space(rows: Array) -> Array:
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return right[int((values > 1e-9 * values[0]).sum()) :].T
