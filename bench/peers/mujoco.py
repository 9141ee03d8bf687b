"""Robots with UPS or PUS legs in MuJoCo: a tree of bodies, loops closed by soft `connect` equalities.

MuJoCo refuses inertias that no body can have; they are written over a placeholder after it has compiled the model.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from bench.peers.pinocchio.tree import inertia, triad

Array = NDArray[np.float64]
_STIFF = 'solref="0.002 1" solimp="0.9999 0.9999 0.001"'
_PLACEHOLDER = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


class MujocoRobot:
    """A robot in MuJoCo with a free platform; state set from the coordinates of the same tree in Pinocchio."""

    def __init__(self, robot: Any, timestep: float = 1e-3) -> None:
        self._bodies: list[tuple[str, Any, Array]] = [("platform", inertia(robot.platform), np.eye(3))]
        self._rotors: list[tuple[str, float]] = []
        branches, loops = [], []
        for leg in robot.legs:
            make = {"UPS": self._ups, "PUS": self._pus}.get(leg.kind)
            if make is None:
                raise ValueError(f"{robot.name}: legs of kind {leg.kind} are not built for MuJoCo")
            branches.append(make(leg))
            loops.append(f'<connect site1="{leg.name}-tip" site2="{leg.name}-platform" {_STIFF}/>')
        sites = "".join(f'<site name="{leg.name}-platform" pos="{_text(leg.platform)}"/>' for leg in robot.legs)
        text = f"""<mujoco>
          <option timestep="{timestep}" gravity="{_text(robot.gravity)}" integrator="RK4"/>
          <compiler angle="radian" balanceinertia="true"/>
          <worldbody>
          <body simple="false" name="platform"><freejoint/>{_PLACEHOLDER}{sites}</body>{"".join(branches)}
          </worldbody>
          <equality>{"".join(loops)}</equality></mujoco>"""
        self.model = mujoco.MjModel.from_xml_string(text)
        self._overwrite()
        self.data = mujoco.MjData(self.model)
        self.drives = [int(self.model.joint(f"{leg.name}-drive").dofadr[0]) for leg in robot.legs]

    def _ups(self, leg: Any) -> str:
        self._bodies += [
            (f"{leg.name}-lower", inertia(leg.lower), np.eye(3)),
            (f"{leg.name}-upper", inertia(leg.upper), np.eye(3)),
        ]
        if leg.cross_inertia:
            raise ValueError(f"{leg.name}: a cross with inertia is not built for MuJoCo")
        self._rotors.append((f"{leg.name}-drive", leg.rotor_mass))
        place = f'pos="{_text(leg.base)}" quat="{_quaternion(triad(leg.axis, 0))}"'
        return f"""<body simple="false" {place} name="{leg.name}-lower">
          <joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>{_PLACEHOLDER}
          <body simple="false" name="{leg.name}-upper">
          <joint name="{leg.name}-drive" type="slide" axis="1 0 0"/>{_PLACEHOLDER}
          <site name="{leg.name}-tip"/></body></body>"""

    def _pus(self, leg: Any) -> str:
        self._bodies += [
            (f"{leg.name}-slider", inertia(leg.slider), np.eye(3)),
            (f"{leg.name}-link", inertia(leg.link), np.eye(3)),
        ]
        return f"""<body simple="false" pos="{_text(leg.rail_start)}" name="{leg.name}-slider">
          <joint name="{leg.name}-drive" type="slide" axis="{_text(leg.rail_direction)}"/>{_PLACEHOLDER}
          <body simple="false" name="{leg.name}-link" quat="{_quaternion(triad(leg.axis, 0))}">
          <joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>{_PLACEHOLDER}
          <site name="{leg.name}-tip" pos="0 0 {leg.length!r}"/></body></body>"""

    def _overwrite(self) -> None:
        for name, body, axes in self._bodies:
            number = self.model.body(name).id
            moments, principal = np.linalg.eigh(body.inertia)
            if np.linalg.det(principal) < 0:
                principal[:, 0] *= -1
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, (axes @ principal).ravel())
            self.model.body_mass[number] = body.mass
            self.model.body_ipos[number] = body.lever
            self.model.body_inertia[number] = moments
            self.model.body_iquat[number] = quaternion
        for name, mass in self._rotors:
            self.model.dof_armature[int(self.model.joint(name).dofadr[0])] = mass
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))

    def set_state(self, pose: Array, twist: Array, acceleration: Array, q: Array, v: Array, a: Array) -> None:
        """State from the platform's motion (base axes) and the legs' joints, as in Pinocchio's tree."""
        d = self.data
        d.qpos[:3] = pose[:3, 3]
        mujoco.mju_mat2Quat(d.qpos[3:7], np.ascontiguousarray(pose[:3, :3]).ravel())
        d.qpos[7:] = q
        # A free joint's rate is linear in base axes and angular in its own.
        inside = pose[:3, :3].T
        d.qvel[:], d.qacc[:] = (
            np.r_[twist[:3], inside @ twist[3:], v],
            np.r_[acceleration[:3], inside @ acceleration[3:], a],
        )


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def _quaternion(axes: Array) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(axes).ravel())
    return _text(quaternion)
