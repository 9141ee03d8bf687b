"""Small robots of general legs, stated where they are at home."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import polypod as pp


def _leg(angle: float, places: dict[str, Any], kinds: dict[str, str], driven: str, axes: dict[str, Any]) -> Any:
    """A chain of two bodies, ``first`` and ``second``, turned about z; joints in order from base to platform."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    at = {name: (turn @ np.array(point)).tolist() for name, point in places.items()}
    chain = ["base", "first", "second", "platform"]
    names = list(places)
    middles = [np.mean([at[a], at[b]], axis=0) for a, b in pairwise(names)]
    bodies = {
        name: {"mass": 0.4, "com": middle.tolist(), "inertia": [1e-3, 1e-3, 1e-3]}
        for name, middle in zip(chain[1:3], middles, strict=True)
    }
    joints = []
    for k, name in enumerate(names):
        joint = {"name": name, "kind": kinds[name], "between": chain[k : k + 2], "at": at[name]}
        if name in axes:
            joint["axis"] = (turn @ np.array(axes[name]) / np.linalg.norm(axes[name])).tolist()
        joints.append(joint | {"actuated": name == driven})
    return {"kind": "chain", "bodies": bodies, "joints": joints}


def _dof(name: str, motion: str, axis: int) -> dict[str, Any]:
    return {"name": name, "motion": motion, "axis": np.eye(3)[axis].tolist()}


def planar() -> pp.Robot:
    """Three legs of an arm and a rod in a plane, closed by Newton's iteration inside every function."""
    places = {"motor": (0.5, 0.0, 0), "elbow": (0.4, 0.25, 0), "wrist": (0.15, 0.05, 0)}
    axes = dict.fromkeys(places, (0, 0, 1))
    legs = [_leg(a, places, dict.fromkeys(places, "revolute"), "motor", axes) for a in 2 * np.pi / 3 * np.arange(3)]
    dof = [_dof("x", "translation", 0), _dof("y", "translation", 1), _dof("theta", "rotation", 2)]
    return pp.Robot.model_validate(
        {"name": "planar", "platform": {"mass": 1.0, "inertia": [0.01, 0.01, 0.02]}, "gravity": (0.0, -9.81, 0.0),
         "dof": dof, "legs": [leg | {"closing": "newton"} for leg in legs]}
    )  # fmt: skip


def tripod() -> pp.Robot:
    """Three hinged legs of variable length: height and two tilts; the rest of the pose follows from the legs."""
    places = {"hinge": (0.4, 0.0, 0.0), "slide": (0.3, 0.0, 0.3), "ball": (0.2, 0.0, 0.6)}
    kinds = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}
    axes = {"hinge": (0, 1, 0), "slide": (-0.2, 0, 0.6)}
    legs = [_leg(a, places, kinds, "slide", axes) for a in 2 * np.pi / 3 * np.arange(3)]
    dof = [_dof("z", "translation", 2), _dof("roll", "rotation", 0), _dof("pitch", "rotation", 1)]
    return pp.Robot.model_validate(
        {"name": "tripod", "platform": {"mass": 2.0, "inertia": [0.02, 0.02, 0.04]}, "dof": dof,
         "home": {"position": [0.0, 0.0, 0.6]}, "legs": legs}
    )  # fmt: skip
