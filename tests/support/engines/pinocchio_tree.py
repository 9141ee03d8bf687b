"""A URDF and its side file in Gepetto's style in Pinocchio: frames of ``closed_loop`` meet or are fixed together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml

ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class PinocchioTree:
    """An open tree with loops for :mod:`closed_loop`; nothing of polypod's reader."""

    def __init__(self, urdf: Path, side: Path, frame: str) -> None:
        self.model = pin.buildModelFromUrdf(str(urdf))
        data = yaml.safe_load(side.read_text())
        self.pairs = [[self.model.getFrameId(name) for name in pair] for pair in data["closed_loop"]]
        self.rows = [3 if kind == "3d" else 6 for kind in data["type"]]
        joints = [self.model.joints[self.model.getJointId(name)] for name in data["name_mot"]]
        self.driven = [int(joint.idx_v) for joint in joints]
        self.held: list[int] = []
        own = data.get("polypod", {})
        self.ratios = np.array([own.get("motors", {}).get(name, {}).get("ratio", 1.0) for name in data["name_mot"]])
        if "gravity" in own:
            self.model.gravity.linear = np.array(own["gravity"])
        for name, joint in zip(data["name_mot"], joints, strict=True):
            motor = own.get("motors", {}).get(name, {})
            self.model.armature[joint.idx_v] = motor.get("rotor", 0.0) * motor.get("ratio", 1.0) ** 2
        self.data = self.model.createData()
        self.frame = self.model.getFrameId(frame)

    def moved(self, q, v):
        return pin.integrate(self.model, q, v)

    def _at(self, q):
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)

    def gap(self, q):
        self._at(q)
        gaps = [np.zeros(0)]
        for (a, b), rows in zip(self.pairs, self.rows, strict=True):
            one, two = self.data.oMf[a], self.data.oMf[b]
            turn = -one.rotation @ pin.log3(one.rotation.T @ two.rotation)
            gaps.append(np.r_[one.translation - two.translation, turn][:rows])
        return np.concatenate(gaps)

    def loops(self, q):
        self._at(q)
        get = lambda frame: pin.getFrameJacobian(self.model, self.data, frame, ALIGNED)  # noqa: E731
        return np.concatenate([(get(a) - get(b))[:n] for (a, b), n in zip(self.pairs, self.rows, strict=True)])

    def platform(self, q):
        self._at(q)
        return self.data.oMf[self.frame].homogeneous, pin.getFrameJacobian(self.model, self.data, self.frame, ALIGNED)

    def dynamics(self, q, v):
        """M and bias, each from rnea: columns of M by unit accelerations without gravity."""
        bias = pin.rnea(self.model, self.data, q, v, np.zeros(self.model.nv))
        still = pin.rnea(self.model, self.data, q, np.zeros(self.model.nv), np.zeros(self.model.nv))
        columns = [pin.rnea(self.model, self.data, q, 0 * v, unit) - still for unit in np.eye(self.model.nv)]
        return np.array(columns).T, bias
